//! Requests a browser was tricked into sending are refused on every route.

use crate::harness::Server;

#[track_caller]
fn assert_status(response: &str, status: u16) {
    assert!(
        response.starts_with(&format!("HTTP/1.1 {status}")),
        "{response}"
    );
}

#[tokio::test]
async fn a_rebound_host_is_refused_before_routing() {
    let server = Server::start().await;
    let port = server.address.port();
    for path in ["/ok", "/ws", "/body", "/no/such/path"] {
        let response = server
            .get(path, &format!("Host: attacker.com:{port}\r\n"))
            .await;
        assert_status(&response, 403);
        assert!(response.contains(r#""code":"FORBIDDEN""#), "{response}");
        assert!(response.contains("allowed_hosts"), "{response}");
    }
}

#[tokio::test]
async fn our_own_names_pass() {
    let server = Server::start().await;
    let port = server.address.port();
    for name in ["127.0.0.1", "localhost", "LocalHost", "[::1]"] {
        let response = server.get("/ok", &format!("Host: {name}:{port}\r\n")).await;
        assert_status(&response, 200);
    }
}

#[tokio::test]
async fn exactly_one_host_is_required() {
    let server = Server::start().await;
    assert_status(&server.get("/ok", "").await, 400);
    let twice = server.host().repeat(2);
    assert_status(&server.get("/ok", &twice).await, 400);
}

#[tokio::test]
async fn an_absolute_request_line_cannot_smuggle_a_host() {
    let server = Server::start().await;
    let response = server.get("http://attacker.com/ok", &server.host()).await;
    assert_status(&response, 403);
}

#[tokio::test]
async fn foreign_origins_are_refused_even_when_they_match_the_host() {
    let server = Server::start().await;
    let port = server.address.port();
    let (ours, theirs) = (server.host(), format!("attacker.com:{port}"));
    for headers in [
        format!("{ours}Origin: http://attacker.com\r\n"),
        format!("{ours}Origin: null\r\n"),
        format!("{ours}Origin: http://localhost:1\r\n"),
        format!("{ours}Origin: https://localhost:{port}\r\n"),
        format!("Host: {theirs}\r\nOrigin: http://{theirs}\r\n"),
    ] {
        let response = server.get("/ok", &headers).await;
        assert_status(&response, 403);
    }
    let response = server
        .get("/ok", &format!("{ours}Origin: http://attacker.com\r\n"))
        .await;
    assert!(response.contains("allowed_origins"), "{response}");
    let response = server
        .get("/ok", &format!("{ours}Origin: http://localhost:{port}\r\n"))
        .await;
    assert_status(&response, 200);
}

#[tokio::test]
async fn a_websocket_opens_for_our_origin_only() {
    let server = Server::start().await;
    let handshake = |origin: &str| {
        format!(
            "GET /ws HTTP/1.1\r\n{}Origin: {origin}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n",
            server.host()
        )
    };
    let mut client = server.connect().await;
    client.write(&handshake("http://attacker.com")).await;
    assert_status(&client.read_until("\r\n\r\n").await, 403);

    let mut client = server.connect().await;
    client
        .write(&handshake(&format!("http://{}", server.address)))
        .await;
    assert_status(&client.read_until("\r\n\r\n").await, 101);
    // A masked text frame with the letter "A"; it comes back unmasked.
    tokio::io::AsyncWriteExt::write_all(&mut client.stream, &[0x81, 0x81, 0, 0, 0, 0, b'A'])
        .await
        .unwrap();
    client.read_until("A").await;
}

#[tokio::test]
async fn every_answer_has_the_security_headers() {
    let server = Server::start().await;
    let host = server.host();
    for (path, headers, status) in [
        ("/ok", host.as_str(), 200),
        ("/no/such/path", host.as_str(), 404),
        ("/ok", "Host: attacker.com\r\n", 403),
        ("/ok", "", 400),
    ] {
        let response = server.get(path, headers).await;
        assert_status(&response, status);
        for header in [
            "x-content-type-options: nosniff",
            "referrer-policy: no-referrer",
            "x-frame-options: DENY",
            "content-security-policy: default-src 'self'; frame-ancestors 'none'; base-uri 'none'; object-src 'none'; form-action 'self'",
        ] {
            assert!(
                response.contains(header),
                "{path} lacks {header}: {response}"
            );
        }
    }
}

#[tokio::test]
async fn the_unix_socket_needs_no_host_and_knows_its_peer() {
    let server = Server::start().await;
    let mut client = server.connect_unix().await;
    client
        .write("GET /peer HTTP/1.1\r\nConnection: close\r\n\r\n")
        .await;
    let response = client.read_to_end().await;
    assert_status(&response, 200);
    let uid = rustix::process::getuid().as_raw();
    let pid = std::process::id();
    assert!(
        response.contains(&format!("Unix {{ uid: {uid}, pid: Some({pid}) }}")),
        "{response}"
    );
}

#[tokio::test]
async fn a_tcp_request_knows_its_peer() {
    let server = Server::start().await;
    let mut client = server.connect().await;
    let own = client.stream.local_addr().unwrap();
    let request = format!(
        "GET /peer HTTP/1.1\r\n{}Connection: close\r\n\r\n",
        server.host()
    );
    client.write(&request).await;
    assert!(client.read_to_end().await.contains(&format!("Tcp({own})")));
}
