//! Bodies that are not messages get the JSON-RPC error that says so.

use serde_json::{Value, json};

use crate::harness::{Server, post, post_modern, post_text};

#[tokio::test]
async fn text_that_is_not_json_is_a_parse_error() {
    let server = Server::start().await;
    for body in [
        "",
        "   ",
        "{",
        "nonsense",
        "{\"jsonrpc\":\"2.0\",}",
        "\u{feff}{}",
    ] {
        let reply = server.send(post_text(body).build()).await;
        reply.assert_error(400, -32700, Value::Null);
    }
    let reply = server
        .send(post_text(&b"{\"a\":\"\xff\"}"[..]).build())
        .await;
    reply.assert_error(400, -32700, Value::Null);
}

#[tokio::test]
async fn json_that_is_not_a_message_is_an_invalid_request() {
    let server = Server::start().await;
    for (body, id) in [
        (json!(1), Value::Null),
        (json!("text"), Value::Null),
        (json!(null), Value::Null),
        (json!({}), Value::Null),
        (
            json!({"jsonrpc": "1.0", "id": 4, "method": "ping"}),
            json!(4),
        ),
        (json!({"id": "x", "method": "ping"}), json!("x")),
        (
            json!({"jsonrpc": "2.0", "id": null, "method": "ping"}),
            Value::Null,
        ),
        (
            json!({"jsonrpc": "2.0", "id": 1.5, "method": "ping"}),
            Value::Null,
        ),
        (
            json!({"jsonrpc": "2.0", "id": [1], "method": "ping"}),
            Value::Null,
        ),
        (json!({"jsonrpc": "2.0", "id": 5, "method": 7}), json!(5)),
        (json!({"jsonrpc": "2.0", "id": 6}), json!(6)),
    ] {
        let reply = server.send(post(&body).build()).await;
        reply.assert_error(400, -32600, id);
    }
}

#[tokio::test]
async fn an_unknown_method_is_refused_in_words() {
    let server = Server::start().await;
    let reply = server.send(post_modern("no/such", json!({})).build()).await;
    reply.assert_error(404, -32601, json!(1));
    assert!(reply.text.contains("no/such"));

    let legacy = json!({"jsonrpc": "2.0", "id": 2, "method": "no/such"});
    let reply = server.send(post(&legacy).agent("a").build()).await;
    reply.assert_error(200, -32601, json!(2));
}

#[tokio::test]
async fn a_removed_method_is_unknown_to_modern_clients() {
    let server = Server::start().await;
    for (method, params) in [
        ("ping", json!({})),
        ("logging/setLevel", json!({"level": "info"})),
        ("resources/subscribe", json!({"uri": "x://y"})),
    ] {
        let reply = server.send(post_modern(method, params).build()).await;
        reply.assert_error(404, -32601, json!(1));
    }
    // Correcting its headers would not help, so they are not what is complained about.
    for method in ["resources/subscribe", "resources/unsubscribe"] {
        let draft = || post_modern(method, json!({"uri": "x://y"}));
        let reply = server.send(draft().without("mcp-name").build()).await;
        reply.assert_error(404, -32601, json!(1));
        let reply = server
            .send(draft().header("mcp-name", "x://z").build())
            .await;
        reply.assert_error(404, -32601, json!(1));
        // A body that is something else is still refused for its headers.
        let reply = server
            .send(draft().header("mcp-method", "ping").build())
            .await;
        assert_eq!(reply.status, 400, "{}", reply.text);
    }
}

#[tokio::test]
async fn a_known_method_with_a_wrong_shape_is_invalid_params() {
    let server = Server::start().await;
    let body = json!({"jsonrpc": "2.0", "id": 3, "method": "tools/call", "params": {"nam": 1}});
    let reply = server.send(post(&body).agent("a").build()).await;
    reply.assert_error(200, -32602, json!(3));
}

#[tokio::test]
async fn headers_that_contradict_the_body_are_refused() {
    let server = Server::start().await;
    let draft = post_modern("tools/call", json!({"name": "whoami", "arguments": {}}));
    let reply = server.send(draft.header("mcp-name", "echo").build()).await;
    reply.assert_error(400, -32020, json!(1));
}
