//! C2: transport.

use reqwest::header::{HeaderMap, HeaderValue};
use serde_json::{Value, json};

use super::{ADDRESSES, Abode, data};
use crate::harness::Mcp;

const LEGACY: [&str; 3] = ["2025-03-26", "2025-06-18", "2025-11-25"];

async fn legacy(client: &Mcp, version: &str, method: &str, params: Value) -> (HeaderMap, Value) {
    let mut headers = HeaderMap::new();
    for (name, value) in [
        ("accept", "application/json, text/event-stream"),
        ("content-type", "application/json"),
        ("mcp-protocol-version", version),
    ] {
        headers.insert(name, HeaderValue::from_str(value).unwrap());
    }
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let response = client.raw(headers, body.to_string()).await;
    assert_eq!(response.status(), 200, "{method} {version}");
    let headers = response.headers().clone();
    (headers, response.json().await.unwrap())
}

#[tokio::test]
async fn c2_1_every_request_stands_alone_at_both_addresses_in_every_revision() {
    let abode = Abode::new().await;
    for address in ADDRESSES {
        let client = abode.client(address, &abode.key);
        for version in LEGACY {
            let hello = json!({
                "protocolVersion": version, "capabilities": {},
                "clientInfo": { "name": "test", "version": "1" },
            });
            let (headers, answer) = legacy(&client, version, "initialize", hello).await;
            assert!(!headers.contains_key("mcp-session-id"), "{version}");
            assert_eq!(answer["result"]["protocolVersion"], version);
            assert_eq!(answer["result"]["serverInfo"]["name"], "clawed-abode");
            // Without the handshake, and without a session.
            let call = json!({ "name": "list_sessions", "arguments": {} });
            let (_, answer) = legacy(&client, version, "tools/call", call).await;
            assert_eq!(answer["result"]["content"][0]["text"], "[]", "{version}");
        }
        assert_eq!(
            data(&client.call("list_sessions", json!({})).await),
            json!([])
        );
        let discovered = client.request("server/discover", json!({})).await;
        assert!(discovered["result"]["capabilities"]["tools"].is_object());
    }
}

#[tokio::test]
async fn c2_1_every_request_needs_a_key_and_ours_are_taken_too() {
    let abode = Abode::new().await;
    let wrong = format!("ca_full_{}", "0".repeat(32));
    for address in ADDRESSES {
        for key in ["", &wrong, "nonsense"] {
            let answer = abode
                .client(address, key)
                .send("tools/list", json!({}))
                .await;
            assert_eq!(answer.status(), 401, "{key:?}");
            assert!(answer.headers().contains_key("www-authenticate"));
        }
        let read = abode.client(address, &abode.server.key("read"));
        assert_eq!(
            data(&read.call("list_sessions", json!({})).await),
            json!([])
        );
        let new = json!({ "name": "x", "repoFullName": "team/app", "branch": "main" });
        assert_eq!(
            Mcp::code(&read.call("create_session", new).await),
            "FORBIDDEN"
        );
    }
    let ours = Mcp::new(&abode.server.about().mcp_url, &abode.key);
    let refused = ours.send("tools/list", json!({})).await;
    assert_eq!(refused.status(), 403);
    let refused: Value = refused.json().await.unwrap();
    let hint = refused["error"]["hint"].as_str().unwrap();
    assert!(hint.contains("/mcp/clawed-abode"), "{hint}");
}
