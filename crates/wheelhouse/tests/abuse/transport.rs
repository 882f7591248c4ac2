//! A: HTTP, its transports and authentication.

use futures::future::join_all;
use reqwest::{
    Method,
    header::{HeaderMap, HeaderName, HeaderValue},
};
use serde_json::{Value, json};
use wh_testkit::server::TestServer;

use crate::{
    people::{MODERN, Mcp, World},
    wire::{UPGRADE, host, http, rest, status},
};

/// One route of each kind: MCP, its dialects, WebSockets, REST, streams, the dashboard, pages that need no key, and nothing at all.
const ROUTES: [&str; 15] = [
    "/mcp",
    "/mcp/agor",
    "/mcp/clawed-abode",
    "/mcp/iteratr",
    "/mcp/stdio",
    "/api/mcp",
    "/api/v1/sessions",
    "/api/v1/events",
    "/",
    "/sessions/1",
    "/login?token=x",
    "/healthz",
    "/metrics",
    "/openapi.json",
    "/no/such/path",
];

/// The ways to open each route.
fn openings() -> [(&'static str, &'static str); 4] {
    [
        ("GET", "Connection: close\r\n"),
        ("GET", "Connection: close\r\nAccept: text/event-stream\r\n"),
        ("GET", UPGRADE),
        (
            "POST",
            "Connection: close\r\nContent-Type: application/json\r\nContent-Length: 0\r\n",
        ),
    ]
}

fn port(server: &TestServer) -> &str {
    host(server).rsplit(':').next().unwrap()
}

/// Opens every route in every way with these headers and a valid key; each must be refused with 403.
async fn assert_refused_everywhere(server: &TestServer, key: &str, headers: &str) -> usize {
    let mut count = 0;
    for path in ROUTES {
        for (method, opening) in openings() {
            let sent = format!("{headers}Authorization: Bearer {key}\r\n{opening}");
            let got = status(server, method, path, &sent).await;
            assert_eq!(got, 403, "{method} {path} {headers:?} {opening:?}");
            count += 1;
        }
    }
    count
}

#[tokio::test]
async fn a1_a_rebound_host_is_refused_before_routing() {
    let server = TestServer::start();
    let (key, port) = (server.key("full"), port(&server));
    let mut count = 0;
    for name in [
        "attacker.com",
        "127.0.0.1.attacker.com",
        "localhost.attacker.com",
        "attacker.com.",
        "169.254.169.254",
    ] {
        let headers = format!("Host: {name}:{port}\r\n");
        count += assert_refused_everywhere(&server, &key, &headers).await;
    }
    // The same key is let in by the server's own name.
    let own =
        format!("Host: localhost:{port}\r\nAuthorization: Bearer {key}\r\nConnection: close\r\n");
    assert_eq!(status(&server, "GET", "/api/v1/sessions", &own).await, 200);
    println!("a1: {count} requests by a foreign host name, all refused");
}

#[tokio::test]
async fn a2_an_origin_that_equals_a_foreign_host_is_not_the_same_origin() {
    let server = TestServer::start();
    let (key, port) = (server.key("full"), port(&server));
    let (own, theirs) = (host(&server), format!("attacker.com:{port}"));
    let mut count = 0;
    for headers in [
        format!("Host: {theirs}\r\nOrigin: http://{theirs}\r\n"),
        format!("Host: {own}\r\nOrigin: http://{theirs}\r\n"),
        format!("Host: {own}\r\nOrigin: https://{own}\r\n"),
        format!("Host: {own}\r\nOrigin: http://{own}.attacker.com\r\n"),
        format!("Host: {own}\r\nOrigin: null\r\n"),
    ] {
        count += assert_refused_everywhere(&server, &key, &headers).await;
    }
    println!("a2: {count} requests of a foreign origin, all refused");
}

/// Signs in as the administrator and returns the cookie's name and value.
pub(crate) async fn sign_in(server: &TestServer) -> String {
    let link = server
        .client()
        .login_link_create(&wh_api::LoginLinkCreateRequest::default())
        .await
        .unwrap();
    let client = http(server);
    let answer = client.get(&link.url).send().await.unwrap();
    let cookie = answer.headers()["set-cookie"].to_str().unwrap();
    assert!(cookie.contains("SameSite=Strict") && cookie.contains("HttpOnly"));
    cookie.split(';').next().unwrap().to_owned()
}

async fn board_names(server: &TestServer) -> Vec<String> {
    let request = wh_api::BoardListRequest::default();
    let boards = server.client().board_list(&request).await.unwrap().boards;
    boards.into_iter().map(|board| board.name).collect()
}

#[tokio::test]
async fn a4_another_site_changes_nothing_with_a_browsers_cookie() {
    let server = TestServer::start();
    let cookie = sign_in(&server).await;
    let own = format!("http://{}", host(&server));
    let http = http(&server);
    let send = async |method: Method, path: &str, headers: &[(&str, &str)], body: &str| {
        let mut request = http
            .request(method, format!("{own}{path}"))
            .header("cookie", &cookie)
            .body(body.to_owned());
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        request.send().await.unwrap().status().as_u16()
    };
    let json_body = r#"{"name":"forged"}"#;
    let form = ("content-type", "application/x-www-form-urlencoded");
    let (plain, json_type) = (
        ("content-type", "text/plain"),
        ("content-type", "application/json"),
    );
    let same_origin = ("sec-fetch-site", "same-origin");
    let mut refused = 0;
    for (headers, body, expected) in [
        (
            vec![form, ("origin", "http://evil.example")],
            "name=forged",
            403,
        ),
        (vec![form], "name=forged", 403),
        (vec![plain], json_body, 403),
        (vec![json_type], json_body, 403),
        (vec![json_type, ("origin", "null")], json_body, 403),
        (
            vec![json_type, ("sec-fetch-site", "cross-site")],
            json_body,
            403,
        ),
        (
            vec![json_type, ("sec-fetch-site", "same-site")],
            json_body,
            403,
        ),
        // Even from its own page the server takes JSON alone.
        (vec![form, same_origin], "name=forged", 415),
        (vec![plain, same_origin], json_body, 415),
        (
            vec![
                ("content-type", "multipart/form-data; boundary=x"),
                same_origin,
            ],
            json_body,
            415,
        ),
    ] {
        let got = send(Method::POST, "/api/v1/boards", &headers, body).await;
        assert_eq!(got, expected, "{headers:?}");
        refused += 1;
    }
    // An image's address can only be read: no GET changes anything.
    for path in [
        "/api/v1/boards?name=forged",
        "/api/v1/logout",
        "/api/v1/login-links",
        "/api/v1/backups",
    ] {
        send(Method::GET, path, &[("sec-fetch-site", "cross-site")], "").await;
        refused += 1;
    }
    assert_eq!(board_names(&server).await, Vec::<String>::new());
    assert_eq!(send(Method::GET, "/api/v1/whoami", &[], "").await, 200);
    let made = send(
        Method::POST,
        "/api/v1/boards",
        &[json_type, same_origin],
        json_body,
    )
    .await;
    assert_eq!(made, 201);
    println!("a4: {refused} forged requests, nothing changed");
}

#[tokio::test]
async fn a5_a_stream_does_not_open_for_another_site() {
    let server = TestServer::start();
    let cookie = sign_in(&server).await;
    let host = host(&server);
    let mut refused = 0;
    for path in ["/api/v1/events", "/mcp/stdio"] {
        for origin in ["http://evil.example", "null", "http://localhost:1"] {
            for opening in [UPGRADE, "Accept: text/event-stream\r\n"] {
                let headers =
                    format!("Host: {host}\r\nCookie: {cookie}\r\nOrigin: {origin}\r\n{opening}");
                let got = status(&server, "GET", path, &headers).await;
                assert_eq!(got, 403, "{path} {origin} {opening}");
                refused += 1;
            }
        }
        // Without an origin nobody knows which page asks.
        let headers = format!("Host: {host}\r\nCookie: {cookie}\r\n{UPGRADE}");
        assert_eq!(status(&server, "GET", path, &headers).await, 403, "{path}");
        refused += 1;
    }
    let headers = format!("Host: {host}\r\nCookie: {cookie}\r\nOrigin: http://{host}\r\n{UPGRADE}");
    let opened = status(&server, "GET", "/api/v1/events", &headers).await;
    assert_eq!(opened, 101);
    println!("a5: {refused} handshakes refused, that of the own page accepted");
}

#[tokio::test]
async fn a7_a_fresh_server_lets_nobody_in_without_a_key() {
    let server = TestServer::start();
    let http = http(&server);
    let url = |path: &str| format!("{}{path}", server.url());
    let document = http.get(url("/openapi.json")).send().await.unwrap();
    let document: Value = document.json().await.unwrap();
    let mut tried = 0;
    for (path, methods) in document["paths"].as_object().unwrap() {
        let path = path.replace(['{', '}'], "");
        for method in methods.as_object().unwrap().keys() {
            let method: Method = method.to_uppercase().parse().unwrap();
            let call = http.request(method.clone(), url(&path)).json(&json!({}));
            let answer = call.send().await.unwrap();
            assert_eq!(answer.status(), 401, "{method} {path}");
            assert!(answer.headers().contains_key("www-authenticate"), "{path}");
            tried += 1;
        }
    }
    for path in [
        "/mcp",
        "/mcp/agor",
        "/mcp/clawed-abode",
        "/mcp/iteratr",
        "/mcp/stdio",
        "/api/mcp",
        "/metrics",
        "/no/such/path",
        "/api/v1/no/such/path",
    ] {
        for method in [Method::GET, Method::POST, Method::DELETE] {
            let answer = http
                .request(method.clone(), url(path))
                .send()
                .await
                .unwrap();
            assert_eq!(answer.status(), 401, "{method} {path}");
            tried += 1;
        }
    }
    for path in ["/healthz", "/readyz"] {
        let answer = http.get(url(path)).send().await.unwrap();
        assert_eq!(answer.status(), 200, "{path}");
    }
    assert!(tried > 100, "{tried}");
    // The first key is made on the machine itself.
    let key = server.key("full");
    let who = rest(&server, &key, Method::GET, "/api/v1/whoami", None).await;
    assert_eq!(who.status(), 200);
    println!("a7: {tried} requests without a key, all refused");
}

#[tokio::test]
async fn a8_headers_that_contradict_the_body_execute_nothing() {
    let world = World::new().await;
    let alice = world.client(&world.keys.alice);
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
    });
    let create =
        json!({ "name": "board_create", "arguments": { "name": "smuggled" }, "_meta": meta });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": create });
    let mut refused = 0;
    for (method, name, version) in [
        (Some("tools/call"), Some("board_list"), MODERN),
        (Some("tools/call"), Some("BOARD_CREATE"), MODERN),
        (Some("tools/call"), Some(""), MODERN),
        (Some("tools/call"), None, MODERN),
        (Some("tools/list"), Some("board_create"), MODERN),
        (Some("resources/read"), Some("board_create"), MODERN),
        (None, Some("board_create"), MODERN),
        (Some("tools/call"), Some("board_create"), "2025-11-25"),
    ] {
        let mut headers = HeaderMap::new();
        let mut put = |name: &'static str, value: &str| {
            let value = HeaderValue::from_str(value).unwrap();
            headers.append(HeaderName::from_static(name), value);
        };
        put("content-type", "application/json");
        put("accept", "application/json, text/event-stream");
        put("mcp-protocol-version", version);
        method.into_iter().for_each(|it| put("mcp-method", it));
        name.into_iter().for_each(|it| put("mcp-name", it));
        let answer = alice.raw(headers, body.to_string()).await;
        let status = answer.status();
        let answer: Value = answer.json().await.unwrap();
        assert_eq!(status, 400, "{method:?} {name:?} {version}: {answer}");
        assert_eq!(
            answer["error"]["code"], -32020,
            "{method:?} {name:?} {version}: {answer}"
        );
        refused += 1;
    }
    let boards = Mcp::data(&alice.call("board_list", json!({})).await);
    assert_eq!(boards["boards"], json!([]));
    println!("a8: {refused} contradictions refused, nothing executed");
}

#[tokio::test]
async fn a13_clients_with_the_same_request_id_get_their_own_answers() {
    let world = World::new().await;
    let (alice, bob) = (
        world.client(&world.keys.alice),
        world.client(&world.keys.bob),
    );
    // Every request has the id 1. A legacy session belongs to one client, so each of these has its own.
    let mut sessions = Vec::new();
    for _ in 0..20 {
        sessions.push(alice.initialize("2025-11-25").await);
    }
    let calls = (0..60).map(|number| {
        let (alice, bob, legacy) = (&alice, &bob, &sessions[number / 3]);
        async move {
            let name = format!("board {number}");
            let params = json!({ "name": "board_create", "arguments": { "name": name } });
            let answer = match number % 3 {
                0 => alice.request("tools/call", params).await,
                1 => bob.request("tools/call", params).await,
                _ => alice.legacy(legacy, "tools/call", params).await,
            };
            assert_eq!(answer["id"], 1);
            let made = Mcp::data(&answer["result"]);
            assert_eq!(made["name"], name, "{answer}");
        }
    });
    let answered = join_all(calls).await.len();
    for (client, expected) in [(&alice, 40), (&bob, 20)] {
        let list = client.call("board_list", json!({ "limit": 100 })).await;
        let boards = Mcp::data(&list)["boards"].as_array().unwrap().len();
        assert_eq!(boards, expected);
    }
    println!("a13: {answered} concurrent requests with one id, each answered with its own result");
}

#[tokio::test]
async fn a14_a_missing_session_is_not_replaced_by_the_only_one() {
    let world = World::new().await;
    let bob = world.client(&world.keys.bob);
    let list = Mcp::data(&bob.call("session_list", json!({})).await);
    assert_eq!(list["sessions"].as_array().unwrap().len(), 1);
    let mut refused = 0;
    for (tool, arguments) in [
        ("session_current", json!({})),
        ("session_get", json!({})),
        ("session_tree", json!({})),
        ("session_prompt", json!({ "prompt": "say x" })),
        (
            "session_prompt",
            json!({ "session": "", "prompt": "say x" }),
        ),
        (
            "session_prompt",
            json!({ "session": null, "prompt": "say x" }),
        ),
        ("session_spawn", json!({ "prompt": "say x" })),
        ("session_interrupt", json!({})),
        ("session_manage", json!({ "action": "stop" })),
        ("session_update", json!({ "title": "x" })),
        ("session_fork", json!({})),
        ("message_list", json!({})),
        ("turn_list", json!({})),
        ("run_list", json!({})),
        ("iteration_summary", json!({ "summary": "x" })),
        ("loop_complete", json!({})),
    ] {
        let result = bob.call(tool, arguments.clone()).await;
        let code = Mcp::code(&result).to_owned();
        assert!(
            ["INVALID_INPUT", "NOT_FOUND", "FORBIDDEN"].contains(&code.as_str()),
            "{tool} {arguments}: {code}"
        );
        refused += 1;
    }
    let same = Mcp::data(&bob.call("session_list", json!({})).await);
    assert_eq!(same, list);
    // A legacy request without a session id is not taken for one of the only session.
    let legacy = bob.initialize("2025-11-25").await;
    assert!(bob.legacy(&legacy, "tools/list", json!({})).await["result"].is_object());
    for id in ["", "another"] {
        let mut headers = HeaderMap::new();
        headers.insert("content-type", HeaderValue::from_static("application/json"));
        headers.insert(
            "accept",
            HeaderValue::from_static("application/json, text/event-stream"),
        );
        headers.insert(
            "mcp-protocol-version",
            HeaderValue::from_static("2025-11-25"),
        );
        if !id.is_empty() {
            headers.insert("mcp-session-id", HeaderValue::from_static("another"));
        }
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list" });
        let answer = bob.raw(headers, body.to_string()).await;
        assert!([400, 404].contains(&answer.status().as_u16()), "{answer:?}");
        refused += 1;
    }
    println!("a14: {refused} calls without a session, all refused");
}
