//! What the binary mounts: MCP over HTTP and as lines; and a handler that panics.

use std::{convert::Infallible, sync::Arc, time::Duration};

use axum::body::Body;
use futures::future::BoxFuture;
use http::{Extensions, Method, Request, Response};
use hyper::body::Incoming;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio_util::sync::CancellationToken;
use tower::service_fn;
use wh_domain::Principal;
use wh_http::{LineServer, LineStream, Mounts, RequestId};

use crate::{client::Call, harness::TestServer};

/// Says who called and with which query; panics when asked to.
async fn echo(request: Request<Body>) -> Result<Response<Body>, Infallible> {
    let query = request.uri().query().unwrap_or_default().to_owned();
    assert_ne!(
        query, "panic",
        "as asked, with wh_full_0123456789abcdef0123456789abcdef"
    );
    assert!(request.extensions().get::<RequestId>().is_some());
    let principal = request.extensions().get::<Principal>().unwrap();
    let kind = principal.credential.kind().as_str();
    Ok(Response::new(Body::from(format!("{kind} {query}"))))
}

/// Answers each line with the caller and the line, until told to end.
struct EchoLines;

impl LineServer for EchoLines {
    fn serve(
        &self,
        stream: LineStream,
        extensions: Extensions,
        ended: CancellationToken,
    ) -> BoxFuture<'static, ()> {
        Box::pin(async move {
            let principal: &Principal = extensions.get().unwrap();
            let kind = principal.credential.kind().as_str();
            let (read, mut write) = tokio::io::split(stream);
            let mut lines = BufReader::new(read).lines();
            loop {
                tokio::select! {
                    line = lines.next_line() => {
                        let Ok(Some(line)) = line else { return };
                        write.write_all(format!("{kind} {line}\n").as_bytes()).await.unwrap();
                    }
                    () = ended.cancelled() => {
                        write.write_all(b"bye\n").await.unwrap();
                        return;
                    }
                }
            }
        })
    }
}

async fn start() -> TestServer {
    let mounts = Mounts {
        mcp: Some(wh_http::mount(service_fn(echo))),
        lines: Some(Arc::new(EchoLines)),
        dialects: Vec::new(),
    };
    TestServer::start_with(|_| {}, mounts).await
}

fn lines_call(server: &TestServer) -> Call<'_> {
    let call = server.get("/mcp/stdio").header("connection", "Upgrade");
    call.header("upgrade", "mcp-lines")
}

async fn open_lines(response: Response<Incoming>) -> BufReader<TokioIo<hyper::upgrade::Upgraded>> {
    assert_eq!(response.status(), 101);
    assert_eq!(response.headers()["upgrade"], "mcp-lines");
    let upgraded = hyper::upgrade::on(response).await.unwrap();
    BufReader::new(TokioIo::new(upgraded))
}

async fn next_line(stream: &mut BufReader<TokioIo<hyper::upgrade::Upgraded>>) -> String {
    let mut line = String::new();
    let read = stream.read_line(&mut line);
    let read = tokio::time::timeout(Duration::from_secs(5), read).await;
    read.expect("a line in time").unwrap();
    line
}

#[tokio::test]
async fn mcp_gets_every_method_the_query_and_the_caller() {
    let server = start().await;
    for method in [Method::GET, Method::POST, Method::DELETE] {
        let call = server.call(method, "/mcp?toolsets=all").key(&server.admin);
        assert_eq!(call.send().await.text(), "full toolsets=all");
    }
    // Its bodies are its own affair.
    let call = server.post("/mcp").key(&server.admin);
    let answer = call.body("x".repeat(2 * 1024 * 1024)).send().await;
    assert_eq!(answer.status, 200);
    server
        .post("/mcp")
        .send()
        .await
        .refused(401, "UNAUTHENTICATED");
}

#[tokio::test]
async fn a_panic_is_one_failed_request() {
    let server = start().await;
    let answer = server.post("/mcp?panic").key(&server.admin).send().await;
    let message = answer.refused(500, "INTERNAL");
    assert!(!message.contains("as asked"), "{message}");
    assert_eq!(server.get("/healthz").send().await.status, 200);
    server.board(&server.admin, "after").await;
}

#[tokio::test]
async fn lines_are_spoken_after_an_upgrade() {
    let server = start().await;
    let mut stream = open_lines(lines_call(&server).key(&server.admin).open().await).await;
    stream.write_all(b"one\ntwo\n").await.unwrap();
    assert_eq!(next_line(&mut stream).await, "full one\n");
    assert_eq!(next_line(&mut stream).await, "full two\n");
    let answer = server.get("/mcp/stdio").key(&server.admin).send().await;
    answer.refused(426, "INVALID_INPUT");
    assert_eq!(answer.header("upgrade"), "mcp-lines");
    // Stopping tells the connection and waits for it.
    let stopping = server.stop();
    let (_, rest) = tokio::join!(stopping, async {
        let mut rest = String::new();
        stream.read_to_string(&mut rest).await.unwrap();
        rest
    });
    assert_eq!(rest, "bye\n");
}

#[tokio::test]
async fn lines_need_no_key_on_the_local_socket() {
    let server = start().await;
    let mut stream = open_lines(lines_call(&server).open_local().await).await;
    stream.write_all(b"one\n").await.unwrap();
    assert_eq!(next_line(&mut stream).await, "local one\n");
    let answer = lines_call(&server).send().await;
    answer.refused(401, "UNAUTHENTICATED");
}

#[tokio::test]
async fn lines_end_with_their_key() {
    let server = start().await;
    let key = server.member("mia").await;
    let mut stream = open_lines(lines_call(&server).key(&key).open().await).await;
    let who = server.get("/api/v1/whoami").key(&key).send().await.ok(200);
    let path = format!("/api/v1/keys/{}", who["key_id"].as_str().unwrap());
    let call = server.call(Method::DELETE, &path).key(&server.admin);
    call.send().await.ok(200);
    assert_eq!(next_line(&mut stream).await, "bye\n");
}
