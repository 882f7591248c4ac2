//! Callers marked stateless: no session in any revision, so none that a restart could lose.

use http::{Method, StatusCode};
use serde_json::Value;

use crate::harness::{Server, call, draft, initialize, notification, post};

#[tokio::test]
async fn the_legacy_handshake_opens_no_session() {
    let server = Server::start().await;
    for version in ["2025-03-26", "2025-06-18", "2025-11-25"] {
        let reply = server
            .send(post(&initialize(version)).agent("bot").build())
            .await;
        assert_eq!(reply.status, StatusCode::OK);
        assert!(!reply.headers.contains_key("mcp-session-id"));
        assert_eq!(reply.json()["result"]["protocolVersion"], version);

        let request = post(&notification())
            .agent("bot")
            .header("mcp-protocol-version", version);
        assert_eq!(
            server.send(request.build()).await.status,
            StatusCode::ACCEPTED
        );

        let request = post(&call(2, "whoami"))
            .agent("bot")
            .header("mcp-protocol-version", version);
        assert_eq!(server.send(request.build()).await.tool_text(), "bot");
    }
    assert_eq!(server.session_count(), 0);
}

#[tokio::test]
async fn a_session_id_from_before_is_no_obstacle() {
    let server = Server::start().await;
    let request = post(&call(2, "whoami"))
        .agent("bot")
        .session("from-before-the-restart");
    assert_eq!(server.send(request.build()).await.tool_text(), "bot");
}

#[tokio::test]
async fn there_is_no_stream_to_open_and_no_session_to_end() {
    let server = Server::start().await;
    for method in [Method::GET, Method::DELETE] {
        let request = draft(method, "")
            .header("accept", "text/event-stream")
            .agent("bot");
        let reply = server.send(request.build()).await;
        reply.assert_error(405, -32600, Value::Null);
        assert_eq!(reply.headers["allow"], "POST");
    }
}
