//! A4: how answers and refusals look.

use std::time::Duration;

use serde_json::json;

use super::{Agor, data, fields, refusal};
use crate::harness::Mcp;

#[tokio::test]
async fn a4_1_every_list_has_total_limit_skip_and_data() {
    let agor = Agor::new().await;
    for (tool, arguments) in [
        ("agor_sessions_list", json!({})),
        ("agor_worktrees_list", json!({})),
        ("agor_boards_list", json!({})),
        ("agor_tasks_list", json!({ "sessionId": agor.parent() })),
        ("agor_sessions_search", json!({ "query": "nothing" })),
    ] {
        let list = data(&agor.alice.call(tool, arguments.clone()).await);
        assert_eq!(fields(&list), ["total", "limit", "skip", "data"], "{tool}");
        assert_eq!((&list["limit"], &list["skip"]), (&json!(50), &json!(0)));
        // The limit that is told is the one that applied.
        let mut more = arguments;
        more["limit"] = 5_000.into();
        let list = data(&agor.alice.call(tool, more).await);
        assert_eq!(list["limit"], 200, "{tool}");
    }
}

#[tokio::test]
async fn a4_2_a_get_is_the_entity_itself() {
    let agor = Agor::new().await;
    assert_eq!(fields(&agor.get(&agor.parent()).await)[0], "session_id");
    let board = agor.board("b").await;
    let get = json!({ "boardId": board });
    let board = data(&agor.alice.call("agor_boards_get", get).await);
    assert_eq!(fields(&board)[0], "board_id");
}

#[tokio::test]
async fn a4_3_what_is_created_comes_in_an_envelope() {
    let agor = Agor::new().await;
    let board = agor.board("b").await;
    let new = json!({ "boardId": board, "agent": "echo" });
    let made = data(&agor.alice.call("agor_sessions_create", new).await);
    assert_eq!(fields(&made), ["created", "entity_id", "entity"]);
    assert_eq!(made["created"], true);
    assert_eq!(made["entity"]["session_id"], made["entity_id"]);
}

#[tokio::test]
async fn a4_4_an_error_has_code_message_and_details() {
    let agor = Agor::new().await;
    let id = "01a1b2c3";
    let refused = agor
        .alice
        .call("agor_sessions_get", json!({ "sessionId": id }))
        .await;
    let expected = json!({
        "error": {
            "code": "NOT_FOUND",
            "message": "Session not found: 01a1b2c3",
            "details": { "sessionId": "01a1b2c3" },
        },
    });
    assert_eq!(refused["structuredContent"], expected);
    assert_eq!(refused["isError"], true);
}

#[tokio::test]
async fn a4_5_errors_say_what_to_do_with_names_of_this_contract() {
    let agor = Agor::new().await;
    for (tool, arguments) in [
        ("agor_sessions_get", json!({ "sessionId": "01a1b2c3" })),
        ("agor_tasks_get", json!({ "taskId": "01a1b2c3" })),
        ("agor_worktrees_get", json!({ "worktreeId": "01a1b2c3" })),
        ("agor_boards_get", json!({ "boardId": "01a1b2c3" })),
    ] {
        let refused = agor.alice.call(tool, arguments).await;
        let hint = refused["content"][1]["text"].as_str().unwrap();
        let list = tool.replace("_get", "_list");
        assert!(hint.contains(&list), "{tool}: {hint}");
    }
    // Advice that the contract has no tool for is left out.
    let nobody = json!({ "parentId": agor.parent(), "prompt": "x", "agent": "nobody" });
    let refused = agor.alice.call("agor_sessions_spawn", nobody).await;
    assert!(refusal(&refused, "INVALID_INPUT").contains("nobody"));
    assert!(!refused.to_string().contains("agent_list"), "{refused}");
    for (tool, arguments) in [
        ("agor_sessions_get", json!({ "sessionId": "" })),
        ("agor_sessions_get", json!({ "sessionId": 7 })),
        ("agor_sessions_get", json!({ "sessionId": "not an id" })),
        ("agor_sessions_list", json!({ "limit": -1 })),
        ("agor_sessions_list", json!({ "boardID": "01a1b2c3" })),
    ] {
        let refused = agor.alice.call(tool, arguments).await;
        assert!(!refusal(&refused, "INVALID_INPUT").is_empty());
    }
}

#[tokio::test]
async fn a4_6_names_are_agor_service_action() {
    let agor = Agor::new().await;
    let listed = agor.admin.request("tools/list", json!({})).await;
    for tool in listed["result"]["tools"].as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        let services = ["sessions", "worktrees", "boards", "tasks", "users"];
        let mut parts = name.splitn(3, '_');
        assert_eq!(parts.next(), Some("agor"), "{name}");
        assert!(services.contains(&parts.next().unwrap()), "{name}");
        let plain = |c: char| c.is_ascii_lowercase() || c == '_';
        assert!(name.chars().all(plain), "{name}");
        assert!(!tool["description"].as_str().unwrap().is_empty());
    }
}

#[tokio::test]
async fn a_call_is_one_entry_of_the_audit_log() {
    let agor = Agor::new().await;
    let board = agor.board("b").await;
    let calls = [
        ("agor_sessions_list", json!({}), "session_list"),
        (
            "agor_sessions_get",
            json!({ "sessionId": agor.parent(), "includeMessages": true }),
            "session_get",
        ),
        ("agor_boards_get", json!({ "boardId": board }), "board_get"),
        ("agor_boards_list", json!({}), "board_list"),
        ("agor_worktrees_list", json!({}), "worktree_list"),
        (
            "agor_tasks_list",
            json!({ "sessionId": agor.parent() }),
            "turn_list",
        ),
        (
            "agor_sessions_search",
            json!({ "query": "nothing" }),
            "session_search",
        ),
        (
            "agor_sessions_genealogy",
            json!({ "sessionId": agor.parent() }),
            "session_tree",
        ),
    ];
    for (tool, arguments, _) in &calls {
        data(&agor.alice.call(tool, arguments.clone()).await);
    }
    let admin = agor.world.client(&agor.world.keys.admin);
    let entries = async |operation: Option<&str>| {
        let mut about = json!({ "user": "alice", "include_reads": true });
        if let Some(operation) = operation {
            about["operation"] = json!(operation);
        }
        let call = json!({ "name": "audit_list", "arguments": about });
        let list = Mcp::data(&admin.call("tool_call", call).await);
        list["entries"].as_array().unwrap().clone()
    };
    // Entries of reads are written a moment later, in their order.
    while entries(Some("session_tree")).await.is_empty() {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let entries = entries(None).await;
    let operations = entries
        .iter()
        .rev()
        .map(|it| it["operation"].as_str().unwrap());
    let operations: Vec<_> = operations.skip_while(|it| *it != "session_list").collect();
    let expected: Vec<_> = calls.iter().map(|(.., operation)| *operation).collect();
    assert_eq!(operations, expected);
}

#[tokio::test]
async fn a4_4_clients_without_structured_content_find_the_error_in_the_text() {
    let agor = Agor::new().await;
    let url = format!("{}/mcp/agor", agor.world.server.url());
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let nowhere = "00000000-0000-7000-8000-000000000000";
    let call = json!({ "name": "agor_boards_get", "arguments": { "boardId": nowhere } });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": call });
    let refused = async |version: &str| {
        let post = http.post(&url).bearer_auth(&agor.world.keys.alice);
        let post = post
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", version);
        let answer = post.json(&body).send().await.unwrap();
        let answer: serde_json::Value = answer.json().await.unwrap();
        answer["result"].clone()
    };
    let old = refused("2025-03-26").await;
    assert!(old.get("structuredContent").is_none(), "{old}");
    let last = old["content"].as_array().unwrap().last().unwrap();
    let error: serde_json::Value = serde_json::from_str(last["text"].as_str().unwrap()).unwrap();
    assert_eq!(error["error"]["code"], "NOT_FOUND");
    assert_eq!(error["error"]["details"]["boardId"], nowhere);
    let new = refused("2025-06-18").await;
    assert_eq!(new["structuredContent"], error);
}

/// A key is bound to no session; the address it is used at, and the environment of `wheelhouse mcp --dialect agor`, can name one.
#[tokio::test]
async fn a2_6_a_key_has_the_session_of_its_address() {
    let agor = Agor::new().await;
    let parent = agor.parent();
    let url = format!("{}/mcp/agor?sessionId={parent}", agor.world.server.url());
    let alice = crate::harness::Mcp::new(&url, &agor.world.keys.alice);
    let current = data(&alice.call("agor_sessions_get_current", json!({})).await);
    assert_eq!(current["session_id"], parent);
    let tasks = data(&alice.call("agor_tasks_list", json!({})).await);
    assert_eq!(tasks["total"], 0);
    let named = json!({ "title": "by its address" });
    let updated = data(&alice.call("agor_sessions_update", named).await);
    assert_eq!(
        (&updated["session_id"], &updated["title"]),
        (&json!(parent), &json!("by its address"))
    );
    // It opens nothing that the key does not, and takes nothing from a session's own token.
    let bob = crate::harness::Mcp::new(&url, &agor.world.keys.bob);
    let refused = bob.call("agor_sessions_get_current", json!({})).await;
    refusal(&refused, "NOT_FOUND");
    let elsewhere = url.replace(&parent, &agor.world.child.id.to_string());
    let own = crate::harness::Mcp::new(&elsewhere, &agor.world.keys.session);
    let current = data(&own.call("agor_sessions_get_current", json!({})).await);
    assert_eq!(current["session_id"], parent);
}

/// The contract has no word for the model of a session.
#[tokio::test]
async fn the_address_names_the_model_of_new_sessions() {
    let agor = Agor::new().await;
    let board = agor.board("work").await;
    let url = format!("{}/mcp/agor?model=echo-2", agor.world.server.url());
    let alice = Mcp::new(&url, &agor.world.keys.alice);
    let new = json!({ "boardId": board, "agent": "echo" });
    let made = data(&alice.call("agor_sessions_create", new).await);
    let native = Mcp::new(
        &format!("{}/mcp", agor.world.server.url()),
        &agor.world.keys.alice,
    );
    let shown = native.call("session_get", json!({ "session": made["entity_id"] }));
    let shown = Mcp::data(&shown.await);
    assert_eq!(shown["model_requested"], "echo-2", "{made}");
}
