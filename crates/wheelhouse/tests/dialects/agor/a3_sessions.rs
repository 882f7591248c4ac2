//! A3: sessions, listed, shown, made and changed.

use serde_json::{Value, json};

use super::{Agor, assert_time, column, data, fields, refusal};

/// What a session has.
const SESSION: [&str; 9] = [
    "session_id",
    "status",
    "agentic_tool",
    "title",
    "worktree_id",
    "genealogy",
    "tasks",
    "message_count",
    "created_at",
];

async fn list(agor: &Agor, arguments: Value) -> Value {
    data(&agor.alice.call("agor_sessions_list", arguments).await)
}

#[tokio::test]
async fn a3_1_sessions_list_filters_and_counts() {
    let agor = Agor::new().await;
    let all = list(&agor, json!({})).await;
    assert_eq!((&all["total"], &all["limit"]), (&json!(2), &json!(50)));
    assert_eq!(column(&all, "title"), ["child", "parent"]);
    let one = list(&agor, json!({ "limit": 1 })).await;
    assert_eq!((&one["total"], &one["limit"]), (&json!(2), &json!(1)));
    assert_eq!(column(&one, "title"), ["child"]);
    // Everybody sees their own, and an administrator everything.
    let admins = agor.admin.call("agor_sessions_list", json!({})).await;
    assert_eq!(data(&admins)["total"], 3);
    let refused = agor
        .alice
        .call("agor_sessions_list", json!({ "status": "creating" }))
        .await;
    refusal(&refused, "INVALID_INPUT");
}

#[tokio::test]
async fn a3_1_sessions_list_knows_the_four_statuses() {
    let agor = Agor::new().await;
    let parent = agor.parent();
    let busy = agor.spawn(&parent, "sleep 60").await;
    let done = agor.spawn(&parent, "say done").await;
    agor.until(&done, "completed").await;
    agor.until(&busy, "running").await;
    for (status, expected) in [
        // Those that were there before never had a task.
        ("idle", vec!["child", "parent"]),
        ("running", vec!["sleep 60"]),
        ("completed", vec!["say done"]),
        ("failed", vec![]),
    ] {
        let found = list(&agor, json!({ "status": status })).await;
        assert_eq!(column(&found, "title"), expected, "{status}");
        assert_eq!(found["total"], expected.len(), "{status}");
        let each = column(&found, "status").into_iter();
        assert!(each.clone().all(|it| it == status), "{status}");
    }
}

#[tokio::test]
async fn a3_1_sessions_list_filters_by_board_and_worktree() {
    let agor = Agor::new().await;
    let board = agor.board("work").await;
    let worktree = agor.worktree(&agor.repo().await, "topic").await;
    let new = json!({ "boardId": board, "agent": "echo", "worktreeId": worktree });
    let made = data(&agor.alice.call("agor_sessions_create", new).await);
    for filter in [
        json!({ "boardId": board }),
        json!({ "worktreeId": worktree }),
    ] {
        let found = list(&agor, filter.clone()).await;
        assert_eq!(found["total"], 1, "{filter}");
        let id = made["entity_id"].as_str().unwrap();
        assert_eq!(column(&found, "session_id"), [id]);
    }
    let nowhere = json!({ "worktreeId": "00000000-0000-7000-8000-000000000000" });
    let refused = agor.alice.call("agor_sessions_list", nowhere).await;
    let message = refusal(&refused, "NOT_FOUND");
    assert!(message.starts_with("Worktree not found: 0000"), "{message}");
}

#[tokio::test]
async fn a3_2_sessions_get_shows_family_and_tasks() {
    let agor = Agor::new().await;
    let parent = agor.parent();
    let spawned = agor.spawn(&parent, "say hello").await;
    let seen = agor.until(&spawned, "completed").await;
    assert_eq!(fields(&seen), SESSION);
    assert_eq!(seen["session_id"], spawned);
    assert_eq!(seen["agentic_tool"], "echo");
    assert_eq!(seen["title"], "say hello");
    assert_eq!(seen["worktree_id"], Value::Null);
    assert_eq!(seen["tasks"].as_array().unwrap().len(), 1);
    // The prompt, and the answer.
    assert_eq!(seen["message_count"], 2);
    assert_time(&seen["created_at"]);
    let family = &seen["genealogy"];
    assert_eq!(fields(family), ["parent_session_id", "children"]);
    assert_eq!(
        family,
        &json!({ "parent_session_id": parent, "children": [] })
    );
    let above = agor.get(&parent).await;
    let child = agor.world.child.id.to_string();
    let expected = json!({ "parent_session_id": null, "children": [child, spawned] });
    assert_eq!(above["genealogy"], expected);
    let refused = agor.alice.call("agor_sessions_get", json!({})).await;
    refusal(&refused, "INVALID_INPUT");
    let get = json!({ "sessionId": spawned, "includeMessages": true });
    let seen = data(&agor.alice.call("agor_sessions_get", get).await);
    let messages = seen["messages"].as_array().unwrap();
    let said = |n: usize| (&messages[n]["role"], &messages[n]["content"]);
    assert_eq!(said(0), (&json!("user"), &json!("say hello")));
    assert_eq!((said(1).0, messages.len()), (&json!("assistant"), 2));
    let get = json!({ "sessionId": spawned, "includeMessages": false });
    let seen = data(&agor.alice.call("agor_sessions_get", get).await);
    assert_eq!(fields(&seen), SESSION);
}

#[tokio::test]
async fn a3_3_sessions_get_current_has_the_same_shape() {
    let agor = Agor::new().await;
    let own = agor
        .session
        .call("agor_sessions_get_current", json!({}))
        .await;
    let own = data(&own);
    assert_eq!(fields(&own), SESSION);
    assert_eq!(own, agor.get(&agor.parent()).await);
}

#[tokio::test]
async fn a3_11_sessions_create_makes_one_on_a_board() {
    let agor = Agor::new().await;
    let (board, zones) = agor.board_with_zones("work", &["Planning", "Doing"]).await;
    let new = json!({ "boardId": board, "agent": "echo", "zoneId": zones[1] });
    let made = data(&agor.alice.call("agor_sessions_create", new).await);
    assert_eq!(fields(&made), ["created", "entity_id", "entity"]);
    assert_eq!(made["created"], true);
    let entity = &made["entity"];
    assert_eq!(fields(entity), SESSION);
    assert_eq!(entity["session_id"], made["entity_id"]);
    assert_eq!(entity["agentic_tool"], "echo");
    let id = made["entity_id"].as_str().unwrap();
    agor.until(id, "idle").await;
    // It lies in the zone.
    let ours = agor.world.client(&agor.world.keys.alice);
    let shown = ours.call("board_get", json!({ "board": board })).await;
    let items = crate::harness::Mcp::data(&shown)["items"].clone();
    let lying = json!([&items[0]["id"], &items[0]["zone_id"]]);
    assert_eq!(lying, json!([id, zones[1]]), "{items}");
    for (wrong, code) in [
        (json!({ "agent": "echo" }), "INVALID_INPUT"),
        (json!({ "boardId": board }), "INVALID_INPUT"),
        (
            json!({ "boardId": board, "agent": "echo", "zoneId": "nowhere" }),
            "NOT_FOUND",
        ),
    ] {
        let refused = agor.alice.call("agor_sessions_create", wrong).await;
        refusal(&refused, code);
    }
    // Nothing was made by what was refused.
    assert_eq!(list(&agor, json!({ "boardId": board })).await["total"], 1);
}

#[tokio::test]
async fn a3_12_sessions_fork_branches_off_at_a_task() {
    let agor = Agor::new().await;
    let source = agor.spawn(&agor.parent(), "say first").await;
    let seen = agor.until(&source, "completed").await;
    let task = &seen["tasks"][0];
    let new = json!({ "sessionId": source, "taskId": task, "prompt": "say second" });
    let made = data(&agor.alice.call("agor_sessions_fork", new).await);
    assert_eq!(fields(&made), ["created", "entity_id", "entity"]);
    let id = made["entity_id"].as_str().unwrap();
    assert_ne!(id, source);
    assert_eq!(fields(&made["entity"]), SESSION);
    let forked = agor.until(id, "completed").await;
    // Both conversations.
    assert!(forked["message_count"].as_u64() > seen["message_count"].as_u64());
    let nowhere = "00000000-0000-7000-8000-000000000000";
    let wrong = json!({ "sessionId": source, "taskId": nowhere });
    let refused = agor.alice.call("agor_sessions_fork", wrong).await;
    let expected = format!("Task not found: {nowhere}");
    assert_eq!(refusal(&refused, "NOT_FOUND"), expected);
}

#[tokio::test]
async fn a3_13_sessions_update_changes_title_and_description() {
    let agor = Agor::new().await;
    let change = json!({ "title": "renamed", "description": "what it is for" });
    let updated = agor.session.call("agor_sessions_update", change).await;
    let updated = data(&updated);
    assert_eq!(updated["session_id"], agor.parent());
    assert_eq!(updated["title"], "renamed");
    assert_eq!(updated["description"], "what it is for");
    assert_eq!(agor.get(&agor.parent()).await["title"], "renamed");
    // A session renames itself alone.
    let other = agor.world.child.id.to_string();
    let change = json!({ "sessionId": other, "title": "no" });
    let refused = agor.session.call("agor_sessions_update", change).await;
    refusal(&refused, "NOT_FOUND");
    let refused = agor.session.call("agor_sessions_update", json!({})).await;
    refusal(&refused, "INVALID_INPUT");
}

#[tokio::test]
async fn a3_16_sessions_genealogy_shows_levels_around_a_session() {
    let agor = Agor::new().await;
    let (parent, child) = (agor.parent(), agor.world.child.id.to_string());
    let sibling = agor.spawn(&parent, "say sibling").await;
    let below = agor.spawn(&child, "say below").await;
    let deepest = agor.spawn(&below, "say deepest").await;
    let family = async |session: &str, depth: Option<u32>| {
        let mut asked = json!({ "sessionId": session });
        if let Some(depth) = depth {
            asked["depth"] = depth.into();
        }
        data(&agor.alice.call("agor_sessions_genealogy", asked).await)
    };
    let around = family(&child, None).await;
    assert_eq!(
        fields(&around),
        ["session_id", "parent", "children", "siblings"]
    );
    assert_eq!(around["parent"]["session_id"], parent);
    assert_eq!(around["siblings"][0]["session_id"], sibling);
    assert_eq!(around["children"][0]["session_id"], below);
    // Two levels, unless more are asked for.
    let second = &around["children"][0]["children"][0];
    assert_eq!(second["session_id"], deepest);
    let top = family(&parent, None).await;
    assert_eq!(top["parent"], Value::Null);
    assert!(!top.to_string().contains(&deepest));
    assert!(
        family(&parent, Some(3))
            .await
            .to_string()
            .contains(&deepest)
    );
    let near = family(&deepest, Some(1)).await;
    assert_eq!(near["parent"]["session_id"], below);
    assert!(near["parent"].get("parent").is_none());
}

#[tokio::test]
async fn a3_16_sessions_genealogy_tells_agents_of_parents_and_siblings() {
    let agor = Agor::new().await;
    let child = agor.world.child.id.to_string();
    agor.spawn(&agor.parent(), "say sibling").await;
    let url = format!("{}/mcp/agor", agor.world.server.url());
    let agent = crate::harness::Mcp::new(&url, &agor.world.keys.child);
    let asked = json!({ "sessionId": child });
    let around = data(&agent.call("agor_sessions_genealogy", asked).await);
    assert_eq!(fields(&around["parent"]), ["status", "title"]);
    assert_eq!(around["parent"]["title"], "parent");
    assert_eq!(fields(&around["siblings"][0]), ["status", "title"]);
    assert_eq!(around["siblings"][0]["title"], "say sibling");
}

#[tokio::test]
async fn a3_16_sessions_search_finds_what_was_said() {
    let agor = Agor::new().await;
    let spawned = agor.spawn(&agor.parent(), "say zanzibar").await;
    agor.until(&spawned, "completed").await;
    let words = json!({ "query": "zanzibar" });
    let found = agor.alice.call("agor_sessions_search", words.clone()).await;
    let found = data(&found);
    assert_eq!(fields(&found), ["total", "limit", "skip", "data"]);
    assert!(found["total"].as_u64() >= Some(1));
    let sessions = column(&found, "session_id");
    assert!(sessions.iter().all(|id| *id == spawned), "{found}");
    let bobs = agor.bob.call("agor_sessions_search", words).await;
    assert_eq!(data(&bobs)["total"], 0);
}
