//! Sends requests that no well-behaved client sends, byte by byte.

use std::{cell::OnceCell, time::Duration};

use reqwest::{Client, Method, Response, redirect::Policy};
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};
use wh_testkit::server::TestServer;

/// Longer than any answer takes.
const TIMEOUT: Duration = Duration::from_secs(20);

/// Headers that ask for a WebSocket.
pub(crate) const UPGRADE: &str = "Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n\
    Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";

/// Returns the host and port that a server listens on.
pub(crate) fn host(server: &TestServer) -> &str {
    server.url().trim_start_matches("http://")
}

/// Opens a connection and sends these bytes.
pub(crate) async fn open(server: &TestServer, bytes: &str) -> TcpStream {
    let mut stream = TcpStream::connect(host(server)).await.unwrap();
    stream.write_all(bytes.as_bytes()).await.unwrap();
    stream
}

/// Reads the headers of an answer; nothing when the server closed the connection first.
pub(crate) async fn head(stream: &mut TcpStream) -> String {
    let mut read = Vec::new();
    let mut chunk = [0; 1024];
    while !read.windows(4).any(|it| it == b"\r\n\r\n") {
        let received = timeout(TIMEOUT, stream.read(&mut chunk)).await;
        match received.expect("an answer or a closed connection") {
            Ok(0) | Err(_) => break,
            Ok(length) => read.extend_from_slice(&chunk[..length]),
        }
    }
    String::from_utf8_lossy(&read).into_owned()
}

/// Returns the status of an answer's head, 0 when there was none.
pub(crate) fn status_of(head: &str) -> u16 {
    let status = head.split(' ').nth(1).and_then(|it| it.parse().ok());
    status.unwrap_or(0)
}

/// Sends a request without a body and returns the status of the answer.
pub(crate) async fn status(server: &TestServer, method: &str, path: &str, headers: &str) -> u16 {
    let request = format!("{method} {path} HTTP/1.1\r\n{headers}\r\n");
    status_of(&head(&mut open(server, &request).await).await)
}

thread_local! {
    /// The client of the test that runs on this thread; making one takes long.
    static HTTP: OnceCell<Client> = const { OnceCell::new() };
}

/// Returns a client that follows no redirects.
pub(crate) fn http(server: &TestServer) -> Client {
    let make = || {
        // Making a client of ours sets TLS up, which reqwest wants even for plain HTTP.
        drop(server.client());
        let builder = Client::builder().no_proxy().redirect(Policy::none());
        builder.build().unwrap()
    };
    HTTP.with(|it| it.get_or_init(make).clone())
}

/// Calls the REST interface with a key.
pub(crate) async fn rest(
    server: &TestServer,
    key: &str,
    method: Method,
    path: &str,
    body: Option<&Value>,
) -> Response {
    let mut request = http(server)
        .request(method, format!("{}{path}", server.url()))
        .bearer_auth(key);
    if let Some(body) = body {
        request = request.json(body);
    }
    request.send().await.unwrap()
}
