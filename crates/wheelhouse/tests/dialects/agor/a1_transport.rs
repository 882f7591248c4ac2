//! A1: transport and protocol.

use serde_json::json;

use super::{Agor, at_address, data, refusal};

#[tokio::test]
async fn a1_4_the_methods_of_the_contract_are_answered_at_both_addresses() {
    let agor = Agor::new().await;
    let token = &agor.world.keys.session;
    for path in ["/mcp", "/mcp/agor"] {
        let url = format!("{}{path}?sessionToken={token}", agor.world.server.url());
        for version in ["2025-03-26", "2025-06-18", "2025-11-25"] {
            let hello = json!({
                "protocolVersion": version, "capabilities": {},
                "clientInfo": { "name": "test", "version": "1" },
            });
            let (status, answer) = at_address(&url, "initialize", hello).await;
            assert_eq!(status, 200, "{path}");
            assert_eq!(answer["result"]["protocolVersion"], version);
        }
        let http = reqwest::Client::builder().no_proxy().build().unwrap();
        let told = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        let told = http
            .post(&url)
            .header("accept", "application/json, text/event-stream")
            .json(&told);
        assert_eq!(told.send().await.unwrap().status(), 202);
        let (_, listed) = at_address(&url, "tools/list", json!({})).await;
        assert_eq!(listed["result"]["tools"][0]["name"], "agor_sessions_list");
        let call = json!({ "name": "agor_sessions_get_current", "arguments": {} });
        let (_, called) = at_address(&url, "tools/call", call).await;
        let own = data(&called["result"]);
        assert_eq!(own["session_id"], agor.parent());
    }
}

#[tokio::test]
async fn a1_5_the_server_says_it_is_agor_1_0_0_and_has_tools() {
    let agor = Agor::new().await;
    let url = format!("{}/mcp/agor", agor.world.server.url());
    let url = format!("{url}?sessionToken={}", agor.world.keys.session);
    let hello = json!({
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" },
    });
    let (_, answer) = at_address(&url, "initialize", hello).await;
    let result = &answer["result"];
    assert_eq!(result["serverInfo"]["name"], "agor");
    assert_eq!(result["serverInfo"]["version"], "1.0.0");
    assert!(result["capabilities"]["tools"].is_object());
    let discovered = agor.alice.request("server/discover", json!({})).await;
    assert!(discovered["result"]["capabilities"]["tools"].is_object());
}

#[tokio::test]
async fn a1_8_success_is_indented_json_and_failure_an_error_text() {
    let agor = Agor::new().await;
    let result = agor.alice.call("agor_boards_list", json!({})).await;
    assert!(result.get("structuredContent").is_none());
    let text = result["content"][0]["text"].as_str().unwrap();
    let expected = "{\n  \"total\": 0,\n  \"limit\": 50,\n  \"skip\": 0,\n  \"data\": []\n}";
    assert_eq!(text, expected);
    let nowhere = json!({ "boardId": "00000000-0000-7000-8000-000000000000" });
    let refused = agor.alice.call("agor_boards_get", nowhere).await;
    let text = refused["content"][0]["text"].as_str().unwrap();
    let expected = "Error: Board not found: 00000000-0000-7000-8000-000000000000";
    assert_eq!((text, &refused["isError"]), (expected, &json!(true)));
}

#[tokio::test]
async fn a1_10_unknown_names_are_told_apart() {
    let agor = Agor::new().await;
    for (name, expected) in [
        ("other_sessions_list", "Invalid tool namespace: other"),
        ("session_list", "Invalid tool namespace: session"),
        // Dots were rejected: underscores alone part a name.
        (
            "agor.sessions.list",
            "Invalid tool namespace: agor.sessions.list",
        ),
        ("agor_repos_list", "Service not found: repos"),
        ("agor", "Service not found: "),
        ("agor_sessions_explode", "Method not supported: explode"),
        (
            "agor_sessions_get_previous",
            "Method not supported: get_previous",
        ),
    ] {
        let refused = agor.alice.call(name, json!({})).await;
        assert_eq!(refusal(&refused, "NOT_FOUND"), expected);
        let hint = refused["content"][1]["text"].as_str().unwrap();
        assert!(hint.contains("agor_sessions_list"), "{hint}");
    }
}

#[tokio::test]
async fn a1_12_several_sessions_call_at_the_same_time() {
    let agor = Agor::new().await;
    let calls = (0..20).map(|n| {
        let client = if n % 2 == 0 { &agor.session } else { &agor.bob };
        client.call("agor_sessions_list", json!({}))
    });
    let answers = futures::future::join_all(calls).await;
    for (n, answer) in answers.iter().enumerate() {
        let expected = if n % 2 == 0 { 2 } else { 1 };
        assert_eq!(data(answer)["total"], expected);
    }
}
