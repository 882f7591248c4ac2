//! A2: who calls, and from where.

use serde_json::json;

use super::{Agor, at_address, data, refusal};

#[tokio::test]
async fn a2_4_the_current_session_is_the_tokens_and_never_an_argument() {
    let agor = Agor::new().await;
    let own = agor
        .session
        .call("agor_sessions_get_current", json!({}))
        .await;
    assert_eq!(data(&own)["session_id"], agor.parent());
    let other = json!({ "sessionId": agor.world.child.id.to_string() });
    let refused = agor
        .session
        .call("agor_sessions_get_current", other.clone())
        .await;
    refusal(&refused, "INVALID_INPUT");
    // Nor on the address.
    let url = format!("{}/mcp", agor.world.server.url());
    let url = format!(
        "{url}?sessionId={}&sessionToken={}",
        agor.world.child.id, agor.world.keys.session
    );
    let call = json!({ "name": "agor_sessions_get_current", "arguments": {} });
    let (_, answer) = at_address(&url, "tools/call", call).await;
    assert_eq!(data(&answer["result"])["session_id"], agor.parent());
    // A key has no session.
    let refused = agor
        .alice
        .call("agor_sessions_get_current", json!({}))
        .await;
    refusal(&refused, "FORBIDDEN");
    let hint = refused["content"][1]["text"].as_str().unwrap();
    assert!(hint.contains("agor_sessions_get {\"sessionId\""), "{hint}");
}

#[tokio::test]
async fn a2_4_a_wrong_token_opens_neither_address_and_the_header_comes_first() {
    let agor = Agor::new().await;
    let wrong = format!("wh_sess_{}", "0".repeat(32));
    for path in ["/mcp", "/mcp/agor"] {
        let base = format!("{}{path}", agor.world.server.url());
        for token in ["", "nonsense", &wrong] {
            let url = format!("{base}?sessionToken={token}");
            let (status, _) = at_address(&url, "tools/list", json!({})).await;
            assert_eq!(status, 401, "{url}");
        }
        // A key is not for addresses, which are logged and kept in histories.
        for key in [&agor.world.keys.alice, &agor.world.keys.alice_client] {
            let url = format!("{base}?sessionToken={key}");
            let (status, answer) = at_address(&url, "tools/list", json!({})).await;
            assert_eq!(status, 403, "{answer}");
        }
        let twice = format!(
            "{base}?sessionToken={0}&sessionToken={0}",
            agor.world.keys.alice
        );
        let (status, _) = at_address(&twice, "tools/list", json!({})).await;
        assert_eq!(status, 401);
    }
    // Without the parameter `/mcp` is ours.
    let ours = agor.world.client(&agor.world.keys.session);
    let listed = ours.request("tools/list", json!({})).await;
    let names = listed["result"]["tools"].to_string();
    assert!(names.contains("session_current") && !names.contains("agor_"));
}

#[tokio::test]
async fn a2_4_the_token_of_an_address_is_nowhere_in_the_log() {
    let agor = Agor::new().await;
    let wrong = format!("wh_sess_{}", "ab".repeat(16));
    for token in [&agor.world.keys.session, &wrong] {
        for path in ["/mcp", "/mcp/agor", "/mcp/nowhere"] {
            let base = format!("{}{path}", agor.world.server.url());
            let url = format!("{base}?sessionToken={token}");
            let call = json!({ "name": "agor_sessions_explode", "arguments": {} });
            at_address(&url, "tools/call", call).await;
        }
        let log = agor.world.server.home().join("server.log");
        let log = std::fs::read_to_string(log).unwrap();
        assert!(!log.contains(token.as_str()));
    }
}

#[tokio::test]
async fn a2_10_only_from_sessions_that_the_caller_sees() {
    let agor = Agor::new().await;
    let nowhere = "00000000-0000-7000-8000-000000000000".to_owned();
    let bobs = agor.world.bobs.id.to_string();
    for client in [&agor.alice, &agor.session] {
        for parent in [&nowhere, &bobs] {
            let new = json!({ "parentId": parent, "prompt": "say hello" });
            let refused = client.call("agor_sessions_spawn", new).await;
            let message = refusal(&refused, "NOT_FOUND");
            assert_eq!(message, format!("Session not found: {parent}"));
            let details = &refused["structuredContent"]["error"]["details"];
            assert_eq!(details, &json!({ "parentId": parent }));
        }
    }
    // What is made belongs to the same user.
    let spawned = agor.spawn(&agor.parent(), "say hello").await;
    let get = json!({ "sessionId": spawned });
    let refused = agor.bob.call("agor_sessions_get", get).await;
    let expected = format!("Session not found: {spawned}");
    assert_eq!(refusal(&refused, "NOT_FOUND"), expected);
    agor.until(&spawned, "completed").await;
    let tasks = json!({ "sessionId": spawned });
    let tasks = data(&agor.alice.call("agor_tasks_list", tasks).await);
    let task = json!({ "taskId": tasks["data"][0]["task_id"] });
    let task = data(&agor.alice.call("agor_tasks_get", task).await);
    assert_eq!(task["created_by"], agor.world.alice.id.to_string());
}

#[tokio::test]
async fn a2_11_the_permission_table_decides_what_is_offered_and_done() {
    let agor = Agor::new().await;
    let listed = agor.session.request("tools/list", json!({})).await;
    let listed = listed["result"]["tools"].as_array().unwrap().clone();
    let has = |name: &str| listed.iter().any(|tool| tool["name"] == name);
    assert!(has("agor_sessions_spawn") && has("agor_sessions_get_current"));
    assert!(!has("agor_sessions_create") && !has("agor_users_create"));
    let owner = agor.world.alice.id.to_string();
    let new = json!({ "name": "b", "ownerId": owner });
    let refused = agor.session.call("agor_boards_create", new).await;
    refusal(&refused, "FORBIDDEN");
    let url = format!("{}/mcp/agor", agor.world.server.url());
    let read = crate::harness::Mcp::new(&url, &agor.world.keys.alice_read);
    let new = json!({ "parentId": agor.parent(), "prompt": "say hello" });
    refusal(&read.call("agor_sessions_spawn", new).await, "FORBIDDEN");
}

#[tokio::test]
async fn a2_12_short_ids_are_taken_wherever_ids_are() {
    let agor = Agor::new().await;
    let (id, other) = (agor.parent(), agor.world.child.id.to_string());
    // Both may be of one millisecond, and then begin alike.
    let alike = id.bytes().zip(other.bytes()).take_while(|(a, b)| a == b);
    let (first, last) = (&id[..=alike.count()], &id[id.len() - 8..]);
    for short in [first, last] {
        assert_eq!(agor.get(short).await["session_id"], id, "{short}");
        let tasks = json!({ "sessionId": short });
        data(&agor.alice.call("agor_tasks_list", tasks).await);
        let family = json!({ "sessionId": short });
        data(&agor.alice.call("agor_sessions_genealogy", family).await);
        let title = json!({ "sessionId": short, "title": "short" });
        data(&agor.alice.call("agor_sessions_update", title).await);
    }
    let board = agor.board("short").await;
    let get = json!({ "boardId": board[board.len() - 8..] });
    let got = data(&agor.alice.call("agor_boards_get", get).await);
    assert_eq!(got["board_id"], board);
}
