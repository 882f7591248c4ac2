//! Signing in with a browser, and what other sites cannot make it do.

use http::Method;
use serde_json::json;

use crate::harness::TestServer;

/// Signs in and returns the cookie's value.
pub(crate) async fn sign_in(server: &TestServer) -> String {
    let link = server
        .post("/api/v1/login-links")
        .send_local()
        .await
        .ok(201);
    let url = link["url"].as_str().unwrap();
    let base = format!("http://{}", server.address);
    let path = url.strip_prefix(&base).unwrap();
    let answer = server.get(path).send().await;
    assert_eq!((answer.status, answer.header("location")), (303, "/"));
    let cookie = answer.header("set-cookie").to_owned();
    let (pair, attributes) = cookie.split_once("; ").unwrap();
    let attributes: Vec<_> = attributes.split("; ").collect();
    for wanted in ["Path=/", "HttpOnly", "Secure", "SameSite=Strict"] {
        assert!(attributes.contains(&wanted), "{cookie}");
    }
    let max_age = attributes.iter().find_map(|a| a.strip_prefix("Max-Age="));
    assert!(
        max_age.unwrap().parse::<u64>().unwrap() > 29 * 24 * 3600,
        "{cookie}"
    );
    // The link works once, also for whoever only looks first.
    let again = server.get(path).send().await;
    assert_eq!(again.status, 401);
    assert!(
        again.text().contains("wheelhouse login"),
        "{}",
        again.text()
    );
    assert!(again.header("content-type").starts_with("text/html"));
    pair.strip_prefix("__Host-wheelhouse=").unwrap().to_owned()
}

#[tokio::test]
async fn a_link_signs_in_once_and_signing_out_ends_it() {
    let server = TestServer::start().await;
    let cookie = sign_in(&server).await;
    let who = server.get("/api/v1/whoami").cookie(&cookie).send().await;
    assert_eq!(who.ok(200)["credential"], "browser");
    // The cookie's value is no bearer key.
    let call = server.get("/api/v1/whoami").key(&cookie);
    call.send().await.refused(401, "UNAUTHENTICATED");

    let origin = format!("http://{}", server.address);
    let call = server.post("/api/v1/logout").cookie(&cookie);
    let answer = call.header("origin", &origin).send().await;
    assert!(answer.header("set-cookie").contains("Max-Age=0"));
    answer.ok(200);
    let call = server.get("/api/v1/whoami").cookie(&cookie);
    call.send().await.refused(401, "UNAUTHENTICATED");
    server.stop().await;
}

#[tokio::test]
async fn looking_at_a_link_does_not_use_it_up() {
    let server = TestServer::start().await;
    let link = server
        .post("/api/v1/login-links")
        .send_local()
        .await
        .ok(201);
    let path = link["url"]
        .as_str()
        .unwrap()
        .split_once("/login")
        .unwrap()
        .1;
    let path = format!("/login{path}");
    let looked = server.call(Method::HEAD, &path).send().await;
    assert_eq!(looked.status, 405);
    assert_eq!(server.get(&path).send().await.status, 303);
}

#[tokio::test]
async fn a_bad_link_is_answered_with_a_harmless_page() {
    let server = TestServer::start().await;
    let missing = server.get("/login").send().await;
    assert_eq!(missing.status, 400);
    let bad = server.get("/login?token=%3Cscript%3E").send().await;
    assert_eq!(bad.status, 401);
    assert!(!bad.text().contains("<script"), "{}", bad.text());
    assert!(
        bad.header("content-security-policy")
            .contains("default-src 'self'")
    );
}

#[tokio::test]
async fn a_cookie_changes_nothing_for_another_site() {
    let server = TestServer::start().await;
    let cookie = sign_in(&server).await;
    let board = json!({"name": "forged"});
    let post = || server.post("/api/v1/boards").cookie(&cookie);

    post().json(&board).send().await.refused(403, "FORBIDDEN");
    for site in ["cross-site", "same-site", "none"] {
        let call = post().header("sec-fetch-site", site).json(&board);
        call.send().await.refused(403, "FORBIDDEN");
    }
    let call = post().header("origin", "http://evil.example").json(&board);
    assert_eq!(call.send().await.status, 403);
    let plain = post().header("sec-fetch-site", "same-origin");
    let plain = plain.header("content-type", "text/plain");
    let answer = plain.body(board.to_string()).send().await;
    answer.refused(415, "INVALID_INPUT");
    let list = server.get("/api/v1/boards").key(&server.admin).send().await;
    assert_eq!(list.ok(200)["boards"], json!([]));

    let call = post().header("sec-fetch-site", "same-origin").json(&board);
    call.send().await.ok(201);
    let origin = format!("http://{}", server.address);
    post()
        .header("origin", &origin)
        .json(&board)
        .send()
        .await
        .ok(201);
}
