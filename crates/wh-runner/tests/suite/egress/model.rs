//! Model gateways: an agent reaches a model server without having its key.

use std::net::SocketAddr;

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use wh_runner::{
    Token,
    egress::{Egress, EgressError, EgressLimits, EgressState, ModelGateway, SystemResolver},
};

use super::harness::{Network, Server, Setup, read_head, read_rest, soon};

const KEY: &str = "sk-of-the-operator";

fn gateway(upstream: String, header: &str, prefix: &str) -> ModelGateway {
    ModelGateway {
        port: 4100,
        upstream,
        header: header.to_owned(),
        prefix: prefix.to_owned(),
        key: Token::new(KEY),
    }
}

async fn start_with(egress: Egress) -> (Network, SocketAddr) {
    let setup = Setup {
        egress,
        ..Setup::default()
    };
    let network = setup.start().await;
    let address = network.gateway(0).await;
    (network, address)
}

/// Starts a gateway that forwards to the given upstream.
async fn start(server: &Server) -> (Network, SocketAddr) {
    let upstream = format!("http://{}/base/", server.address);
    start_with(Egress {
        models: vec![gateway(upstream, "authorization", "Bearer ")],
        ..Egress::default()
    })
    .await
}

/// Sends a request as it is; the connection is closed after the answer.
async fn send(gateway: SocketAddr, request: &str) -> TcpStream {
    let mut stream = TcpStream::connect(gateway).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

async fn whole_answer(mut stream: TcpStream) -> String {
    String::from_utf8(read_rest(&mut stream).await).unwrap()
}

/// Sends a request through a gateway and returns what the server got of it.
async fn relayed(server: &Server, gateway: SocketAddr, request: &str) -> String {
    let client = send(gateway, request).await;
    let mut upstream = server.accept().await;
    let head = soon(read_head(&mut upstream)).await;
    upstream
        .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok")
        .await
        .unwrap();
    let answer = whole_answer(client).await;
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    assert!(answer.ends_with("\r\n\r\nok"), "{answer}");
    head
}

/// Returns the values of a header in a head.
fn values<'a>(head: &'a str, name: &str) -> Vec<&'a str> {
    let lines = head.lines().filter_map(|line| line.split_once(": "));
    let named = lines.filter(|(it, _)| it.eq_ignore_ascii_case(name));
    named.map(|(_, value)| value).collect()
}

#[tokio::test]
async fn the_key_is_added_and_the_agents_own_keys_are_dropped() {
    let server = Server::start();
    let host = server.address.to_string();
    for (header, prefix) in [
        ("authorization", "Bearer "),
        ("x-api-key", ""),
        ("X-Goog-Api-Key", ""),
        ("api-key", ""),
        ("x-own-header", "Key "),
    ] {
        let (_network, address) = start_with(Egress {
            models: vec![gateway(format!("http://{host}/base/"), header, prefix)],
            ..Egress::default()
        })
        .await;
        let request = "GET /v1/models?a=1&key=mine-1&k%65y=mine-2&b=%20 HTTP/1.1\r\n\
            host: localhost:4100\r\nAuthorization: Bearer mine-3\r\nX-API-Key: mine-4\r\n\
            x-goog-api-key: mine-5\r\napi-key: mine-6\r\nx-own-header: mine-7\r\ncookie: mine-8\r\n\
            proxy-authorization: mine-9\r\nanthropic-version: 2023-06-01\r\n\
            connection: close, x-private\r\nx-private: 1\r\nte: trailers\r\n\r\n";
        let head = relayed(&server, address, request).await;
        assert_eq!(
            head.lines().next(),
            Some("GET /base/v1/models?a=1&b=%20 HTTP/1.1")
        );
        assert_eq!(values(&head, "host"), [&host]);
        assert_eq!(values(&head, header), [&format!("{prefix}{KEY}")]);
        assert_eq!(head.matches(KEY).count(), 1, "{head}");
        let own = if header == "x-own-header" { 0 } else { 1 };
        assert_eq!(head.matches("mine-").count(), own, "{head}");
        assert_eq!(values(&head, "anthropic-version"), ["2023-06-01"]);
        assert_eq!(values(&head, "x-private"), Vec::<&str>::new());
        assert_eq!(values(&head, "te"), Vec::<&str>::new());
    }
}

#[tokio::test]
async fn requests_are_streamed_with_their_length() {
    let server = Server::start();
    let (_network, address) = start(&server).await;
    let head = "POST /v1/messages HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 10\r\n\r\nfirst";
    let mut client = send(address, head).await;
    let mut upstream = server.accept().await;
    let head = soon(read_head(&mut upstream)).await;
    assert_eq!(values(&head, "content-length"), ["10"]);
    let mut half = [0; 5];
    soon(upstream.read_exact(&mut half)).await.unwrap();
    assert_eq!(&half, b"first");
    client.write_all(b"later").await.unwrap();
    soon(upstream.read_exact(&mut half)).await.unwrap();
    assert_eq!(&half, b"later");
    upstream
        .write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n")
        .await
        .unwrap();
    assert!(whole_answer(client).await.starts_with("HTTP/1.1 200 OK"));
}

#[tokio::test]
async fn events_arrive_one_by_one() {
    let server = Server::start();
    let (network, address) = start(&server).await;
    let request = "POST /v1/messages HTTP/1.1\r\nhost: x\r\ncontent-length: 2\r\n\r\n{}";
    let mut client = send(address, request).await;
    let mut upstream = server.accept().await;
    soon(read_head(&mut upstream)).await;
    soon(upstream.read_exact(&mut [0; 2])).await.unwrap();
    let head =
        "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    upstream.write_all(head.as_bytes()).await.unwrap();
    let head = soon(read_head(&mut client)).await;
    assert_eq!(values(&head, "content-type"), ["text/event-stream"]);
    for number in 1..=3 {
        // The next event is sent when this one has arrived.
        let chunk = format!("e\r\nevent: {number}\ndata\n\r\n");
        upstream.write_all(chunk.as_bytes()).await.unwrap();
        let mut got = vec![0; chunk.len()];
        soon(client.read_exact(&mut got)).await.unwrap();
        assert_eq!(String::from_utf8(got).unwrap().to_lowercase(), chunk);
    }
    upstream.write_all(b"0\r\nx-trailer: ").await.unwrap();
    upstream.write_all(KEY.as_bytes()).await.unwrap();
    upstream.write_all(b"\r\n\r\n").await.unwrap();
    let mut end = [0; 5];
    soon(client.read_exact(&mut end)).await.unwrap();
    assert_eq!(&end, b"0\r\n\r\n");
    // The events, the request's body and the heads.
    assert!(network.state.bytes_used() > 3 * 14 + 2);
}

#[tokio::test]
async fn the_key_is_removed_from_the_headers_of_responses() {
    let server = Server::start();
    let (_network, address) = start(&server).await;
    let client = send(
        address,
        "GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n",
    )
    .await;
    let mut upstream = server.accept().await;
    soon(read_head(&mut upstream)).await;
    let answer = format!(
        "HTTP/1.1 200 {KEY}\r\nx-echo: 1\r\nx-echo: Bearer {KEY}!\r\nx-kept: sk-of\r\nkeep-alive: timeout=5\r\ncontent-length: 0\r\n\r\n"
    );
    upstream.write_all(answer.as_bytes()).await.unwrap();
    let answer = whole_answer(client).await;
    assert!(!answer.contains(KEY), "{answer}");
    assert_eq!(values(&answer, "x-echo"), Vec::<&str>::new());
    assert_eq!(values(&answer, "keep-alive"), Vec::<&str>::new());
    assert_eq!(values(&answer, "x-kept"), ["sk-of"]);
}

#[tokio::test]
async fn responses_without_a_body_keep_their_length() {
    let server = Server::start();
    let (_network, address) = start(&server).await;
    let client = send(
        address,
        "HEAD / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n",
    )
    .await;
    let mut upstream = server.accept().await;
    soon(read_head(&mut upstream)).await;
    let answer = b"HTTP/1.1 200 OK\r\ncontent-length: 1234\r\n\r\n";
    upstream.write_all(answer).await.unwrap();
    let answer = whole_answer(client).await;
    assert_eq!(values(&answer, "content-length"), ["1234"]);
    assert!(answer.ends_with("\r\n\r\n"), "{answer}");
}

#[tokio::test]
async fn redirects_are_not_followed() {
    let (server, elsewhere) = (Server::start(), Server::start());
    let (_network, address) = start(&server).await;
    let client = send(
        address,
        "GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n",
    )
    .await;
    let mut upstream = server.accept().await;
    soon(read_head(&mut upstream)).await;
    let location = format!("http://{}/", elsewhere.address);
    let answer =
        format!("HTTP/1.1 307 Elsewhere\r\nlocation: {location}\r\ncontent-length: 0\r\n\r\n");
    upstream.write_all(answer.as_bytes()).await.unwrap();
    let answer = whole_answer(client).await;
    assert!(answer.starts_with("HTTP/1.1 307 "), "{answer}");
    assert_eq!(values(&answer, "location"), [&location]);
    elsewhere.assert_unused();
}

#[tokio::test]
async fn a_server_that_is_down_is_a_bad_gateway() {
    let server = Server::start();
    let (_network, address) = start(&server).await;
    let request = "GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    // It hangs up without an answer.
    let client = send(address, request).await;
    drop(server.accept().await);
    check_bad_gateway(&whole_answer(client).await);
    // Nothing listens.
    drop(server);
    let client = send(address, request).await;
    check_bad_gateway(&whole_answer(client).await);
}

fn check_bad_gateway(answer: &str) {
    assert!(answer.starts_with("HTTP/1.1 502 "), "{answer}");
    let (_, text) = answer.split_once("\r\n\r\n").unwrap();
    assert!(
        text.starts_with("the model server did not answer: "),
        "{text}"
    );
    assert_eq!(text.lines().count(), 1, "{text}");
    assert!(!answer.contains(KEY));
}

#[tokio::test]
async fn what_is_not_plain_http_to_the_server_is_refused() {
    let server = Server::start();
    let (_network, address) = start(&server).await;
    for (status, start, headers) in [
        (426, "GET /v1/responses", "upgrade: WebSocket\r\n"),
        (426, "GET /v1/responses", "upgrade: h2c, websocket\r\n"),
        (405, "TRACE /", ""),
        (405, "CONNECT evil.test:443", ""),
        (400, "GET /../admin", ""),
        (400, "GET /%2e%2e/admin", ""),
        (400, "OPTIONS *", ""),
    ] {
        let request =
            format!("{start} HTTP/1.1\r\nhost: x\r\nconnection: close, upgrade\r\n{headers}\r\n");
        let answer = whole_answer(send(address, &request).await).await;
        assert!(
            answer.starts_with(&format!("HTTP/1.1 {status} ")),
            "{start}: {answer}"
        );
    }
    server.assert_unused();
    // An absolute target names another server in vain.
    let request = "GET http://evil.test/x HTTP/1.1\r\nhost: evil.test\r\nconnection: close\r\n\r\n";
    let head = relayed(&server, address, request).await;
    assert_eq!(head.lines().next(), Some("GET /base/x HTTP/1.1"));
}

#[tokio::test]
async fn the_byte_limit_ends_responses_and_refuses_requests() {
    let server = Server::start();
    let (network, address) = start_with(Egress {
        bytes_max: Some(50_000),
        models: vec![gateway(
            format!("http://{}", server.address),
            "x-api-key",
            "",
        )],
        ..Egress::default()
    })
    .await;
    let request = "GET / HTTP/1.1\r\nhost: x\r\n\r\n";
    let mut waiting = send(address, request).await;
    let mut silent = server.accept().await;
    soon(read_head(&mut silent)).await;
    let head = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n";
    silent.write_all(head).await.unwrap();
    soon(read_head(&mut waiting)).await;

    let client = send(address, request).await;
    let mut upstream = server.accept().await;
    soon(read_head(&mut upstream)).await;
    upstream.write_all(head).await.unwrap();
    upstream.write_all(b"186a0\r\n").await.unwrap();
    // Fails when the response is cut.
    upstream.write_all(&vec![b'a'; 100_000]).await.ok();
    upstream.write_all(b"\r\n0\r\n\r\n").await.ok();
    let answer = whole_answer(client).await;
    assert!(answer.starts_with("HTTP/1.1 200 OK"));
    assert!(!answer.ends_with("0\r\n\r\n"), "a cut response looks whole");
    assert!(answer.matches('a').count() < 50_000);
    assert_eq!(network.state.bytes_used(), 50_000);
    // The response on which nothing came is cut too.
    assert_eq!(read_rest(&mut waiting).await, b"");
    let request = "GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n";
    let answer = whole_answer(send(address, request).await).await;
    assert!(answer.starts_with("HTTP/1.1 403 "), "{answer}");
    assert!(answer.contains("limits.network_mib"), "{answer}");
}

#[tokio::test]
async fn gateways_that_cannot_work_are_refused() {
    let check = |change: &dyn Fn(&mut ModelGateway), why: &str| {
        let mut model = gateway("https://api.test/v1".to_owned(), "x-api-key", "");
        change(&mut model);
        let egress = Egress {
            models: vec![model],
            ..Egress::default()
        };
        let (refused, _reports) = tokio::sync::mpsc::channel(1);
        let limits = EgressLimits::default();
        let state = EgressState::new(egress, limits, std::sync::Arc::new(SystemResolver), refused);
        let error = state.err().map(|error| error.to_string());
        let expected = (!why.is_empty()).then(|| EgressError::Upstream {
            port: 4100,
            why: Box::leak(why.to_owned().into_boxed_str()),
        });
        assert_eq!(error, expected.map(|error| error.to_string()));
    };
    check(&|_| {}, "");
    check(&|it| it.upstream = "api.test".to_owned(), "is not a URL");
    check(
        &|it| it.upstream = "ftp://api.test".to_owned(),
        "must begin with http:// or https://",
    );
    check(
        &|it| it.upstream = "https://me:pw@api.test".to_owned(),
        "must not hold a user name or password",
    );
    check(
        &|it| it.upstream = "https://api.test/?a".to_owned(),
        "must not have a query or fragment",
    );
    check(
        &|it| it.header = "not a name".to_owned(),
        "has a header that is not a header name",
    );
    for key in ["", "a\nb"] {
        check(
            &|it| it.key = Token::new(key),
            "has a key that is empty or not printable ASCII",
        );
    }
}

#[test]
fn the_description_of_a_network_is_written_and_read_back() {
    let text = serde_json::json!({
        "hosts": ["example.com", "*.example.org", "git.test:22"],
        "private_hosts": ["git.test:22"],
        "bytes_max": 1024,
        "models": [{
            "port": 4100,
            "upstream": "https://api.test",
            "header": "x-api-key",
            "prefix": "",
            "key": KEY,
        }],
    });
    let egress: Egress = serde_json::from_value(text.clone()).unwrap();
    assert_eq!(serde_json::to_value(&egress).unwrap(), text);
    assert!(!format!("{egress:?}").contains(KEY));
    assert_eq!(
        serde_json::from_str::<Egress>("{}").unwrap(),
        Egress::default()
    );
    let wrong = serde_json::from_str::<Egress>(r#"{"hosts":["10.0.0.1"]}"#);
    let wrong = wrong.unwrap_err().to_string();
    assert!(
        wrong.starts_with("host \"10.0.0.1\": IP addresses are not allowed"),
        "{wrong}"
    );
}
