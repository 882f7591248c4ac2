//! Worktrees over MCP: tools, files as resources, and what others may not see.

use std::fs;

use serde_json::{Value, json};
use wh_testkit::git::{commit, repository};

use crate::harness::{Mcp, World};

/// Makes a repository and a worktree of a caller's; returns their ids.
pub(crate) async fn worktree(world: &World, client: &Mcp) -> (String, String) {
    let dir = repository(&world.server.home().join("project"));
    let source = json!({ "source": dir.to_str().unwrap() });
    let repo = Mcp::data(&client.call("repo_add", source).await);
    let new = json!({ "repo": repo["id"], "name": "Fix it" });
    let made = Mcp::data(&client.call("worktree_create", new).await);
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    (text(&repo["id"]), text(&made["id"]))
}

#[tokio::test]
async fn an_agent_could_make_compare_merge_and_remove_one() {
    let world = World::new().await;
    let alice = world.client(&world.keys.alice);
    let (_, id) = worktree(&world, &alice).await;
    let by_id = json!({ "worktree": id });
    let seen = Mcp::data(&alice.call("worktree_get", by_id.clone()).await);
    assert_eq!(
        (&seen["state"], &seen["status"]["dirty"]),
        (&json!("ready"), &json!(false))
    );
    let path = std::path::PathBuf::from(seen["path"].as_str().unwrap());
    assert!(path.starts_with(world.server.data_dir().canonicalize().unwrap()));
    commit(&path, "b.txt", "two\n");
    let diff = Mcp::data(&alice.call("worktree_diff", by_id.clone()).await);
    assert_eq!(diff["files"][0]["path"], "b.txt");
    assert!(diff["files"][0]["patch"].as_str().unwrap().contains("+two"));
    let merged = Mcp::data(&alice.call("worktree_merge", by_id.clone()).await);
    assert_eq!(
        (&merged["into"], &merged["outcome"]),
        (&json!("main"), &json!("fast_forward"))
    );
    let removed = Mcp::data(&alice.call("worktree_remove", by_id.clone()).await);
    assert_eq!(removed["state"], "removed");
    assert!(!path.exists());
    let list = Mcp::data(&alice.call("worktree_list", json!({})).await);
    assert_eq!(list["worktrees"], json!([]));
}

#[tokio::test]
async fn a_diff_is_walked_to_its_end() {
    const FILES: usize = 450;
    let world = World::new().await;
    let alice = world.client(&world.keys.alice);
    let (_, id) = worktree(&world, &alice).await;
    let seen = Mcp::data(&alice.call("worktree_get", json!({ "worktree": id })).await);
    let path = std::path::PathBuf::from(seen["path"].as_str().unwrap());
    let names: Vec<_> = (0..FILES).map(|n| format!("file-{n:03}.txt")).collect();
    for name in &names {
        fs::write(path.join(name), "new\n").unwrap();
    }
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let url = world.server.url();
    let by_tool = async |cursor: &Value| {
        let mut request = json!({ "worktree": id, "limit": 100 });
        if !cursor.is_null() {
            request["cursor"] = cursor.clone();
        }
        Mcp::data(&alice.call("worktree_diff", request).await)
    };
    let by_rest = async |cursor: &Value| {
        let cursor = cursor.as_str().map(|it| format!("&cursor={it}"));
        let path = format!(
            "worktrees/{id}/diff?limit=100{}",
            cursor.unwrap_or_default()
        );
        let request = http.get(format!("{url}/api/v1/{path}"));
        let answer = request.bearer_auth(&world.keys.alice).send().await;
        answer.unwrap().json::<Value>().await.unwrap()
    };
    let by_command = async |_: &Value| {
        let mut command = world.server.command();
        let output = command.args(["worktree", "diff", &id, "--json"]).output();
        serde_json::from_slice::<Value>(&output.unwrap().stdout).unwrap()
    };
    assert_eq!(diffed_files(by_tool).await, names);
    assert_eq!(diffed_files(by_rest).await, names);
    assert_eq!(diffed_files(by_command).await, names);
}

/// Walks a diff with `read`, which is given the cursor of the page before, and returns its files.
async fn diffed_files(mut read: impl AsyncFnMut(&Value) -> Value) -> Vec<String> {
    let mut files = Vec::new();
    let (mut cursor, mut total) = (Value::Null, None);
    loop {
        let page = read(&cursor).await;
        let shown = page["files"].as_array().unwrap().iter();
        files.extend(shown.map(|file| file["path"].as_str().unwrap().to_owned()));
        let all = files.len() as u64 + page["files_left"].as_u64().unwrap();
        assert_eq!(
            *total.get_or_insert(all),
            all,
            "every page tells how many are left"
        );
        cursor = page["next_cursor"].clone();
        if cursor.is_null() {
            return files;
        }
    }
}

#[tokio::test]
async fn a_merge_commits_the_rest_without_hooks_and_removes_what_it_leaves() {
    let world = World::new().await;
    let alice = world.client(&world.keys.alice);
    let (_, id) = worktree(&world, &alice).await;
    let project = world.server.home().join("project");
    let seen = Mcp::data(&alice.call("worktree_get", json!({ "worktree": id })).await);
    let path = std::path::PathBuf::from(seen["path"].as_str().unwrap());
    let ran = world.server.home().join("ran");
    for hook in [
        "pre-commit",
        "commit-msg",
        "post-commit",
        "reference-transaction",
    ] {
        let file = project.join(".git/hooks").join(hook);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, format!("#!/bin/sh\ntouch '{}'\n", ran.display())).unwrap();
        fs::set_permissions(&file, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    }
    commit(&path, "b.txt", "two\n");
    fs::remove_file(&ran).ok();
    fs::write(path.join("c.txt"), "three\n").unwrap();
    fs::write(path.join("a.txt"), "changed\n").unwrap();
    let merge = async |more: Value| {
        let mut request = json!({ "worktree": id });
        let more = more.as_object().unwrap().clone();
        request.as_object_mut().unwrap().extend(more);
        alice.call("worktree_merge", request).await
    };

    for contradiction in [
        json!({ "commit": "all", "leave_uncommitted": true }),
        json!({ "remove_after": true, "leave_uncommitted": true }),
    ] {
        assert_eq!(Mcp::code(&merge(contradiction).await), "INVALID_INPUT");
    }
    let error = merge(json!({})).await["structuredContent"]["error"].clone();
    assert_eq!(
        error["details"]["files"],
        json!(["a.txt", "c.txt"]),
        "{error}"
    );
    let nowhere = json!({ "commit": "all", "into": "nowhere" });
    assert_eq!(Mcp::code(&merge(nowhere).await), "INVALID_INPUT");

    let left = Mcp::data(&merge(json!({ "leave_uncommitted": true })).await);
    assert_eq!(left["outcome"], "fast_forward");
    assert!(project.join("b.txt").exists() && !project.join("c.txt").exists());

    let new = json!({ "agent": "echo", "worktree": id, "prompt": "say hello" });
    let session = Mcp::data(&alice.call("session_create", new).await)["id"].clone();
    let wait = json!({ "sessions": [session], "timeout": 60 });
    alice.call("session_wait", wait).await;
    let all = json!({ "commit": "Add the rest", "remove_after": true, "idempotency_key": "once" });
    let merged = Mcp::data(&merge(all.clone()).await);
    assert_eq!(merged["outcome"], "fast_forward");
    assert_eq!(merged["committed"], merged["commit"]);
    let removed = (&merged["worktree_removed"], &merged["branch_deleted"]);
    assert_eq!(removed, (&json!(true), &json!(true)), "{merged}");
    assert!(!path.exists() && project.join("c.txt").exists());
    assert!(!ran.exists(), "a hook ran");
    let session = Mcp::data(
        &alice
            .call("session_get", json!({ "session": session }))
            .await,
    );
    assert_eq!(session["archived"], true);

    let again = Mcp::data(&merge(all).await);
    assert_eq!(again["outcome"], "repeated");
    assert_eq!(again["branch_deleted"], true, "{again}");
}

#[tokio::test]
async fn a_worktree_that_an_agent_works_in_is_not_removed_by_a_merge() {
    let world = World::new().await;
    let alice = world.client(&world.keys.alice);
    let (_, id) = worktree(&world, &alice).await;
    let new = json!({ "agent": "echo", "worktree": id, "prompt": "write d.txt four\nsleep 600" });
    let session = Mcp::data(&alice.call("session_create", new).await)["id"].clone();
    let merge = json!({ "worktree": id, "commit": "all", "remove_after": true });
    let refused = alice.call("worktree_merge", merge.clone()).await;
    assert_eq!(Mcp::code(&refused), "CONFLICT");
    let stop = json!({ "session": session, "action": "stop" });
    alice.call("session_manage", stop).await;
    let wait = json!({ "sessions": [session], "timeout": 60 });
    alice.call("session_wait", wait).await;
    let merged = Mcp::data(&alice.call("worktree_merge", merge).await);
    assert_eq!(merged["worktree_removed"], true, "{merged}");
}

/// As a dashboard that shows the changes of one, again after every merge.
#[tokio::test]
async fn one_that_somebody_looks_at_can_be_removed() {
    let world = World::new().await;
    let alice = world.client(&world.keys.alice);
    let (_, id) = worktree(&world, &alice).await;
    let by_id = json!({ "worktree": id });
    let is_done = std::cell::Cell::new(false);
    let look = async |tool: &str| {
        while !is_done.get() {
            alice.call(tool, by_id.clone()).await;
        }
    };
    let remove = async {
        let removed = Mcp::data(&alice.call("worktree_remove", by_id.clone()).await);
        is_done.set(true);
        assert_eq!(removed["state"], "removed");
    };
    let tools = ["worktree_diff", "worktree_get"].repeat(4);
    let looks = futures::future::join_all(tools.into_iter().map(look));
    tokio::join!(remove, looks);
}

#[tokio::test]
async fn files_are_read_within_the_worktree_and_reach() {
    let world = World::new().await;
    let alice = world.client(&world.keys.alice);
    let (_, id) = worktree(&world, &alice).await;
    let seen = Mcp::data(&alice.call("worktree_get", json!({ "worktree": id })).await);
    let path = std::path::PathBuf::from(seen["path"].as_str().unwrap());
    fs::write(path.join("raw"), b"\xff\x00\x01").unwrap();
    std::os::unix::fs::symlink("/etc", path.join("etc")).unwrap();
    let read = async |client: &Mcp, file: &str| {
        let uri = format!("wheelhouse://worktree/{id}/files/{file}");
        client
            .request("resources/read", json!({ "uri": uri }))
            .await
    };
    let text = read(&alice, "a.txt").await;
    assert_eq!(text["result"]["contents"][0]["text"], "one\n");
    let bytes = read(&alice, "raw").await;
    assert_eq!(bytes["result"]["contents"][0]["blob"], "/wAB");
    let top = read(&alice, "").await;
    assert_eq!(top["result"]["contents"][0]["text"], "a.txt\netc\nraw");
    let link = read(&alice, "etc").await;
    assert_eq!(link["result"]["contents"][0]["text"], "/etc");
    for bad in ["etc/passwd", "../a.txt", "%2e%2e/a.txt", ".git", "absent"] {
        let refused = read(&alice, bad).await;
        assert_eq!(
            refused["error"]["message"], "Resource not found",
            "{bad}: {refused}"
        );
    }
    let cursor = json!({ "cursor": "worktree:" });
    let list = alice.request("resources/list", cursor.clone()).await;
    let uri = format!("wheelhouse://worktree/{id}");
    assert_eq!(list["result"]["resources"][0]["uri"], uri);
    let complete = json!({
        "ref": { "type": "ref/resource", "uri": "wheelhouse://worktree/{id}" },
        "argument": { "name": "id", "value": "fix" },
    });
    let completed = alice.request("completion/complete", complete).await;
    assert_eq!(completed["result"]["completion"]["values"], json!([id]));
    let bob = world.client(&world.keys.bob);
    let list = bob.request("resources/list", cursor).await;
    let listed = list["result"]["resources"].as_array().unwrap();
    assert_eq!(listed.len(), 1, "only the agents: {list}");
    let refused = read(&bob, "a.txt").await;
    assert_eq!(refused["error"]["message"], "Resource not found");
}

#[tokio::test]
async fn changes_are_read_by_the_session_reviewed_by_prompt_and_paths_completed() {
    let world = World::new().await;
    let alice = world.client(&world.keys.alice);
    let (_, id) = worktree(&world, &alice).await;
    let seen = Mcp::data(&alice.call("worktree_get", json!({ "worktree": id })).await);
    let path = std::path::PathBuf::from(seen["path"].as_str().unwrap());
    fs::create_dir(path.join("src")).unwrap();
    commit(&path, "src/fence.txt", "blue\n");
    let new = json!({ "agent": "echo", "worktree": id });
    let session = Mcp::data(&alice.call("session_create", new).await)["id"].clone();
    let session = session.as_str().unwrap();
    for (worktree, count) in [(Some(&id), 1), (None, 3)] {
        let mut ask = json!({});
        if let Some(worktree) = worktree {
            ask["worktree"] = json!(worktree);
        }
        let list = Mcp::data(&alice.call("session_list", ask).await);
        let listed = list["sessions"].as_array().unwrap().len();
        assert_eq!(listed, count, "in {worktree:?}");
    }
    let uri = format!("wheelhouse://session/{session}/diff");
    let read = alice.request("resources/read", json!({ "uri": uri })).await;
    let diff = read["result"]["contents"][0]["text"].as_str().unwrap();
    let diff: Value = serde_json::from_str(diff).unwrap();
    assert_eq!(diff["files"][0]["path"], "src/fence.txt");
    assert!(
        diff["files"][0]["patch"]
            .as_str()
            .unwrap()
            .contains("+blue")
    );
    let review =
        json!({ "name": "review-branch", "arguments": { "worktree": id, "focus": "the colour" } });
    let prompt = alice.request("prompts/get", review).await;
    let text = prompt["result"]["messages"][0]["content"]["text"]
        .as_str()
        .unwrap();
    assert!(
        text.contains("src/fence.txt") && text.contains("the colour"),
        "{text}"
    );
    assert!(
        !text.contains("+blue"),
        "the changes themselves are left to worktree_diff"
    );
    let complete = async |client: &Mcp, value: &str| {
        let params = json!({
            "ref": { "type": "ref/resource", "uri": "wheelhouse://worktree/{id}/files/{+path}" },
            "argument": { "name": "path", "value": value },
            "context": { "arguments": { "id": id } },
        });
        let completed = client.request("completion/complete", params).await;
        completed["result"]["completion"]["values"].clone()
    };
    assert_eq!(complete(&alice, "s").await, json!(["src"]));
    assert_eq!(complete(&alice, "src/f").await, json!(["src/fence.txt"]));
    assert_eq!(complete(&alice, "../").await, json!([]));
    let bob = world.client(&world.keys.bob);
    assert_eq!(complete(&bob, "s").await, json!([]));
}
