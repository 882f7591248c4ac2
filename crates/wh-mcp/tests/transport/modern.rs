//! Revision 2026-07-28: self-contained requests, JSON answers, and the server's name on each of them.

use http::StatusCode;
use serde_json::json;

use crate::harness::{Server, call, post, post_modern};

const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";

#[tokio::test]
async fn every_result_names_the_server() {
    let server = Server::start().await;
    for (method, params) in [
        ("server/discover", json!({})),
        ("tools/list", json!({})),
        ("tools/call", json!({"name": "echo", "arguments": {}})),
        ("tasks/cancel", json!({"taskId": "t"})),
        ("prompts/list", json!({})),
        ("resources/list", json!({})),
        ("resources/templates/list", json!({})),
        (
            "completion/complete",
            json!({"ref": {"type": "ref/prompt", "name": "p"}, "argument": {"name": "a", "value": ""}}),
        ),
    ] {
        let reply = server.send(post_modern(method, params).build()).await;
        assert_eq!(reply.status, StatusCode::OK, "{reply:?}");
        assert!(!reply.is_stream());
        let meta = &reply.json()["result"]["_meta"];
        assert_eq!(meta[SERVER_INFO]["name"], "harness", "{method}: {meta}");
    }
}

#[tokio::test]
async fn legacy_results_keep_their_shape() {
    let server = Server::start().await;
    let reply = server
        .send(post(&call(1, "echo")).agent("bot").build())
        .await;
    assert_eq!(reply.tool_text(), "{}");
    assert!(reply.json()["result"].get("_meta").is_none());
}

#[tokio::test]
async fn discovery_lists_exactly_the_supported_revisions() {
    let server = Server::start().await;
    let reply = server
        .send(post_modern("server/discover", json!({})).build())
        .await;
    let versions = reply.json()["result"]["supportedVersions"].clone();
    assert_eq!(
        versions,
        json!(["2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28"])
    );
}

#[tokio::test]
async fn the_oldest_revision_is_answered_with_one_we_support() {
    let server = Server::start().await;
    for caller in ["x-caller", "x-agent"] {
        let request = post(&crate::harness::initialize("2024-11-05")).header(caller, "a");
        let reply = server.send(request.build()).await;
        assert_eq!(reply.message()["result"]["protocolVersion"], "2025-11-25");
    }
}

#[tokio::test]
async fn the_caller_reaches_the_handler() {
    let server = Server::start().await;
    let whoami = || post_modern("tools/call", json!({"name": "whoami", "arguments": {}}));
    assert_eq!(
        server
            .send(whoami().caller("alice").build())
            .await
            .tool_text(),
        "alice"
    );
    assert_eq!(
        server.send(whoami().agent("bot").build()).await.tool_text(),
        "bot"
    );
    assert_eq!(server.send(whoami().build()).await.tool_text(), "nobody");
}

#[tokio::test]
async fn a_stray_session_id_is_ignored() {
    let server = Server::start().await;
    let request = post_modern("tools/call", json!({"name": "echo", "arguments": {}}));
    let reply = server.send(request.session("gone").build()).await;
    assert_eq!(reply.tool_text(), "{}");
}

#[tokio::test]
async fn equal_ids_of_different_callers_do_not_meet() {
    let server = Server::start().await;
    let callers: Vec<_> = (0..32).map(|index| format!("caller-{index}")).collect();
    let calls = callers.iter().map(|caller| {
        let params = json!({"name": "whoami", "arguments": {}});
        server.send(post_modern("tools/call", params).caller(caller).build())
    });
    let replies = futures::future::join_all(calls).await;
    for (caller, reply) in callers.iter().zip(replies) {
        assert_eq!(&reply.tool_text(), caller);
    }
}
