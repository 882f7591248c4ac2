//! Input that cannot be used: each kind has its status, all have one shape, and nothing changes.

use axum::body::Body;
use futures::{StreamExt, stream};
use http::Method;
use serde_json::{Value, json};

use crate::{client::Answer, harness::TestServer};

async fn post_text(server: &TestServer, path: &str, body: impl Into<Body>) -> Answer {
    let call = server.post(path).key(&server.admin);
    let call = call.header("content-type", "application/json");
    call.body(body).send().await
}

fn field(answer: &Answer) -> Value {
    answer.json()["error"]["details"]["field"].clone()
}

#[tokio::test]
async fn bad_bodies_are_named() {
    let server = TestServer::start().await;
    let deep = format!("{{\"name\":{}1{}}}", "[".repeat(64), "]".repeat(64));
    for (body, named) in [
        ("", json!("name")),
        ("{", Value::Null),
        ("[]", Value::Null),
        ("\"x\"", Value::Null),
        (r#"{"name":"a","name":"b"}"#, json!("name")),
        (r#"{"name":"a","colour":1}"#, json!("colour")),
        (r#"{"name":7}"#, json!("name")),
        (r#"{"name":""}"#, json!("name")),
        (
            r#"{"name":"a","zones":[{"name":"z","x":"1"}]}"#,
            json!("zones[0].x"),
        ),
        (
            r#"{"name":"a","zones":[{"nome":"z"}]}"#,
            json!("zones[0].nome"),
        ),
        (r#"{"name":"\ud800"}"#, Value::Null),
        (&deep, Value::Null),
    ] {
        let answer = post_text(&server, "/api/v1/boards", body.to_owned()).await;
        answer.refused(400, "INVALID_INPUT");
        assert_eq!(field(&answer), named, "{body} {}", answer.text());
    }
    let list = server.get("/api/v1/boards").key(&server.admin).send().await;
    assert_eq!(list.ok(200)["boards"], json!([]));
}

#[tokio::test]
async fn a_field_is_given_once_wherever_that_is() {
    let server = TestServer::start().await;
    let board = server.board(&server.admin, "b").await;
    let path = format!("/api/v1/boards/{board}");
    for (path, body) in [
        (path.clone(), json!({"board": board})),
        (format!("{path}?name=x"), json!({"name": "y"})),
        (format!("{path}?name=x&name=y"), json!({})),
        (format!("{path}?board={board}"), json!({})),
    ] {
        let call = server.call(Method::PATCH, &path).key(&server.admin);
        let message = call.json(&body).send().await.refused(400, "INVALID_INPUT");
        assert!(message.ends_with("is given twice"), "{message}");
    }
    let call = server.call(Method::PATCH, &format!("{path}?name=x"));
    let changed = call.key(&server.admin).json(&json!({})).send().await;
    assert_eq!(changed.ok(200)["name"], "x");
}

#[tokio::test]
async fn bad_queries_and_paths_are_named() {
    let server = TestServer::start().await;
    for (path, named) in [
        ("/api/v1/boards?limit=x", json!("limit")),
        ("/api/v1/boards?limit=-1", json!("limit")),
        ("/api/v1/boards?limit=4294967296", json!("limit")),
        ("/api/v1/boards?cursor=x", json!("cursor")),
        ("/api/v1/boards?nonsense=1", json!("nonsense")),
        ("/api/v1/boards?access_token=1", json!("access_token")),
        ("/api/v1/sessions?states=asleep", json!("states")),
        (
            "/api/v1/keys?include_automatic=maybe",
            json!("include_automatic"),
        ),
        ("/api/v1/audit?operation=none", json!("operation")),
        ("/api/v1/audit?outcome=maybe", json!("outcome")),
        ("/api/v1/audit?surface=cli", json!("surface")),
        ("/api/v1/audit?about=019a8b2c3d4e", json!("about")),
        ("/api/v1/audit?since=yesterday", json!("since")),
        ("/api/v1/audit?since=367d", json!("since")),
        ("/api/v1/audit?until=7d", json!("until")),
        ("/api/v1/audit?utc_offset=1081", json!("utc_offset")),
        (
            "/api/v1/audit?since=2026-11-02&until=2026-11-01",
            json!("until"),
        ),
        ("/api/v1/config/none.such", json!("key")),
        ("/api/v1/boards/xyz", Value::Null),
        ("/api/v1/boards/%FF", Value::Null),
    ] {
        let answer = server.get(path).key(&server.admin).send().await;
        answer.refused(400, "INVALID_INPUT");
        assert_eq!(field(&answer), named, "{path}");
    }
}

#[tokio::test]
async fn content_types_sizes_and_methods_have_their_statuses() {
    let server = TestServer::start().await;
    for content_type in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "application/xml",
    ] {
        let call = server.post("/api/v1/boards").key(&server.admin);
        let call = call.header("content-type", content_type);
        let answer = call.body(r#"{"name":"x"}"#).send().await;
        answer.refused(415, "INVALID_INPUT");
    }
    let call = server.post("/api/v1/boards").key(&server.admin);
    let answer = call.body(r#"{"name":"x"}"#).send().await;
    answer.refused(415, "INVALID_INPUT");

    let large = format!("{{\"name\":\"{}\"}}", "x".repeat(1024 * 1024));
    let answer = post_text(&server, "/api/v1/boards", large).await;
    answer.refused(413, "LIMIT_EXCEEDED");
    // Without a declared length the limit is met while reading.
    let chunks = (0..40).map(|_| Ok::<_, std::io::Error>(vec![b' '; 64 * 1024]));
    let chunked = Body::from_stream(stream::iter(chunks));
    let answer = post_text(&server, "/api/v1/boards", chunked).await;
    answer.refused(413, "LIMIT_EXCEEDED");

    let call = server.call(Method::DELETE, "/api/v1/boards");
    let answer = call.key(&server.admin).send().await;
    answer.refused(405, "INVALID_INPUT");
    let allow: Vec<_> = answer.header("allow").split(',').collect();
    assert!(
        allow.contains(&"GET") && allow.contains(&"POST"),
        "{allow:?}"
    );
    let answer = server.post("/healthz").send().await;
    answer.refused(405, "INVALID_INPUT");
    let answer = server
        .get("/api/v1/nothing")
        .key(&server.admin)
        .send()
        .await;
    answer.refused(404, "NOT_FOUND");
    let call = server.get("/api/v1/boards").key(&server.admin);
    call.json(&json!({}))
        .send()
        .await
        .refused(400, "INVALID_INPUT");
}

#[tokio::test]
async fn secrets_are_not_repeated() {
    let server = TestServer::start().await;
    let body = json!({"name": "x", server.admin.clone(): 1});
    let call = server.post("/api/v1/boards").key(&server.admin);
    let answer = call.json(&body).send().await;
    assert_eq!(answer.status, 400);
    assert!(!answer.text().contains(&server.admin), "{}", answer.text());
}

#[tokio::test]
async fn a_body_that_does_not_come_is_given_up() {
    let server = TestServer::start().await;
    let stuck = stream::once(async { Ok::<_, std::io::Error>("{".to_owned()) });
    let stuck = Body::from_stream(stuck.chain(stream::pending()));
    let answer = post_text(&server, "/api/v1/boards", stuck).await;
    answer.refused(408, "INVALID_INPUT");
}
