//! Who is let in, and what the others are told.

use http::Method;
use serde_json::json;

use crate::harness::TestServer;

const UNKNOWN: &str = "wh_full_00000000000000000000000000000000";

#[tokio::test]
async fn each_credential_is_recognised_for_what_it_is() {
    let server = TestServer::start().await;
    let local = server.get("/api/v1/whoami").send_local().await.ok(200);
    assert_eq!(local["credential"], "local");
    assert_eq!(local["user"]["name"], "root");
    for scope in ["full", "read", "client"] {
        let key = server.key_of("root", scope).await;
        let told = server.get("/api/v1/whoami").key(&key).send().await.ok(200);
        assert_eq!(told["credential"], scope);
        // On the local socket a key counts more than the socket.
        let told = server.get("/api/v1/whoami").key(&key).send_local().await;
        assert_eq!(told.ok(200)["credential"], scope);
    }
}

#[tokio::test]
async fn without_a_credential_only_public_paths_answer() {
    let server = TestServer::start().await;
    for path in [
        "/api/v1/whoami",
        "/api/v1/boards",
        "/api/v1/events",
        "/metrics",
        "/mcp",
        "/mcp/stdio",
        "/nowhere",
    ] {
        let answer = server.get(path).send().await;
        answer.refused(401, "UNAUTHENTICATED");
        let challenge = answer.header("www-authenticate");
        let metadata = format!(
            "Bearer resource_metadata=\"http://{}/.well-known/oauth-protected-resource\", scope=\"full\"",
            server.address
        );
        assert_eq!(challenge, metadata);
    }
    for path in [
        "/",
        "/healthz",
        "/readyz",
        "/openapi.json",
        "/.well-known/oauth-protected-resource",
    ] {
        assert_eq!(server.get(path).send().await.status, 200, "{path}");
    }
    // Keys come from the server itself: a client that found an authorization server here would try to sign in there.
    let metadata = server.get("/.well-known/oauth-protected-resource");
    let metadata = metadata.send().await.ok(200);
    assert_eq!(metadata["resource_name"], "Wheelhouse");
    assert_eq!(metadata.get("authorization_servers"), None, "{metadata}");
}

#[tokio::test]
async fn what_is_not_valid_is_all_the_same() {
    let server = TestServer::start().await;
    let mut bodies = std::collections::BTreeSet::new();
    for authorization in [
        format!("Bearer {UNKNOWN}"),
        "Bearer nonsense".to_owned(),
        format!("Basic {UNKNOWN}"),
        format!("Bearer {} x", server.admin),
    ] {
        let call = server.get("/api/v1/whoami");
        let answer = call.header("authorization", &authorization).send().await;
        answer.refused(401, "UNAUTHENTICATED");
        assert!(
            answer
                .header("www-authenticate")
                .contains("error=\"invalid_token\"")
        );
        bodies.insert(answer.bytes);
    }
    assert_eq!(bodies.len(), 1);
    // Neither the query nor a cookie takes a bearer key.
    let path = format!("/api/v1/whoami?access_token={}", server.admin);
    server
        .get(&path)
        .send()
        .await
        .refused(401, "UNAUTHENTICATED");
    let call = server.get("/api/v1/whoami").cookie(&server.admin);
    call.send().await.refused(401, "UNAUTHENTICATED");
}

#[tokio::test]
async fn guessing_is_slowed_down_but_locks_nobody_out() {
    let server = TestServer::start().await;
    let mut last = server.get("/api/v1/whoami").key(UNKNOWN).send().await;
    for _ in 0..40 {
        last = server.get("/api/v1/whoami").key(UNKNOWN).send().await;
    }
    last.refused(429, "LIMIT_EXCEEDED");
    assert!(last.header("retry-after").parse::<u64>().unwrap() >= 1);
    assert_eq!(server.get("/api/v1/whoami").send_local().await.status, 200);
}

#[tokio::test]
async fn invalid_keys_from_one_address_never_refuse_a_valid_one() {
    let server = TestServer::start().await;
    let mut refused = std::collections::BTreeMap::<u16, usize>::new();
    for number in 0..300 {
        let invalid = format!("wh_full_{number:032x}");
        let answer = server.get("/api/v1/whoami").key(&invalid).send().await;
        *refused.entry(answer.status).or_default() += 1;
        if number % 10 == 0 {
            // Each of these keys is new, so the server has to look it up while its address is out of attempts.
            let valid = server.key_of("root", "read").await;
            server
                .get("/api/v1/whoami")
                .key(&valid)
                .send()
                .await
                .ok(200);
        }
    }
    // Guessing is still slowed down: nearly all of it was told to wait.
    assert!(refused[&429] >= 200, "{refused:?}");
    assert_eq!(refused.values().sum::<usize>(), 300, "{refused:?}");
    assert!(refused.keys().all(|status| [401, 429].contains(status)));
}

#[tokio::test]
async fn a_user_has_only_so_many_active_keys() {
    let server = TestServer::start().await;
    let mia = server.member("mia").await;
    let body = json!({"name": "more", "scope": "read"});
    let make = || server.post("/api/v1/keys").key(&mia).json(&body);
    let mut made = None;
    // One was made with the user.
    for _ in 1..wh_domain::Key::ACTIVE_PER_USER_MAX {
        made = Some(make().send().await.ok(201));
    }
    let refused = make().send().await;
    refused.refused(429, "LIMIT_EXCEEDED");
    assert!(
        refused.text().contains("revoke a key"),
        "{}",
        refused.text()
    );
    // Nobody else is affected, and a key that is revoked makes room.
    server.key_of("root", "read").await;
    let id = made.unwrap()["id"].as_str().unwrap().to_owned();
    let path = format!("/api/v1/keys/{id}");
    let revoke = server.call(Method::DELETE, &path).key(&mia);
    revoke.send().await.ok(200);
    make().send().await.ok(201);
}

#[tokio::test]
async fn a_revoked_key_is_refused_at_once() {
    let server = TestServer::start().await;
    let key = server.member("mia").await;
    let who = server.get("/api/v1/whoami").key(&key).send().await.ok(200);
    let path = format!("/api/v1/keys/{}", who["key_id"].as_str().unwrap());
    let revoke = server.call(Method::DELETE, &path).key(&server.admin);
    assert_eq!(revoke.send().await.ok(200)["status"], "revoked");
    let call = server.get("/api/v1/whoami").key(&key);
    call.send().await.refused(401, "UNAUTHENTICATED");
}

#[tokio::test]
async fn a_valid_credential_does_not_allow_everything() {
    let server = TestServer::start().await;
    let read = server.key_of("root", "read").await;
    let call = server.post("/api/v1/boards").key(&read);
    let answer = call.json(&json!({"name": "x"})).send().await;
    answer.refused(403, "FORBIDDEN");
    let mia = server.member("mia").await;
    let call = server.post("/api/v1/users").key(&mia);
    let answer = call.json(&json!({"name": "x"})).send().await;
    answer.refused(403, "FORBIDDEN");
    server.stop().await;
}

#[tokio::test]
async fn a_session_token_reaches_its_own_session() {
    let server = TestServer::start().await;
    let who = server.get("/api/v1/whoami").key(&server.admin).send().await;
    let user = who.ok(200)["user"]["id"].as_str().unwrap().to_owned();
    let (own, other) = (server.session(&user).await, server.session(&user).await);
    let token = server.session_token(&user, &own).await;
    let current = server.get("/api/v1/sessions/current").key(&token);
    assert_eq!(current.send().await.ok(200)["id"], json!(own));
    let path = format!("/api/v1/sessions/{other}");
    let foreign = server.get(&path).key(&token).send().await;
    foreign.refused(404, "NOT_FOUND");
    for path in ["/api/v1/users", "/api/v1/keys", "/metrics"] {
        let answer = server.get(path).key(&token).send().await;
        answer.refused(403, "FORBIDDEN");
    }
}
