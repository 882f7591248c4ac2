//! Legacy sessions: whose they are, how they end, and how many there may be.

use std::time::Duration;

use bytes::Bytes;
use http::{Method, StatusCode};
use http_body::Body;
use http_body_util::BodyExt;
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;
use wh_mcp::transport::{McpService, TransportConfig};

use crate::harness::{Draft, Handler, Server, call, draft, initialize, post};

fn listen(session: &str, caller: &str) -> Draft {
    draft(Method::GET, "")
        .header("accept", "text/event-stream")
        .session(session)
        .caller(caller)
}

fn end(session: &str, caller: &str) -> Draft {
    draft(Method::DELETE, "").session(session).caller(caller)
}

fn config(sessions: usize, per_caller: usize) -> TransportConfig {
    TransportConfig {
        legacy_sessions_max: sessions,
        legacy_sessions_per_caller_max: per_caller,
        ..TransportConfig::default()
    }
}

#[tokio::test]
async fn a_session_serves_its_caller() {
    let server = Server::start().await;
    let session = server.initialize("alice").await;
    let reply = server
        .send(
            post(&call(2, "whoami"))
                .session(&session)
                .caller("alice")
                .build(),
        )
        .await;
    assert_eq!(reply.tool_text(), "alice");
    assert_eq!(server.session_count(), 1);
}

#[tokio::test]
async fn somebody_elses_session_looks_like_none_at_all() {
    let server = Server::start().await;
    let session = server.initialize("alice").await;
    for make in [
        |session: &str| post(&call(2, "whoami")).session(session).caller("mallory"),
        |session: &str| listen(session, "mallory"),
        |session: &str| end(session, "mallory"),
        |session: &str| {
            post(&initialize("2025-11-25"))
                .session(session)
                .caller("mallory")
        },
    ] {
        let foreign = server.send(make(&session).build()).await;
        let unknown = server.send(make("no-such-session").build()).await;
        foreign.assert_error(404, -32001, Value::Null);
        assert_eq!(foreign.text, unknown.text);
        assert_eq!(foreign.status, unknown.status);
    }
    // Nothing of that reached the session.
    let reply = server
        .send(
            post(&call(3, "whoami"))
                .session(&session)
                .caller("alice")
                .build(),
        )
        .await;
    assert_eq!(reply.tool_text(), "alice");
}

#[tokio::test]
async fn a_handshake_with_a_modern_header_cannot_enter_a_foreign_session() {
    let server = Server::start().await;
    let session = server.initialize("alice").await;
    let request = post(&initialize("2026-07-28"))
        .header("mcp-protocol-version", "2026-07-28")
        .session(&session)
        .caller("mallory");
    let reply = server.send(request.build()).await;
    reply.assert_error(404, -32001, Value::Null);
}

#[tokio::test]
async fn a_session_ends_when_its_caller_says_so() {
    let server = Server::start().await;
    let session = server.initialize("alice").await;
    let reply = server.send(end(&session, "alice").build()).await;
    assert_eq!(reply.status, StatusCode::NO_CONTENT);
    assert_eq!(server.session_count(), 0);
    let reply = server
        .send(
            post(&call(2, "echo"))
                .session(&session)
                .caller("alice")
                .build(),
        )
        .await;
    reply.assert_error(404, -32001, Value::Null);
}

#[tokio::test]
async fn a_legacy_request_needs_its_session() {
    let server = Server::start().await;
    server.initialize("alice").await;
    let reply = server
        .send(post(&call(2, "echo")).caller("alice").build())
        .await;
    reply.assert_error(400, -32600, json!(2));
}

#[tokio::test]
async fn the_least_recently_used_session_makes_room() {
    let server = Server::with(config(2, 2)).await;
    let first = server.initialize("alice").await;
    let second = server.initialize("bob").await;
    let use_first = post(&call(2, "echo")).session(&first).caller("alice");
    server.send(use_first.build()).await;
    let third = server.initialize("carol").await;
    assert_eq!(server.session_count(), 2);
    for (session, caller, status) in [
        (&first, "alice", 200),
        (&second, "bob", 404),
        (&third, "carol", 200),
    ] {
        let reply = server
            .send(
                post(&call(3, "echo"))
                    .session(session)
                    .caller(caller)
                    .build(),
            )
            .await;
        assert_eq!(reply.status.as_u16(), status, "{caller}");
    }
}

#[tokio::test]
async fn one_caller_pushes_out_only_its_own() {
    let server = Server::with(config(10, 2)).await;
    let other = server.initialize("bob").await;
    for _ in 0..5 {
        server.initialize("alice").await;
    }
    assert_eq!(server.session_count(), 3);
    let reply = server
        .send(
            post(&call(2, "whoami"))
                .session(&other)
                .caller("bob")
                .build(),
        )
        .await;
    assert_eq!(reply.tool_text(), "bob");
}

#[tokio::test]
async fn sessions_in_use_are_kept_and_the_newcomer_waits() {
    let server = Server::with(config(1, 1)).await;
    let session = server.initialize("alice").await;
    let stream = server.open(listen(&session, "alice").build()).await;
    assert_eq!(stream.status(), StatusCode::OK);

    let newcomer = || post(&initialize("2025-11-25")).caller("bob").build();
    let reply = server.send(newcomer()).await;
    reply.assert_error(503, -32000, Value::Null);
    assert!(reply.headers.contains_key("retry-after"));
    assert_eq!(server.session_count(), 1);

    let reply = server
        .send(
            post(&call(2, "echo"))
                .session(&session)
                .caller("alice")
                .build(),
        )
        .await;
    assert_eq!(reply.tool_text(), "{}");
    drop(stream);
}

#[tokio::test(start_paused = true)]
async fn an_unused_session_ends_after_its_idle_time() {
    let idle = Duration::from_secs(60 * 60);
    let service = McpService::new(
        Handler::default(),
        TransportConfig {
            legacy_session_idle: idle,
            ..TransportConfig::default()
        },
    );
    let reply = service
        .clone()
        .oneshot(post(&initialize("2025-11-25")).build())
        .await
        .unwrap();
    assert!(reply.headers().contains_key("mcp-session-id"));
    drop(reply);
    // Far beyond the five minutes that rmcp would have given it. Time is paused, so this takes none.
    tokio::time::sleep(idle / 2).await;
    assert_eq!(service.legacy_session_count(), 1);
    tokio::time::sleep(idle).await;
    assert_eq!(service.legacy_session_count(), 0);
}

#[tokio::test]
async fn all_sessions_can_be_closed_at_once() {
    let server = Server::start().await;
    for caller in ["alice", "bob"] {
        server.initialize(caller).await;
    }
    server.close_sessions().await;
    assert_eq!(server.session_count(), 0);
}

#[tokio::test]
async fn shutdown_ends_open_streams_and_refuses_new_requests() {
    let shutdown = CancellationToken::new();
    let server = Server::with(TransportConfig {
        shutdown: shutdown.clone(),
        ..TransportConfig::default()
    })
    .await;
    let session = server.initialize("alice").await;
    let stream = server.open(listen(&session, "alice").build()).await;
    shutdown.cancel();
    // Reading to the end succeeds only because there is one.
    stream.into_body().collect().await.unwrap();
    let reply = server
        .send(post(&call(2, "echo")).agent("bot").build())
        .await;
    reply.assert_error(503, -32000, Value::Null);
}

/// Reads the id of a stream's first event.
async fn first_event_id<B>(stream: &mut B) -> String
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: std::fmt::Debug,
{
    let first = stream.frame().await.unwrap().unwrap();
    let first = String::from_utf8(first.into_data().unwrap().to_vec()).unwrap();
    let id = first.lines().find_map(|line| line.strip_prefix("id:"));
    id.unwrap().trim().to_owned()
}

#[tokio::test]
async fn a_lost_stream_is_rejoined_while_the_call_runs() {
    let server = Server::start().await;
    let session = server.initialize("alice").await;
    let request = post(&call(2, "wait")).session(&session).caller("alice");
    let mut stream = server.open(request.build()).await.into_body();
    let event = first_event_id(&mut stream).await;
    drop(stream);
    let request = listen(&session, "alice").header("last-event-id", event);
    let rejoined = server.open(request.build()).await;
    server.handler.release.notify_one();
    let text = rejoined.into_body().collect().await.unwrap().to_bytes();
    assert!(String::from_utf8_lossy(&text).contains("waited"));
}

/// Without a socket between, because the service must have noticed the loss before the answer comes.
#[tokio::test]
async fn an_answer_that_nobody_heard_is_kept_for_the_client() {
    let handler = Handler::default();
    let service = McpService::new(handler.clone(), TransportConfig::default());
    let send = |draft: Draft| service.clone().oneshot(draft.build());
    let opened = send(post(&initialize("2025-11-25"))).await.unwrap();
    let session = opened.headers()["mcp-session-id"]
        .to_str()
        .unwrap()
        .to_owned();
    opened.into_body().collect().await.unwrap();

    let request = post(&call(2, "wait")).session(&session);
    let mut stream = send(request).await.unwrap().into_body();
    let event = first_event_id(&mut stream).await;
    drop(stream);
    handler.release.notify_one();
    handler.released.notified().await;
    // The session sends its answers in order, so that of a later call means that the lost one was sent.
    let request = post(&call(3, "echo")).session(&session);
    let later = send(request).await.unwrap().into_body().collect().await;
    assert!(!later.unwrap().to_bytes().is_empty());

    let resume = || {
        let draft = draft(Method::GET, "").header("accept", "text/event-stream");
        send(draft.session(&session).header("last-event-id", &event))
    };
    let text = resume()
        .await
        .unwrap()
        .into_body()
        .collect()
        .await
        .unwrap()
        .to_bytes();
    assert!(
        String::from_utf8_lossy(&text).contains("waited"),
        "{text:?}"
    );
    let text = resume()
        .await
        .unwrap()
        .into_body()
        .collect()
        .await
        .unwrap()
        .to_bytes();
    assert!(
        !String::from_utf8_lossy(&text).contains("waited"),
        "{text:?}"
    );
}
