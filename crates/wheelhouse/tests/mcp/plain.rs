//! A plain call takes a shorter way through the server. Nobody can tell which way a call went.

use reqwest::{
    StatusCode,
    header::{HeaderMap, HeaderValue},
};
use serde_json::{Value, json};

use crate::harness::{MODERN, Mcp, World, board};

/// What a client sees of an answer: status, type and bytes.
type Seen = (StatusCode, Option<HeaderValue>, String);

async fn seen(client: &Mcp, headers: &HeaderMap, body: &Value) -> Seen {
    let response = client.raw(headers.clone(), body.to_string()).await;
    let kind = response.headers().get("content-type").cloned();
    (response.status(), kind, response.text().await.unwrap())
}

fn headers(tool: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    let mut set = |name: &'static str, value: &str| {
        headers.insert(name, HeaderValue::from_str(value).unwrap());
    };
    set("accept", "application/json, text/event-stream");
    set("content-type", "application/json");
    set("mcp-protocol-version", MODERN);
    set("mcp-method", "tools/call");
    set("mcp-name", tool);
    headers
}

fn message(id: Value, tool: &str, arguments: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {
        "name": tool,
        "arguments": arguments,
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientCapabilities": { "elicitation": {} },
            "io.modelcontextprotocol/clientInfo": { "name": "test", "title": "A test", "version": "1" },
        },
    } })
}

/// Adds what no server has to look at, but makes the call anything but plain.
fn not_plain(mut body: Value) -> Value {
    body["params"]["_meta"]["example.org/note"] = json!("x");
    body
}

#[tokio::test]
async fn both_ways_answer_in_the_same_bytes() {
    let world = World::new().await;
    let id = board(&world.client(&world.keys.alice), "Zo\u{eb}'s \"board\"").await;
    let calls = [
        ("board_get", json!({ "board": id })),
        ("board_get", json!({ "board": "00000000" })),
        ("board_get", json!({ "board": 7 })),
        ("board_get", json!({})),
        ("board_list", json!({ "limit": 1 })),
        ("session_list", json!({})),
        (
            "session_get",
            json!({ "session": world.parent.id.to_string() }),
        ),
        ("key_create", json!({ "name": "k", "scope": "none" })),
        ("tool_search", json!({ "query": "board" })),
    ];
    for key in [
        &world.keys.alice,
        &world.keys.session,
        &world.keys.alice_read,
    ] {
        let client = world.client(key);
        for (tool, arguments) in &calls {
            for id in [json!(7), json!("seven"), json!(i64::MAX)] {
                let body = message(id, tool, arguments.clone());
                let short = seen(&client, &headers(tool), &body).await;
                let long = seen(&client, &headers(tool), &not_plain(body)).await;
                assert_eq!(short, long, "{tool} {arguments}");
                assert_eq!(short.0, StatusCode::OK);
            }
        }
    }
}

#[tokio::test]
async fn what_is_wrong_is_refused_as_always() {
    let world = World::new().await;
    let client = world.client(&world.keys.alice);
    let good = message(json!(1), "board_list", json!({}));
    let mut wrong = Vec::new();
    for (header, value) in [
        ("mcp-name", "board_get"),
        ("mcp-method", "tools/list"),
        ("mcp-protocol-version", "2099-01-01"),
    ] {
        let mut other = headers("board_list");
        other.insert(header, HeaderValue::from_static(value));
        wrong.push((other, good.clone()));
        let mut without = headers("board_list");
        without.remove(header);
        wrong.push((without, good.clone()));
        let mut twice = headers("board_list");
        twice.insert(header, HeaderValue::from_static(value));
        twice.append(header, headers("board_list")[header].clone());
        wrong.push((twice, good.clone()));
    }
    for (pointer, value) in [
        ("/jsonrpc", json!("1.0")),
        ("/id", json!(1.5)),
        ("/id", Value::Null),
        ("/params/name", json!("no_such_tool")),
        ("/params/arguments", json!([1])),
        (
            "/params/_meta/io.modelcontextprotocol~1protocolVersion",
            json!("2025-11-25"),
        ),
        (
            "/params/_meta/io.modelcontextprotocol~1clientCapabilities",
            json!(3),
        ),
    ] {
        let mut body = good.clone();
        *body.pointer_mut(pointer).unwrap() = value;
        wrong.push((headers("board_list"), body));
    }
    for (headers, body) in wrong {
        let short = seen(&client, &headers, &body).await;
        let long = seen(&client, &headers, &not_plain(body.clone())).await;
        assert_eq!(short, long, "{headers:?} {body}");
        let answer: Value = serde_json::from_str(&short.2).unwrap();
        assert!(
            answer["error"]["message"].is_string(),
            "{headers:?} {body} {answer}"
        );
    }
}
