//! Slow, greedy and broken clients.

use std::time::Duration;

use wh_http::serve::Limits;

use crate::harness::Server;

const SHORT: Duration = Duration::from_millis(100);

#[tokio::test]
async fn slow_headers_end_the_connection() {
    let server = Server::with(Limits {
        header_read: SHORT,
        ..Limits::default()
    })
    .await;
    let mut silent = server.connect().await;
    let mut slow = server.connect().await;
    slow.write("GET /ok HTTP/1.1\r\nHost:").await;
    assert!(!silent.read_to_end().await.contains("200 OK"));
    assert!(!slow.read_to_end().await.contains("200 OK"));
    assert!(server.get("/ok", &server.host()).await.contains("fine"));
}

#[tokio::test]
async fn a_body_that_drips_is_answered_408() {
    let server = Server::with(Limits {
        body_read: SHORT,
        ..Limits::default()
    })
    .await;
    let mut client = server.connect().await;
    let head = format!(
        "POST /body HTTP/1.1\r\n{}Content-Length: 100\r\n\r\nx",
        server.host()
    );
    client.write(&head).await;
    let response = client.read_to_end().await;
    assert!(response.starts_with("HTTP/1.1 408"), "{response}");
    assert!(response.contains(r#""hint""#), "{response}");

    let mut client = server.connect().await;
    let head = format!(
        "POST /body HTTP/1.1\r\n{}Transfer-Encoding: chunked\r\n\r\n1\r\nx\r\n",
        server.host()
    );
    client.write(&head).await;
    assert!(client.read_to_end().await.starts_with("HTTP/1.1 408"));
}

#[tokio::test]
async fn a_prompt_body_is_read() {
    let server = Server::start().await;
    let mut client = server.connect().await;
    let head = format!(
        "POST /body HTTP/1.1\r\n{}Content-Length: 4\r\nConnection: close\r\n\r\n",
        server.host()
    );
    client.write(&head).await;
    client.write("four").await;
    assert!(client.read_to_end().await.ends_with("\r\n\r\n4"));
}

#[tokio::test]
async fn a_slow_handler_is_not_a_slow_body() {
    let server = Server::with(Limits {
        body_read: SHORT,
        header_read: SHORT,
        ..Limits::default()
    })
    .await;
    let mut client = server.connect().await;
    client
        .write(&format!(
            "GET /wait HTTP/1.1\r\n{}Connection: close\r\n\r\n",
            server.host()
        ))
        .await;
    server.arrived.notified().await;
    // A second connection is cut for slowness meanwhile, which shows that the time has passed.
    server.connect().await.read_to_end().await;
    server.release.notify_one();
    assert!(client.read_to_end().await.contains("released"));
}

#[tokio::test]
async fn headers_are_bounded_in_size_and_number() {
    let server = Server::start().await;
    let long = format!("{}X: {}\r\n", server.host(), "x".repeat(100_000));
    let response = server.get("/ok", &long).await;
    assert!(!response.contains("200 OK"), "{response}");
    let many = format!("{}{}", server.host(), "X: y\r\n".repeat(150));
    let response = server.get("/ok", &many).await;
    assert!(response.starts_with("HTTP/1.1 431"), "{response}");
}

#[tokio::test]
async fn one_address_gets_only_so_many_connections() {
    let server = Server::with(Limits {
        connections_per_ip_max: 2,
        ..Limits::default()
    })
    .await;
    let request = format!("GET /authenticated HTTP/1.1\r\n{}\r\n", server.host());
    let mut open = Vec::new();
    for _ in 0..2 {
        let mut client = server.connect().await;
        client.write(&request).await;
        client.read_until("fine").await;
        open.push(client);
    }
    let response = server.get("/ok", &server.host()).await;
    assert!(response.starts_with("HTTP/1.1 503"), "{response}");
    assert!(response.contains("UNAVAILABLE"), "{response}");

    // The Unix socket has no address, so its clients still get in.
    let mut local = server.connect_unix().await;
    local
        .write("GET /ok HTTP/1.1\r\nConnection: close\r\n\r\n")
        .await;
    assert!(local.read_to_end().await.contains("fine"));

    drop(open);
    // The server notices the hang-up when it next looks at the connection; until then it may still refuse.
    let until_served = async {
        while !server.get("/ok", &server.host()).await.contains("fine") {
            tokio::task::yield_now().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(10), until_served)
        .await
        .unwrap();
}

#[tokio::test]
async fn all_connections_together_are_bounded() {
    let server = Server::with(Limits {
        connections_max: 1,
        ..Limits::default()
    })
    .await;
    let mut first = server.connect().await;
    first
        .write(&format!(
            "GET /authenticated HTTP/1.1\r\n{}\r\n",
            server.host()
        ))
        .await;
    first.read_until("fine").await;
    let mut second = server.connect_unix().await;
    assert!(second.read_to_end().await.starts_with("HTTP/1.1 503"));
}

#[tokio::test]
async fn a_connection_without_an_authenticated_request_makes_room() {
    let server = Server::with(Limits {
        connections_max: 3,
        ..Limits::default()
    })
    .await;
    let request = |path: &str| format!("GET {path} HTTP/1.1\r\n{}\r\n", server.host());
    let mut kept = server.connect().await;
    kept.write(&request("/authenticated")).await;
    kept.read_until("fine").await;
    // One that was answered but showed nothing, and one that never finishes its request.
    let mut oldest = server.connect().await;
    oldest.write(&request("/ok")).await;
    oldest.read_until("fine").await;
    let mut half_open = server.connect().await;
    half_open.write("GET /ok HTTP/1.1\r\nHost:").await;
    let mut newer = Vec::new();
    for _ in 0..3 {
        let mut client = server.connect().await;
        client.write(&request("/ok")).await;
        client.read_until("fine").await;
        newer.push(client);
    }
    assert_eq!(oldest.read_to_end().await, "");
    assert_eq!(half_open.read_to_end().await, "");
    let mut local = server.connect_unix().await;
    local.write("GET /ok HTTP/1.1\r\n\r\n").await;
    local.read_until("fine").await;
    kept.write(&request("/ok")).await;
    kept.read_until("fine").await;
}

#[tokio::test]
async fn a_panic_is_one_requests_misfortune() {
    let server = Server::start().await;
    for _ in 0..3 {
        let response = server.get("/panic", &server.host()).await;
        assert!(response.starts_with("HTTP/1.1 500"), "{response}");
        assert!(!response.contains("on purpose"), "{response}");
    }
    assert!(server.get("/ok", &server.host()).await.contains("fine"));
}
