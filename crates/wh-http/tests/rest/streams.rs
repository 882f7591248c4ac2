//! Reads event streams: server-sent events and WebSocket frames.

use std::time::Duration;

use http::Response;
use http_body_util::BodyExt;
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use serde_json::Value;
use tokio::io::AsyncReadExt;

use crate::{client::Call, harness::TestServer};

pub(crate) type Socket = TokioIo<hyper::upgrade::Upgraded>;

/// Reads server-sent events as they come.
pub(crate) struct Sse {
    body: Incoming,
    text: String,
}

impl Sse {
    pub(crate) async fn open(call: Call<'_>) -> Self {
        let response = call.header("accept", "text/event-stream").open().await;
        assert_eq!(response.status(), 200);
        assert_eq!(response.headers()["content-type"], "text/event-stream");
        assert_eq!(response.headers()["x-accel-buffering"], "no");
        let mut sse = Self {
            body: response.into_body(),
            text: String::new(),
        };
        assert_eq!(sse.block().await.as_deref(), Some("retry: 1000"));
        sse
    }

    /// Returns the next block; nothing when the stream has ended.
    pub(crate) async fn block(&mut self) -> Option<String> {
        loop {
            if let Some((block, rest)) = self.text.split_once("\n\n") {
                let (block, rest) = (block.to_owned(), rest.to_owned());
                self.text = rest;
                return Some(block);
            }
            let frame = tokio::time::timeout(Duration::from_secs(5), self.body.frame());
            let frame = frame.await.expect("something in time")?.unwrap();
            let data = frame.into_data().unwrap();
            self.text.push_str(std::str::from_utf8(&data).unwrap());
        }
    }

    /// Returns the id, the name and the data of the next event.
    pub(crate) async fn next(&mut self) -> (u64, String, Value) {
        let block = self.block().await.expect("an event");
        let mut lines = block.lines();
        let mut part = |name: &str| lines.next().unwrap().strip_prefix(name).unwrap().to_owned();
        let (id, event) = (part("id: "), part("event: "));
        let data = serde_json::from_str(&part("data: ")).unwrap();
        (id.parse().unwrap(), event, data)
    }
}

pub(crate) fn socket_call<'a>(server: &'a TestServer, path: &str) -> Call<'a> {
    let call = server.get(path).header("connection", "Upgrade");
    let call = call.header("upgrade", "websocket");
    let call = call.header("sec-websocket-version", "13");
    call.header("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==")
}

pub(crate) async fn upgraded(response: Response<Incoming>) -> Socket {
    assert_eq!(response.status(), 101);
    TokioIo::new(hyper::upgrade::on(response).await.unwrap())
}

/// Reads one frame from a server: its opcode and what it holds.
pub(crate) async fn frame(socket: &mut Socket) -> (u8, Vec<u8>) {
    let read = async {
        let first = socket.read_u8().await.unwrap();
        let length = match socket.read_u8().await.unwrap() {
            126 => usize::from(socket.read_u16().await.unwrap()),
            127 => usize::try_from(socket.read_u64().await.unwrap()).unwrap(),
            length => usize::from(length),
        };
        let mut bytes = vec![0; length];
        socket.read_exact(&mut bytes).await.unwrap();
        (first & 0x0f, bytes)
    };
    let read = tokio::time::timeout(Duration::from_secs(5), read);
    read.await.expect("a frame in time")
}

pub(crate) async fn message(socket: &mut Socket) -> Value {
    let (opcode, bytes) = frame(socket).await;
    assert_eq!(opcode, 1);
    serde_json::from_slice(&bytes).unwrap()
}
