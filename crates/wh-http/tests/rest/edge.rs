//! Health, numbers, discovery, and what the outermost layers promise.

use http::Method;
use serde_json::json;

use crate::harness::TestServer;

#[tokio::test]
async fn health_and_readiness_are_told() {
    let server = TestServer::start().await;
    assert_eq!(server.get("/healthz").send().await.ok(200)["status"], "ok");
    assert_eq!(
        server.get("/readyz").send().await.ok(200)["status"],
        "ready"
    );
    server.store.close().await;
    let answer = server.get("/readyz").send().await;
    answer.refused(503, "UNAVAILABLE");
    assert_eq!(answer.header("retry-after"), "5");
    assert_eq!(server.get("/healthz").send().await.status, 200);
}

#[tokio::test]
async fn numbers_are_for_administrators() {
    let server = TestServer::start().await;
    let board = server.board(&server.admin, "counted").await;
    let path = format!("/api/v1/boards/{board}");
    assert_eq!(
        server.get(&path).key(&server.admin).send().await.status,
        200
    );
    let read = server.key_of("root", "read").await;
    let shown = server.get("/metrics").key(&read).send().await;
    assert_eq!(shown.status, 200);
    let text = shown.text();
    for wanted in [
        "wheelhouse_http_requests_total{method=\"GET\",route=\"/api/v1/boards/{board}\",status=\"200\"}",
        "wheelhouse_http_request_seconds_bucket{method=\"GET\",route=\"/api/v1/boards/{board}\",le=\"0.001\"}",
        "wheelhouse_calls_total{operation=\"board_get\",outcome=\"ok\"}",
    ] {
        assert!(text.contains(wanted), "{wanted} is not in {text}");
    }
    assert!(!text.contains(&board));
    let mia = server.member("mia").await;
    let client = server.key_of("root", "client").await;
    for key in [mia, client] {
        let answer = server.get("/metrics").key(&key).send().await;
        answer.refused(403, "FORBIDDEN");
    }
}

#[tokio::test]
async fn the_protected_resource_describes_itself() {
    let server = TestServer::start().await;
    let base = format!("http://{}", server.address);
    for path in [
        "/.well-known/oauth-protected-resource",
        "/.well-known/oauth-protected-resource/mcp",
    ] {
        let told = server.get(path).send().await.ok(200);
        assert_eq!(
            told,
            json!({
                "resource": format!("{base}/mcp"),
                "resource_name": "Wheelhouse",
                "bearer_methods_supported": ["header"],
                "scopes_supported": ["full", "read", "client"],
            })
        );
    }
}

#[tokio::test]
async fn every_answer_is_guarded_and_has_an_id() {
    let server = TestServer::start().await;
    let mut ids = std::collections::BTreeSet::new();
    for path in [
        "/",
        "/healthz",
        "/api/v1/whoami",
        "/nowhere",
        "/openapi.json",
    ] {
        let answer = server.get(path).send().await;
        assert!(
            ids.insert(answer.header("x-request-id").to_owned()),
            "{path}"
        );
        assert!(
            answer
                .header("content-security-policy")
                .contains("frame-ancestors 'none'")
        );
        assert_eq!(answer.header("x-content-type-options"), "nosniff");
        let call = server.get(path).header("origin", "http://evil.example");
        let answer = call.key(&server.admin).send().await;
        answer.refused(403, "FORBIDDEN");
    }
    let answer = server.call(Method::OPTIONS, "/api/v1/boards");
    let answer = answer.key(&server.admin).send().await;
    answer.refused(405, "INVALID_INPUT");
}

#[tokio::test]
async fn the_front_page_is_ours_alone() {
    let server = TestServer::start().await;
    let page = server.get("/").send().await;
    assert!(page.header("content-type").starts_with("text/html"));
    // Whether the dashboard was built or not: nothing inline runs, and nothing is fetched from elsewhere.
    assert!(page.text().contains("Wheelhouse"));
    for unwanted in ["<script>", "<style", "http://", "https://", "onload="] {
        assert!(!page.text().contains(unwanted), "{unwanted}");
    }
    let document = server.get("/openapi.json").send().await.ok(200);
    assert_eq!(document, wh_http::openapi_document());
}
