//! Progress of long calls.

use reqwest::header::{HeaderMap, HeaderValue};
use serde_json::{Value, json};

use crate::harness::{MODERN, World};

/// Calls a tool with a progress token and returns every message of the answer.
async fn messages(world: &World, tool: &str, arguments: Value, token: &Value) -> Vec<Value> {
    let mut headers = HeaderMap::new();
    for (name, value) in [
        ("accept", "application/json, text/event-stream"),
        ("content-type", "application/json"),
        ("mcp-protocol-version", MODERN),
        ("mcp-method", "tools/call"),
        ("mcp-name", tool),
    ] {
        headers.insert(name, HeaderValue::from_str(value).unwrap());
    }
    let meta = json!({
        "progressToken": token,
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
    });
    let body = json!({
        "jsonrpc": "2.0", "id": 7, "method": "tools/call",
        "params": { "name": tool, "arguments": arguments, "_meta": meta },
    });
    let client = world.client(&world.keys.alice);
    let answer = client.raw(headers, body.to_string()).await;
    let text = answer.text().await.unwrap();
    let data = text.lines().filter_map(|line| line.strip_prefix("data:"));
    let data = data.map(str::trim).filter(|data| !data.is_empty());
    data.map(|data| serde_json::from_str(data).unwrap())
        .collect()
}

#[tokio::test]
async fn a_long_call_is_told_to_go_on_until_it_answers() {
    let world = World::new().await;
    let session = world.parent.id.to_string();
    let prompt = json!({ "session": session, "prompt": "sleep 6\nsay awake", "wait": 60 });
    let token = json!("slow");
    let told = messages(&world, "session_prompt", prompt, &token).await;
    let (answer, signs) = told.split_last().unwrap();
    assert_eq!(answer["id"], 7, "{told:?}");
    assert_eq!(
        answer["result"]["structuredContent"]["turn"]["state"],
        "completed"
    );
    assert!(!signs.is_empty(), "{told:?}");
    let mut last = -1.0;
    for sign in signs {
        assert_eq!(sign["method"], "notifications/progress");
        assert_eq!(sign["params"]["progressToken"], token);
        let progress = sign["params"]["progress"].as_f64().unwrap();
        assert!(progress > last, "{told:?}");
        last = progress;
    }
    // The same of a wait.
    let busy = json!({ "session": session, "prompt": "sleep 6" });
    let client = world.client(&world.keys.alice);
    crate::harness::Mcp::data(&client.call("session_prompt", busy).await);
    let wait = json!({ "sessions": [session], "timeout": 60 });
    let token = json!(41);
    let told = messages(&world, "session_wait", wait, &token).await;
    let of_wait = told
        .iter()
        .filter(|it| it["params"]["progressToken"] == token);
    assert!(of_wait.count() >= 1, "{told:?}");
    assert_eq!(
        told.last().unwrap()["result"]["structuredContent"]["done"],
        true
    );
}
