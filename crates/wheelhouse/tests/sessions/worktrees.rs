//! Sessions in worktrees: the whole way from a repository to a merge, and what happens when a worktree goes away.

use wh_api::{
    RepoAddRequest, SessionCreateRequest, WorktreeDiffRequest, WorktreeMergeRequest,
    WorktreeRemoveRequest,
};
use wh_testkit::git::{git, repository};

use crate::harness::World;

/// Adds a repository with one commit and returns its directory.
pub(crate) async fn repo(world: &World) -> std::path::PathBuf {
    let path = repository(&world.server.home().join("app"));
    let request = RepoAddRequest {
        source: path.display().to_string(),
        name: Some("app".to_owned()),
        ..Default::default()
    };
    world.client.repo_add(&request).await.unwrap();
    path
}

fn in_repo(prompt: &str) -> SessionCreateRequest {
    SessionCreateRequest {
        repo: Some("app".to_owned()),
        prompt: Some(prompt.to_owned()),
        ..SessionCreateRequest::default()
    }
}

#[tokio::test]
async fn a_session_works_on_a_branch_of_its_own_that_is_compared_and_merged() {
    let world = World::new();
    let path = repo(&world).await;
    let prompt = "write src/new.txt made by an agent\ncommit add a file";
    let session = world.session_with(in_repo(prompt)).await;
    let view = world.rest(&session).await;
    assert_eq!(view.state, "idle", "{}", world.notes(&session).await);
    let worktree = view.worktree_id.unwrap();
    let turns = wh_api::TurnListRequest {
        session: session.clone(),
        ..Default::default()
    };
    let turn = world
        .client
        .turn_list(&turns)
        .await
        .unwrap()
        .turns
        .remove(0);
    let (before, after) = (turn.commit_before.unwrap(), turn.commit_after.unwrap());
    assert_eq!(before, git(&path, &["rev-parse", "main"]).trim());
    assert_ne!(before, after);
    assert!(
        !path.join("src").exists(),
        "the person's checkout is untouched"
    );
    let diff = WorktreeDiffRequest {
        worktree: worktree.clone(),
        ..Default::default()
    };
    let diff = world.client.worktree_diff(&diff).await.unwrap();
    assert_eq!(diff.files.len(), 1);
    let merge = WorktreeMergeRequest {
        worktree: worktree.clone(),
        leave_uncommitted: Some(true),
        ..Default::default()
    };
    world.client.worktree_merge(&merge).await.unwrap();
    assert_eq!(git(&path, &["rev-parse", "main"]).trim(), after);
}

#[tokio::test]
async fn a_worktree_in_use_is_not_removed_and_one_that_is_left_is_rescued() {
    let world = World::new();
    let path = repo(&world).await;
    let session = world
        .session_with(in_repo("write draft.txt not committed"))
        .await;
    let worktree = world.rest(&session).await.worktree_id.unwrap();
    let remove = |rescue| WorktreeRemoveRequest {
        worktree: worktree.clone(),
        rescue: Some(rescue),
        ..Default::default()
    };
    let refused = world
        .client
        .worktree_remove(&remove(true))
        .await
        .unwrap_err();
    assert!(refused.to_string().contains("session"), "{refused}");
    world.manage(&session, "stop").await;
    world.until_state(&session, "stopped").await;
    world.manage(&session, "archive").await;
    world.manage(&session, "delete").await;
    let refused = world.client.worktree_remove(&remove(false)).await;
    assert!(refused.is_err(), "uncommitted work is in it");
    world.client.worktree_remove(&remove(true)).await.unwrap();
    let saved = git(
        &path,
        &[
            "for-each-ref",
            "--format=%(refname)",
            "refs/wheelhouse/rescue",
        ],
    );
    assert!(!saved.trim().is_empty());
    let saved = saved.lines().next().unwrap().to_owned();
    let files = git(&path, &["log", "--all", "--name-only", "--format=", &saved]);
    let everything = git(&path, &["grep", "-l", "not committed", &saved]);
    assert!(everything.contains("draft.txt"), "{files}");
}

#[tokio::test]
async fn two_sessions_share_a_worktree_when_asked() {
    let world = World::new();
    repo(&world).await;
    let first = world.session_with(in_repo("write b.txt one")).await;
    let worktree = world.rest(&first).await.worktree_id.unwrap();
    let second = world
        .session_with(SessionCreateRequest {
            worktree: Some(worktree.clone()),
            prompt: Some("write c.txt two".to_owned()),
            ..SessionCreateRequest::default()
        })
        .await;
    assert_eq!(
        world.rest(&second).await.worktree_id,
        Some(worktree.clone())
    );
    let diff = WorktreeDiffRequest {
        worktree,
        ..Default::default()
    };
    let diff = world.client.worktree_diff(&diff).await.unwrap();
    assert_eq!(diff.files.len(), 2);
}

#[tokio::test]
async fn a_place_that_makes_no_sense_is_refused() {
    let world = World::new();
    repo(&world).await;
    let both = SessionCreateRequest {
        agent: "echo".to_owned(),
        path: Some("/tmp".to_owned()),
        ..in_repo("say x")
    };
    let branch = SessionCreateRequest {
        agent: "echo".to_owned(),
        branch: Some("x".to_owned()),
        ..SessionCreateRequest::default()
    };
    let missing = SessionCreateRequest {
        agent: "echo".to_owned(),
        repo: Some("nothing".to_owned()),
        ..SessionCreateRequest::default()
    };
    for (request, words) in [
        (both, "one of repo, worktree and path"),
        (branch, "go with repo"),
        (missing, "repository not found"),
    ] {
        let refused = world.client.session_create(&request).await.unwrap_err();
        assert!(refused.to_string().contains(words), "{refused}");
    }
    let listed = world
        .client
        .session_list(&Default::default())
        .await
        .unwrap();
    assert!(listed.sessions.is_empty());
}
