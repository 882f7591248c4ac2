//! A small application behind the guard, and a client that writes raw HTTP.

use std::{net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use axum::{
    Router, body::Bytes, extract::State, http::StatusCode, response::IntoResponse, routing,
};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpListener, TcpStream, UnixListener, UnixStream},
    sync::Notify,
    task::JoinHandle,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tower::Layer;
use wh_http::{
    guard::{GuardConfig, GuardLayer},
    serve::{ConnectionSlot, Drained, Limits, Listener, Peer, serve},
};

/// Longer than anything here should take.
const PATIENCE: Duration = Duration::from_secs(10);

pub(crate) struct Server {
    pub(crate) address: SocketAddr,
    pub(crate) socket: PathBuf,
    pub(crate) shutdown: CancellationToken,
    pub(crate) served: JoinHandle<Drained>,
    /// Rung when a request to `/wait` has arrived.
    pub(crate) arrived: Arc<Notify>,
    /// Lets one request to `/wait` go on.
    pub(crate) release: Arc<Notify>,
    _directory: tempfile::TempDir,
}

#[derive(Clone)]
struct Bells {
    arrived: Arc<Notify>,
    release: Arc<Notify>,
}

impl Server {
    pub(crate) async fn start() -> Self {
        Self::with(Limits::default()).await
    }

    pub(crate) async fn with(limits: Limits) -> Self {
        let tcp = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = tcp.local_addr().unwrap();
        let directory = tempfile::tempdir().unwrap();
        let socket = directory.path().join("s");
        let unix = UnixListener::bind(&socket).unwrap();
        let bells = Bells {
            arrived: Arc::default(),
            release: Arc::default(),
        };
        let guard = GuardLayer::new(&GuardConfig::for_address(address));
        let shutdown = CancellationToken::new();
        let serving = serve(
            vec![Listener::Tcp(tcp), Listener::Unix(unix)],
            guard.layer(application(bells.clone())),
            limits,
            shutdown.clone(),
        );
        Self {
            address,
            socket,
            shutdown,
            served: TaskTracker::new().spawn(serving),
            arrived: bells.arrived,
            release: bells.release,
            _directory: directory,
        }
    }

    pub(crate) async fn connect(&self) -> Client<TcpStream> {
        Client {
            stream: TcpStream::connect(self.address).await.unwrap(),
        }
    }

    pub(crate) async fn connect_unix(&self) -> Client<UnixStream> {
        Client {
            stream: UnixStream::connect(&self.socket).await.unwrap(),
        }
    }

    /// Sends a GET with these headers on a connection of its own.
    pub(crate) async fn get(&self, path: &str, headers: &str) -> String {
        let mut client = self.connect().await;
        client
            .write(&format!(
                "GET {path} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n"
            ))
            .await;
        client.read_to_end().await
    }

    pub(crate) fn host(&self) -> String {
        format!("Host: {}\r\n", self.address)
    }
}

fn application(bells: Bells) -> Router {
    Router::new()
        .route("/ok", routing::any(|| async { "fine" }))
        .route("/authenticated", routing::get(authenticated))
        .route("/peer", routing::get(peer))
        .route(
            "/body",
            routing::post(|body: Bytes| async move { body.len().to_string() }),
        )
        .route("/panic", routing::get(panic))
        .route("/wait", routing::get(wait))
        .route("/ws", routing::any(upgrade))
        .with_state(bells)
}

async fn upgrade(upgrade: axum::extract::ws::WebSocketUpgrade) -> axum::response::Response {
    upgrade.on_upgrade(|mut socket| async move {
        if let Some(Ok(message)) = socket.recv().await {
            socket.send(message).await.unwrap();
        }
    })
}

async fn peer(axum::Extension(peer): axum::Extension<Peer>) -> String {
    format!("{peer:?}")
}

async fn authenticated(axum::Extension(slot): axum::Extension<ConnectionSlot>) -> &'static str {
    slot.set_authenticated();
    "fine"
}

async fn panic() -> StatusCode {
    panic!("on purpose")
}

async fn wait(State(bells): State<Bells>) -> impl IntoResponse {
    bells.arrived.notify_one();
    bells.release.notified().await;
    "released"
}

pub(crate) struct Client<S> {
    pub(crate) stream: S,
}

impl<S: AsyncRead + AsyncWrite + Unpin> Client<S> {
    pub(crate) async fn write(&mut self, text: &str) {
        self.stream.write_all(text.as_bytes()).await.unwrap();
    }

    /// Reads until the server hangs up. A reset counts as that too.
    pub(crate) async fn read_to_end(&mut self) -> String {
        let mut text = Vec::new();
        let read = tokio::time::timeout(PATIENCE, self.stream.read_to_end(&mut text));
        drop(read.await.expect("the server to hang up"));
        String::from_utf8(text).unwrap()
    }

    /// Reads until the text has arrived.
    pub(crate) async fn read_until(&mut self, wanted: &str) -> String {
        let mut text = String::new();
        let mut chunk = [0; 1024];
        while !text.contains(wanted) {
            let read = tokio::time::timeout(PATIENCE, self.stream.read(&mut chunk)).await;
            let length = read.expect("more to read").unwrap();
            assert!(length > 0, "hung up after {text:?}");
            text.push_str(&String::from_utf8_lossy(&chunk[..length]));
        }
        text
    }
}
