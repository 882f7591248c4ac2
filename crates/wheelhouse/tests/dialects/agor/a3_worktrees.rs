//! A3: worktrees.

use std::path::Path;

use serde_json::json;
use wh_testkit::git::git;

use super::{Agor, assert_time, column, data, fields, refusal};

#[tokio::test]
async fn a3_5_worktrees_get_shows_path_branch_and_git_state() {
    let agor = Agor::new().await;
    let repo = agor.repo().await;
    let worktree = agor.worktree(&repo, "feature/auth").await;
    let get = async || {
        let get = json!({ "worktreeId": worktree });
        data(&agor.alice.call("agor_worktrees_get", get).await)
    };
    let seen = get().await;
    let expected = [
        "worktree_id",
        "name",
        "path",
        "branch",
        "repo_id",
        "git_state",
        "created_at",
    ];
    assert_eq!(fields(&seen), expected);
    assert_eq!(seen["worktree_id"], worktree);
    assert_eq!(seen["branch"], "feature/auth");
    assert_eq!(seen["repo_id"], repo);
    assert_time(&seen["created_at"]);
    let state = &seen["git_state"];
    assert_eq!(fields(state), ["current_sha", "base_sha", "has_changes"]);
    let path = Path::new(seen["path"].as_str().unwrap());
    let head = git(path, &["rev-parse", "HEAD"]).trim().to_owned();
    let expected = json!({ "current_sha": head, "base_sha": head, "has_changes": false });
    assert_eq!(state, &expected);
    std::fs::write(path.join("new"), "x").unwrap();
    assert_eq!(get().await["git_state"]["has_changes"], true);
    let nowhere = "00000000-0000-7000-8000-000000000000";
    let refused = agor
        .alice
        .call("agor_worktrees_get", json!({ "worktreeId": nowhere }))
        .await;
    let expected = format!("Worktree not found: {nowhere}");
    assert_eq!(refusal(&refused, "NOT_FOUND"), expected);
    let bobs = json!({ "worktreeId": worktree });
    let refused = agor.bob.call("agor_worktrees_get", bobs).await;
    refusal(&refused, "NOT_FOUND");
}

#[tokio::test]
async fn a3_6_worktrees_list_filters_by_repository_and_counts() {
    let agor = Agor::new().await;
    let repo = agor.repo().await;
    let first = agor.worktree(&repo, "first").await;
    let second = agor.worktree(&repo, "second").await;
    for filter in [json!({}), json!({ "repoId": repo })] {
        let found = data(&agor.alice.call("agor_worktrees_list", filter).await);
        assert_eq!(found["total"], 2);
        assert_eq!(column(&found, "worktree_id"), [&second, &first]);
    }
    let one = json!({ "repoId": repo, "limit": 1 });
    let one = data(&agor.alice.call("agor_worktrees_list", one).await);
    assert_eq!((&one["total"], &one["limit"]), (&json!(2), &json!(1)));
    assert_eq!(column(&one, "branch"), ["second"]);
    let bobs = data(&agor.bob.call("agor_worktrees_list", json!({})).await);
    assert_eq!(bobs["total"], 0);
    let nowhere = "00000000-0000-7000-8000-000000000000";
    let refused = agor
        .alice
        .call("agor_worktrees_list", json!({ "repoId": nowhere }))
        .await;
    let expected = format!("Repository not found: {nowhere}");
    assert_eq!(refusal(&refused, "NOT_FOUND"), expected);
}

#[tokio::test]
async fn a3_15_worktrees_create_makes_one_of_a_repository() {
    let agor = Agor::new().await;
    let repo = agor.repo().await;
    let new = json!({ "repoId": repo, "branch": "topic", "name": "my topic" });
    let made = data(&agor.alice.call("agor_worktrees_create", new).await);
    assert_eq!(fields(&made), ["created", "entity_id", "entity"]);
    assert_eq!(made["created"], true);
    let entity = &made["entity"];
    assert_eq!(entity["worktree_id"], made["entity_id"]);
    assert_eq!(
        (&entity["name"], &entity["branch"]),
        (&json!("my topic"), &json!("topic"))
    );
    assert!(Path::new(entity["path"].as_str().unwrap()).is_dir());
    for wrong in [json!({ "repoId": repo }), json!({ "branch": "b" })] {
        let refused = agor.alice.call("agor_worktrees_create", wrong).await;
        refusal(&refused, "INVALID_INPUT");
    }
}
