//! A small HTTP client: one connection per request, TCP or Unix.

use std::time::Duration;

use axum::body::Body;
use http::{HeaderMap, Method, Request, Response, StatusCode, header};
use http_body_util::BodyExt;
use hyper::{body::Incoming, client::conn::http1};
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_util::task::TaskTracker;

use crate::harness::TestServer;

/// What a server answered.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) bytes: Vec<u8>,
}

impl Answer {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.bytes).unwrap_or_else(|_| panic!("not JSON: {}", self.text()))
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.bytes).into_owned()
    }

    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", |v| v.to_str().unwrap())
    }

    /// Checks the one error shape, and returns the message.
    #[track_caller]
    pub(crate) fn refused(&self, status: u16, code: &str) -> String {
        assert_eq!(self.status, status, "{}", self.text());
        let body = self.json();
        assert_eq!(body["error"]["code"], code, "{body}");
        assert!(!self.header("x-request-id").is_empty());
        body["error"]["message"].as_str().unwrap().to_owned()
    }

    #[track_caller]
    pub(crate) fn ok(self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.text());
        self.json()
    }
}

/// A request to be sent.
pub(crate) struct Call<'a> {
    server: &'a TestServer,
    request: http::request::Builder,
    body: Body,
}

impl<'a> Call<'a> {
    pub(crate) fn new(server: &'a TestServer, method: Method, path: &str) -> Self {
        let host = server.address.to_string();
        let request = Request::builder().method(method).uri(path);
        Self {
            server,
            request: request.header(header::HOST, host),
            body: Body::empty(),
        }
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.request = self.request.header(name, value);
        self
    }

    pub(crate) fn key(self, key: &str) -> Self {
        self.header("authorization", &format!("Bearer {key}"))
    }

    pub(crate) fn cookie(self, secret: &str) -> Self {
        self.header("cookie", &format!("__Host-wheelhouse={secret}"))
    }

    pub(crate) fn json(self, body: &Value) -> Self {
        self.header("content-type", "application/json")
            .body(body.to_string())
    }

    pub(crate) fn body(mut self, body: impl Into<Body>) -> Self {
        self.body = body.into();
        self
    }

    /// Sends it over TCP and reads the whole answer.
    pub(crate) async fn send(self) -> Answer {
        read(self.open().await).await
    }

    /// Sends it over the Unix socket.
    pub(crate) async fn send_local(self) -> Answer {
        read(self.open_local().await).await
    }

    /// Sends it over the Unix socket and returns as soon as the head of the answer is there.
    pub(crate) async fn open_local(self) -> Response<Incoming> {
        let stream = tokio::net::UnixStream::connect(&self.server.socket).await;
        exchange(stream.unwrap(), self.request.body(self.body).unwrap()).await
    }

    /// Sends it and returns as soon as the head of the answer is there.
    pub(crate) async fn open(self) -> Response<Incoming> {
        let stream = tokio::net::TcpStream::connect(self.server.address).await;
        exchange(stream.unwrap(), self.request.body(self.body).unwrap()).await
    }
}

async fn exchange<S>(stream: S, request: Request<Body>) -> Response<Incoming>
where
    S: AsyncRead + AsyncWrite + Send + Unpin + 'static,
{
    let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
    drop(TaskTracker::new().spawn(connection.with_upgrades()));
    let sent = sender.send_request(request);
    tokio::time::timeout(Duration::from_secs(20), sent)
        .await
        .expect("an answer in time")
        .unwrap()
}

pub(crate) async fn read(response: Response<Incoming>) -> Answer {
    let (parts, body) = response.into_parts();
    let is_stream = parts.status == StatusCode::SWITCHING_PROTOCOLS;
    let bytes = if is_stream {
        vec![]
    } else {
        body.collect().await.unwrap().to_bytes().to_vec()
    };
    Answer {
        status: parts.status.as_u16(),
        headers: parts.headers,
        bytes,
    }
}
