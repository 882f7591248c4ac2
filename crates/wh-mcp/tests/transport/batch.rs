//! JSON-RPC batches: required in 2025-03-26, refused after it.

use http::StatusCode;
use serde_json::{Value, json};

use crate::harness::{Server, call, initialize, notification, post};

#[tokio::test]
async fn a_batch_is_answered_by_an_array() {
    let server = Server::start().await;
    let session = server.initialize("alice").await;
    let batch = json!([call(2, "whoami"), notification(), call(3, "echo"), 7]);
    let request = post(&batch).session(&session).caller("alice");
    let reply = server.send(request.build()).await;
    assert_eq!(reply.status, StatusCode::OK);
    let answers = reply.json();
    assert_eq!(answers.as_array().unwrap().len(), 3, "{answers}");
    assert_eq!(answers[0]["id"], 2);
    assert_eq!(answers[0]["result"]["content"][0]["text"], "alice");
    assert_eq!(answers[1]["id"], 3);
    assert_eq!(answers[2]["error"]["code"], -32600);
}

#[tokio::test]
async fn a_stateless_caller_may_batch_too() {
    let server = Server::start().await;
    let batch = json!([call(2, "whoami"), call(3, "progress")]);
    let request = post(&batch)
        .agent("bot")
        .header("mcp-protocol-version", "2025-03-26");
    let answers = server.send(request.build()).await.json();
    assert_eq!(answers[0]["result"]["content"][0]["text"], "bot");
    assert_eq!(answers[1]["result"]["content"][0]["text"], "done");
}

#[tokio::test]
async fn notifications_alone_are_accepted_without_an_answer() {
    let server = Server::start().await;
    let session = server.initialize("alice").await;
    let request = post(&json!([notification(), notification()])).session(&session);
    let reply = server.send(request.caller("alice").build()).await;
    assert_eq!(reply.status, StatusCode::ACCEPTED);
    assert_eq!(reply.text, "");
}

#[tokio::test]
async fn empty_long_and_broken_batches_are_refused() {
    let server = Server::start().await;
    let reply = server.send(post(&json!([])).build()).await;
    reply.assert_error(400, -32600, Value::Null);

    let long: Vec<_> = (0..65).map(|id| call(id, "echo")).collect();
    let reply = server.send(post(&json!(long)).agent("bot").build()).await;
    reply.assert_error(400, -32600, Value::Null);

    let reply = server.send(crate::harness::post_text("[{},").build()).await;
    reply.assert_error(400, -32700, Value::Null);
}

#[tokio::test]
async fn newer_revisions_have_no_batches() {
    let server = Server::start().await;
    for version in ["2025-06-18", "2025-11-25", "2026-07-28"] {
        let request = post(&json!([call(2, "echo")])).header("mcp-protocol-version", version);
        let reply = server.send(request.agent("bot").build()).await;
        reply.assert_error(400, -32600, Value::Null);
    }
}

#[tokio::test]
async fn the_handshake_is_no_part_of_a_batch() {
    let server = Server::start().await;
    let reply = server
        .send(post(&json!([initialize("2025-03-26")])).build())
        .await;
    assert_eq!(reply.json()[0]["error"]["code"], -32600);
    assert_eq!(server.session_count(), 0);
}
