//! Bad input: told what is wrong and what to do, and nothing changes.

use reqwest::header::{HeaderMap, HeaderValue};
use serde_json::{Value, json};

use crate::harness::{Mcp, World};

#[tokio::test]
async fn bad_arguments_are_explained_and_change_nothing() {
    let world = World::new().await;
    let alice = world.client(&world.keys.alice);
    let long = "x".repeat(10_000);
    for (tool, arguments, names) in [
        ("board_create", json!({}), "name"),
        ("board_create", json!({ "name": "" }), "name"),
        ("board_create", json!({ "name": 7 }), "string"),
        ("board_create", json!({ "name": long }), "120"),
        ("board_create", json!({ "name": "a\u{202e}b" }), "invisible"),
        (
            "board_create",
            json!({ "name": "x", "colour": "red" }),
            "colour",
        ),
        (
            "board_create",
            json!({ "name": "x", "zones": [{ "name": "z", "color": "red" }] }),
            "#rrggbb",
        ),
        (
            "board_create",
            json!({ "name": "x", "zones": [{ "name": "z", "x": 1.0 }] }),
            "width",
        ),
        (
            "board_create",
            json!({ "name": "x", "idempotency_key": 3 }),
            "idempotency_key",
        ),
        ("board_get", json!({ "board": "../../etc/passwd" }), "UUID"),
        ("board_list", json!({ "cursor": "nonsense" }), "cursor"),
        ("board_list", json!({ "limit": -1 }), "limit"),
        ("session_list", json!({ "states": ["sleeping"] }), "running"),
        (
            "key_create",
            json!({ "name": "x", "scope": "root" }),
            "scope",
        ),
        (
            "key_create",
            json!({ "name": "x", "scope": "full", "expires_at": "tomorrow" }),
            "expires_at",
        ),
        ("repo_add", json!({ "source": "ext::sh -c id" }), "https"),
        (
            "repo_add",
            json!({ "source": "--upload-pack=touch x" }),
            "dash",
        ),
        (
            "repo_add",
            json!({ "source": world.server.home().join("nonexistent") }),
            "directory",
        ),
        ("config_get", json!({ "key": "nope" }), "nope"),
    ] {
        let result = alice.call(tool, arguments.clone()).await;
        assert_eq!(Mcp::code(&result), "INVALID_INPUT", "{tool} {arguments}");
        let line = result["content"][0]["text"].as_str().unwrap();
        assert!(line.contains(names), "{tool} {arguments}: {line}");
    }
    let boards = Mcp::data(&alice.call("board_list", json!({})).await);
    assert_eq!(boards["boards"], json!([]));
    let keys = Mcp::data(&alice.call("key_list", json!({})).await);
    assert_eq!(keys["keys"].as_array().unwrap().len(), 3);
}

#[tokio::test]
async fn bad_messages_get_json_rpc_errors() {
    let world = World::new().await;
    let alice = world.client(&world.keys.alice);
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    for (body, status, code) in [
        ("{", 400, -32700),
        ("null", 400, -32600),
        ("\"text\"", 400, -32600),
        (deep.as_str(), 400, -32700),
        (
            r#"{"jsonrpc":"2.0","id":null,"method":"tools/list"}"#,
            400,
            -32600,
        ),
    ] {
        let mut headers = HeaderMap::new();
        headers.insert("Content-Type", HeaderValue::from_static("application/json"));
        headers.insert("Accept", HeaderValue::from_static("*/*"));
        let response = alice.raw(headers, body.to_owned()).await;
        let shown: String = body.chars().take(40).collect();
        assert_eq!(response.status(), status, "{shown}");
        let answer: Value = response.json().await.unwrap();
        assert_eq!(answer["error"]["code"], code, "{shown}: {answer}");
    }
    let unknown = alice
        .request("tools/call", json!({ "name": "no_such_tool" }))
        .await;
    assert_eq!(unknown["error"]["code"], -32602);
    let response = alice.send("no/such/method", json!({})).await;
    assert_eq!(response.status(), 404);
}
