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

/// Calls REST and returns the status and the answer.
async fn delete(world: &World, key: &str, path: &str) -> (u16, Value) {
    let url = format!("{}/api/v1{path}", world.server.url());
    let client = reqwest::Client::builder().no_proxy().build().unwrap();
    let answer = client.delete(url).bearer_auth(key).send().await.unwrap();
    let status = answer.status().as_u16();
    (status, answer.json().await.unwrap())
}

#[tokio::test]
async fn a_user_who_owns_something_is_deleted_by_force_alone_and_nothing_of_it_is_lost() {
    let (world, lead) = World::with_lead().await;
    let lead = lead.id.to_string();
    let (admin, alice, bob) = (
        world.client(&world.keys.admin),
        world.client(&world.keys.alice),
        world.client(&world.keys.bob),
    );
    let dir = repository(&world.server.home().join("app"));
    // Both users have a repository with this name: the transferred one is renamed.
    call(&admin, "repo_add", json!({ "source": dir })).await;
    let repo = call(&alice, "repo_add", json!({ "source": dir })).await;
    let new = json!({ "agent": "echo", "repo": repo["id"], "prompt": "write made.txt by hand" });
    let done = call(&alice, "session_create", new).await;
    let waited = json!({ "sessions": [done["id"]], "timeout": 60 });
    call(&alice, "session_wait", waited).await;
    let busy = json!({ "agent": "echo", "prompt": "say begun\nsleep 600" });
    let busy = call(&alice, "session_create", busy).await;
    let (hers, bobs) = (board(&alice, "hers").await, board(&bob, "his").await);
    let share =
        |board: &str, with: &str| json!({ "board": board, "with": with, "level": "prompt" });
    call(&alice, "board_share", share(&hers, "bob")).await;
    call(&bob, "board_share", share(&bobs, "alice")).await;
    let hook = json!({ "url": "https://hooks.example/x" });
    call(&alice, "webhook_create", hook).await;
    let tasks = json!({ "list": "release", "tasks": [{ "content": "one" }] });
    call(&alice, "task_add", tasks).await;
    let token = world.client(&world.keys.session);
    call(&token, "session_current", json!({})).await;

    // Who may not.
    let named = json!({ "user": "alice" });
    for key in [&world.keys.bob, &world.keys.alice, &world.keys.lead] {
        let refused = world.client(key).call("user_delete", named.clone()).await;
        assert_eq!(Mcp::code(&refused), "FORBIDDEN");
    }
    let (status, _) = delete(&world, &world.keys.bob, "/users/alice?force=true").await;
    assert_eq!(status, 403);
    let own = admin.call("user_delete", json!({ "user": "root", "force": true }));
    assert_eq!(Mcp::code(&own.await), "CONFLICT");

    let refused = admin.call("user_delete", named).await;
    assert_eq!(Mcp::code(&refused), "CONFLICT");
    let error = &refused["structuredContent"]["error"];
    for (kind, count) in [
        ("sessions", 5),
        ("worktrees", 1),
        ("boards", 1),
        ("repos", 1),
        ("tasks", 1),
        ("keys", 3),
        ("shares", 1),
        ("webhooks", 1),
    ] {
        assert_eq!(error["details"][format!("{kind}_count")], count, "{error}");
    }
    call(&alice, "board_get", json!({ "board": hers })).await;

    let (status, deleted) = delete(&world, &world.keys.admin, "/users/alice?force=true").await;
    assert_eq!(status, 200, "{deleted}");
    assert_eq!(deleted["name"], "alice");
    assert!(counts(&deleted).contains(&("sessions", 5)), "{deleted}");
    // None of her credentials works, including her agents' tokens.
    for key in [
        &world.keys.alice,
        &world.keys.alice_client,
        &world.keys.session,
        &world.keys.lead,
    ] {
        let answer = world.client(key).send("tools/list", json!({})).await;
        assert_eq!(answer.status(), 401);
    }
    let gone = admin.call("user_get", json!({ "user": "alice" })).await;
    assert_eq!(Mcp::code(&gone), "NOT_FOUND");
    let (status, _) = delete(&world, &world.keys.admin, "/users/alice?force=true").await;
    assert_eq!(status, 404);
    // The administrator owns her resources, unchanged.
    let root = call(&admin, "user_get", json!({})).await["id"].clone();
    let get = |id: &Value| json!({ "session": id });
    for (id, state) in [(&done["id"], "stopped"), (&busy["id"], "stopped")] {
        let kept = call(&admin, "session_get", get(id)).await;
        assert_eq!(
            (&kept["owner_id"], &kept["state"]),
            (&root, &json!(state)),
            "{kept}"
        );
    }
    let led = call(&admin, "session_get", get(&json!(lead))).await;
    assert_eq!(
        led["role"], "general",
        "it does not lead what the administrator owns"
    );
    let worktree = json!({ "worktree": done["worktree_id"] });
    let worktree = call(&admin, "worktree_get", worktree).await;
    let path = std::path::Path::new(worktree["path"].as_str().unwrap());
    assert_eq!(
        fs::read_to_string(path.join("made.txt")).unwrap(),
        "by hand\n"
    );
    let repos = call(&admin, "repo_list", json!({})).await;
    let mut names: Vec<_> = repos["repos"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["name"].as_str().unwrap())
        .collect();
    names.sort_unstable();
    assert_eq!(names[0], "app");
    assert!(
        names.len() == 2 && names[1].starts_with("app-"),
        "{names:?}"
    );
    call(&bob, "board_get", json!({ "board": hers })).await;
    let shares = call(&bob, "board_get", json!({ "board": bobs })).await;
    assert!(
        shares["shares"].as_array().is_none_or(Vec::is_empty),
        "{shares}"
    );
    // The session can be prompted by its new owner.
    let more = json!({ "session": done["id"], "prompt": "say on", "wait": 60 });
    call(
        &admin,
        "session_manage",
        json!({ "session": done["id"], "action": "start" }),
    )
    .await;
    let more = call(&admin, "session_prompt", more).await;
    assert_eq!(more["turn"]["state"], "completed", "{more}");
    // The audit log keeps the name of the deleted user.
    let asked = json!({ "user": "alice", "operation": "task_add" });
    let audit = call(&admin, "audit_list", asked).await;
    assert_eq!(audit["entries"][0]["user"], "alice", "{audit}");
}
