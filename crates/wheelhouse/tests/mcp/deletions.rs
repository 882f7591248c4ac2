//! Deleting boards and repositories: refused while something depends on them, and what goes when it is forced.

use std::fs;

use serde_json::{Value, json};
use wh_testkit::git::{git, repository};

use crate::harness::{Mcp, World, board};

async fn call(client: &Mcp, tool: &str, arguments: Value) -> Value {
    Mcp::data(&client.call(tool, arguments).await)
}

/// Returns the counts of what an answer says depended on what was deleted.
fn counts(deleted: &Value) -> Vec<(&str, u64)> {
    let of = |it: &'_ Value| it["count"].as_u64().unwrap();
    let listed = deleted["dependents"].as_array().into_iter().flatten();
    listed
        .map(|it| (it["kind"].as_str().unwrap(), of(it)))
        .collect()
}

#[tokio::test]
async fn a_board_in_use_is_deleted_by_force_alone_and_its_sessions_stay() {
    let world = World::new().await;
    let (alice, bob) = (
        world.client(&world.keys.alice),
        world.client(&world.keys.bob),
    );
    let empty = board(&alice, "empty").await;
    let refused = bob.call("board_delete", json!({ "board": empty })).await;
    assert_eq!(Mcp::code(&refused), "NOT_FOUND");
    let deleted = call(&alice, "board_delete", json!({ "board": empty })).await;
    assert_eq!(counts(&deleted), []);
    let gone = alice.call("board_get", json!({ "board": empty })).await;
    assert_eq!(Mcp::code(&gone), "NOT_FOUND");

    let used = board(&alice, "used").await;
    let new = json!({ "agent": "echo", "board": used, "prompt": "say hello" });
    let session = call(&alice, "session_create", new).await;
    let tasks = json!({ "board": used, "tasks": [{ "content": "one" }, { "content": "two" }] });
    call(&alice, "task_add", tasks).await;
    let refused = alice.call("board_delete", json!({ "board": used })).await;
    assert_eq!(Mcp::code(&refused), "CONFLICT");
    let error = &refused["structuredContent"]["error"];
    let message = error["message"].as_str().unwrap();
    let id = session["id"].as_str().unwrap();
    assert!(
        message.contains("1 session (") && message.contains(id),
        "{message}"
    );
    assert!(message.contains("2 tasks ("), "{message}");
    assert_eq!(error["details"]["sessions"], json!([id]));
    assert_eq!(error["details"]["tasks_count"], 2);
    call(&alice, "board_get", json!({ "board": used })).await;

    let forced = json!({ "board": used, "force": true });
    let deleted = call(&alice, "board_delete", forced).await;
    assert_eq!(counts(&deleted), [("sessions", 1), ("tasks", 2)]);
    let gone = alice.call("board_get", json!({ "board": used })).await;
    assert_eq!(Mcp::code(&gone), "NOT_FOUND");
    let kept = call(&alice, "session_get", json!({ "session": id })).await;
    assert_eq!(kept["board_id"], Value::Null, "{kept}");
    // It goes on as ever.
    let waited = json!({ "sessions": [id], "timeout": 60 });
    call(&alice, "session_wait", waited).await;
}

#[tokio::test]
async fn a_repository_in_use_is_deleted_by_force_alone_and_no_work_is_lost() {
    let world = World::new().await;
    let alice = world.client(&world.keys.alice);
    let dir = repository(&world.server.home().join("app"));
    let repo = call(&alice, "repo_add", json!({ "source": dir })).await;
    let named = json!({ "repo": repo["id"] });
    let new = json!({ "agent": "echo", "repo": repo["id"], "prompt": "write made.txt by hand" });
    let session = call(&alice, "session_create", new).await;
    let waited = json!({ "sessions": [session["id"]], "timeout": 60 });
    call(&alice, "session_wait", waited).await;
    let refused = alice.call("repo_delete", named.clone()).await;
    assert_eq!(Mcp::code(&refused), "CONFLICT");
    let error = &refused["structuredContent"]["error"];
    let message = error["message"].as_str().unwrap();
    assert!(
        message.contains("1 session (") && message.contains("1 worktree ("),
        "{message}"
    );
    assert_eq!(error["details"]["sessions"], json!([session["id"]]));

    let forced = json!({ "repo": repo["id"], "force": true });
    let deleted = call(&alice, "repo_delete", forced).await;
    assert_eq!(counts(&deleted), [("sessions", 1), ("worktrees", 1)]);
    let gone = alice.call("repo_delete", named).await;
    assert_eq!(Mcp::code(&gone), "NOT_FOUND");
    let listed = call(&alice, "repo_list", json!({})).await;
    assert_eq!(listed["repos"], json!([]));
    // The person's directory is as it was, and what the agent had not committed is saved in it.
    assert_eq!(fs::read_to_string(dir.join("a.txt")).unwrap(), "one\n");
    let saved = git(
        &dir,
        &[
            "for-each-ref",
            "--format=%(refname)",
            "refs/wheelhouse/rescue",
        ],
    );
    let saved = saved.lines().next().expect("there is a rescue");
    let files = git(&dir, &["ls-tree", "-r", "--name-only", saved]);
    assert!(files.contains("made.txt"), "{files}");
    // The conversation stays readable, and its name is free again.
    let kept = call(&alice, "session_get", json!({ "session": session["id"] })).await;
    assert_eq!(kept["archived"], true, "{kept}");
    call(&alice, "repo_add", json!({ "source": dir })).await;
}
