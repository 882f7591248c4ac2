//! Plain HTTP tools are understood: what they accept and what they send.

use http::{Method, StatusCode};
use serde_json::{Value, json};

use crate::harness::{Draft, Server, call, draft, initialize, post, post_modern};

fn echo() -> Draft {
    post_modern("tools/call", json!({"name": "echo", "arguments": {}}))
}

#[tokio::test]
async fn clients_that_take_json_are_served() {
    let server = Server::start().await;
    for accept in [
        "*/*",
        "application/json",
        "application/*",
        "text/html, */*;q=0.1",
    ] {
        let reply = server.send(echo().header("accept", accept).build()).await;
        assert_eq!(reply.tool_text(), "{}", "{accept}");
    }
    let reply = server.send(echo().without("accept").build()).await;
    assert_eq!(reply.tool_text(), "{}");
}

#[tokio::test]
async fn clients_that_take_neither_are_refused() {
    let server = Server::start().await;
    for accept in ["text/html", "text/event-stream", "application/json;q=0"] {
        let reply = server.send(echo().header("accept", accept).build()).await;
        reply.assert_error(406, -32600, Value::Null);
    }
}

#[tokio::test]
async fn a_client_that_takes_only_json_gets_the_answer_out_of_the_stream() {
    let server = Server::start().await;
    let params = json!({"name": "progress", "arguments": {}, "_meta": {"progressToken": 1}});
    let request = post_modern("tools/call", params.clone());
    let streamed = server.send(request.build()).await;
    assert!(streamed.is_stream());
    assert!(streamed.text.contains("notifications/progress"));

    let request = post_modern("tools/call", params).header("accept", "application/json");
    let reply = server.send(request.build()).await;
    assert!(!reply.is_stream());
    assert_eq!(reply.tool_text(), "done");
}

#[tokio::test]
async fn a_legacy_session_works_with_json_alone() {
    let server = Server::start().await;
    let request = post(&initialize("2025-06-18")).header("accept", "application/json");
    let reply = server.send(request.build()).await;
    assert_eq!(reply.json()["result"]["protocolVersion"], "2025-06-18");
    let session = reply.headers["mcp-session-id"].to_str().unwrap().to_owned();

    let request = post(&call(2, "echo"))
        .session(&session)
        .header("accept", "application/json");
    let reply = server.send(request.build()).await;
    assert!(!reply.is_stream());
    assert_eq!(reply.tool_text(), "{}");
}

#[tokio::test]
async fn a_body_of_another_type_is_refused() {
    let server = Server::start().await;
    for kind in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/jsonp",
    ] {
        let reply = server
            .send(echo().header("content-type", kind).build())
            .await;
        reply.assert_error(415, -32600, Value::Null);
    }
    let reply = server.send(echo().without("content-type").build()).await;
    reply.assert_error(415, -32600, Value::Null);
}

#[tokio::test]
async fn the_content_type_may_be_spelled_freely() {
    let server = Server::start().await;
    for kind in ["application/json; charset=utf-8", "Application/JSON"] {
        let reply = server
            .send(echo().header("content-type", kind).build())
            .await;
        assert_eq!(reply.tool_text(), "{}", "{kind}");
    }
}

#[tokio::test]
async fn other_methods_are_not_allowed() {
    let server = Server::start().await;
    let reply = server.send(draft(Method::PUT, "").build()).await;
    reply.assert_error(405, -32600, Value::Null);
    assert!(reply.headers.contains_key("allow"));

    let request = draft(Method::GET, "")
        .header("accept", "text/event-stream")
        .header("mcp-protocol-version", "2026-07-28");
    let reply = server.send(request.build()).await;
    assert_eq!(reply.status, StatusCode::METHOD_NOT_ALLOWED);
}
