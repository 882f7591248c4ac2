//! Accepts connections and serves HTTP/1.1 on them, within limits.
//!
//! `axum::serve` sets no time-out for headers, no cap on connections and leaves Nagle's algorithm on; hence hyper's
//! connection builder, one task per connection on one tracker. A connection that panics, stalls or misbehaves ends
//! alone. WebSocket upgrades work as usual.

mod body;
mod gate;
mod limits;

use std::{
    convert::Infallible, io, net::SocketAddr, panic::AssertUnwindSafe, sync::Arc, time::Duration,
};

use axum::body::Body;
use futures::FutureExt;
use http::{HeaderValue, Request, Response, StatusCode, header};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt},
    net::{TcpListener, UnixListener},
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tower::ServiceExt;
use wh_app::LocalPeer;

use self::{
    body::TimedBody,
    gate::{Admission, Gate},
};
pub use self::{gate::ConnectionSlot, limits::Limits};
use crate::guard::error_response;

/// Pause after an accept that failed for want of file descriptors or memory.
const ACCEPT_RETRY: Duration = Duration::from_millis(50);
/// Connections that are closed then, if nobody has authenticated on them.
const ROOM_AFTER_FAILURE: usize = 64;
/// How long a refused client may take to read why.
const REFUSAL_LINGER: Duration = Duration::from_secs(1);
const TOO_MANY: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nContent-Type: application/json\r\nRetry-After: 5\r\nConnection: close\r\nContent-Length: 115\r\n\r\n{\"error\":{\"code\":\"UNAVAILABLE\",\"message\":\"too many open connections\",\"hint\":\"close idle ones and try again later\"}}";

/// Who is at the other end of a connection; an extension of every request on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Peer {
    /// A TCP client.
    Tcp(SocketAddr),
    /// A client of the Unix socket, as the kernel knew it when it connected.
    Unix {
        /// The user it runs as.
        uid: u32,
        /// Its process, where the platform tells.
        pid: Option<i32>,
    },
}

/// A socket to accept connections from.
#[derive(Debug)]
pub enum Listener {
    /// TCP, with the per-address cap.
    Tcp(TcpListener),
    /// A Unix socket; its clients are told apart by user, not by address.
    Unix(UnixListener),
}

/// How serving ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Drained {
    /// Connections that were still busy when the grace period ended, and were cut.
    pub cut: usize,
}

/// Serves `service` on every listener until `shutdown` is cancelled, then lets open requests finish for
/// [`Limits::shutdown_grace`].
pub async fn serve<S, B>(
    listeners: Vec<Listener>,
    service: S,
    limits: Limits,
    shutdown: CancellationToken,
) -> Drained
where
    S: tower::Service<Request<Body>, Response = Response<B>, Error = Infallible>,
    S: Clone + Send + Sync + 'static,
    S::Future: Send + 'static,
    B: http_body::Body<Data = bytes::Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    let server = Server {
        service,
        gate: Arc::new(Gate::new(&limits)),
        limits: Arc::new(limits),
        connections: TaskTracker::new(),
        shutdown,
        cut: CancellationToken::new(),
    };
    futures::future::join_all(
        listeners
            .into_iter()
            .map(|listener| server.accept(listener)),
    )
    .await;
    server.drain().await
}

#[derive(Clone)]
struct Server<S> {
    service: S,
    gate: Arc<Gate>,
    limits: Arc<Limits>,
    connections: TaskTracker,
    shutdown: CancellationToken,
    cut: CancellationToken,
}

impl<S, B> Server<S>
where
    S: tower::Service<Request<Body>, Response = Response<B>, Error = Infallible>,
    S: Clone + Send + Sync + 'static,
    S::Future: Send + 'static,
    B: http_body::Body<Data = bytes::Bytes> + Send + 'static,
    B::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    async fn accept(&self, listener: Listener) {
        loop {
            let accepted = tokio::select! {
                accepted = self.accept_one(&listener) => accepted,
                () = self.shutdown.cancelled() => return,
            };
            if let Err(error) = accepted {
                tracing::warn!(%error, "accepting a connection failed");
                if !is_of_one_connection(&error) {
                    self.gate.make_room(ROOM_AFTER_FAILURE);
                    tokio::time::sleep(ACCEPT_RETRY).await;
                }
            }
        }
    }

    async fn accept_one(&self, listener: &Listener) -> io::Result<()> {
        match listener {
            Listener::Tcp(listener) => {
                let (stream, address) = listener.accept().await?;
                // Answers are often several small writes; each would wait 40 ms for an acknowledgement.
                stream.set_nodelay(true)?;
                self.start(stream, Peer::Tcp(address), None);
            }
            Listener::Unix(listener) => {
                let (stream, _) = listener.accept().await?;
                let credentials = stream.peer_cred()?;
                let peer = Peer::Unix {
                    uid: credentials.uid(),
                    pid: credentials.pid(),
                };
                let local = LocalPeer::of(&stream);
                self.start(stream, peer, Some(local));
            }
        }
        Ok(())
    }

    fn start<I>(&self, stream: I, peer: Peer, local: Option<LocalPeer>)
    where
        I: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        match self.gate.enter(&peer) {
            Admission::Granted(slot) => {
                let server = self.clone();
                self.connections.spawn(async move {
                    server.run(stream, peer, local, slot).await;
                });
            }
            Admission::Full(Some(linger)) => {
                tracing::warn!(?peer, "refusing a connection: too many are open");
                self.connections.spawn(async move {
                    // Too slow to read the refusal is the client's loss.
                    let _too_slow = tokio::time::timeout(REFUSAL_LINGER, refuse(stream)).await;
                    drop(linger);
                });
            }
            Admission::Full(None) => drop(stream),
        }
    }

    async fn run<I>(&self, stream: I, peer: Peer, local: Option<LocalPeer>, slot: ConnectionSlot)
    where
        I: AsyncRead + AsyncWrite + Send + Unpin + 'static,
    {
        let handler = service_fn(|mut request: Request<Incoming>| {
            let extensions = request.extensions_mut();
            extensions.insert(peer);
            extensions.insert(slot.clone());
            if let Some(local) = &local {
                extensions.insert(local.clone());
            }
            self.handle(request)
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(self.limits.header_read)
            .max_headers(self.limits.headers_max)
            // hyper checks before a read that may double the buffer, so half of the limit enforces it.
            .max_buf_size((self.limits.header_bytes_max / 2).max(8192))
            .serve_connection(TokioIo::new(stream), handler)
            .with_upgrades();
        let mut connection = std::pin::pin!(connection);
        let mut is_ending = false;
        loop {
            tokio::select! {
                ended = connection.as_mut() => {
                    if let Err(error) = ended {
                        tracing::debug!(%error, ?peer, "a connection ended early");
                    }
                    return;
                }
                () = slot.evicted() => {
                    tracing::debug!(?peer, "closing a connection on which nobody has authenticated");
                    return;
                }
                () = self.shutdown.cancelled(), if !is_ending => {
                    is_ending = true;
                    connection.as_mut().graceful_shutdown();
                }
                // Cutting comes after ending, and to look at a token costs a lock that all connections share.
                () = self.cut.cancelled(), if is_ending => return,
            }
        }
    }

    async fn handle(&self, request: Request<Incoming>) -> Result<Response<Body>, Infallible> {
        let (parts, body) = request.into_parts();
        let (body, is_late) = TimedBody::wrap(body, self.limits.body_read);
        let response = self
            .service
            .clone()
            .oneshot(Request::from_parts(parts, body));
        let response = match AssertUnwindSafe(response).catch_unwind().await {
            Ok(Ok(response)) => response.map(Body::new),
            Err(_) => {
                tracing::error!("a request handler panicked");
                error_response(
                    StatusCode::INTERNAL_SERVER_ERROR,
                    "INTERNAL",
                    "the server failed to answer this request",
                    "the server's log says why; please report it",
                )
            }
        };
        // A handler that noticed has said so, with headers that this layer does not know.
        let is_told = response.status() == StatusCode::REQUEST_TIMEOUT;
        Ok(if is_late.get() && !is_told {
            too_late()
        } else {
            response
        })
    }

    async fn drain(&self) -> Drained {
        self.connections.close();
        let finished =
            tokio::time::timeout(self.limits.shutdown_grace, self.connections.wait()).await;
        let cut = match finished {
            Ok(()) => 0,
            Err(_) => self.connections.len(),
        };
        if cut > 0 {
            tracing::warn!(cut, "cutting connections that outlasted the grace period");
            self.cut.cancel();
            self.connections.wait().await;
        }
        Drained { cut }
    }
}

/// Whether accepting failed for a reason that concerns only the connection at hand.
fn is_of_one_connection(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted
            | io::ErrorKind::ConnectionReset
            | io::ErrorKind::ConnectionRefused
            | io::ErrorKind::NotConnected
            | io::ErrorKind::InvalidInput
    )
}

/// The answer to a body that did not arrive in time. The rest of it may still come, so the connection ends.
fn too_late() -> Response<Body> {
    let mut response = error_response(
        StatusCode::REQUEST_TIMEOUT,
        "INVALID_INPUT",
        "the request body did not arrive in time",
        "send it without pauses, or in smaller requests",
    );
    response
        .headers_mut()
        .insert(header::CONNECTION, HeaderValue::from_static("close"));
    response
}

/// Says why, then waits for the client to hang up: closing with unread input would discard the answer.
async fn refuse<I: AsyncRead + AsyncWrite + Unpin>(mut stream: I) -> io::Result<()> {
    stream.write_all(TOO_MANY).await?;
    stream.shutdown().await?;
    let mut ignored = [0; 1024];
    while stream.read(&mut ignored).await? > 0 {}
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_refusal_declares_its_true_length() {
        let text = std::str::from_utf8(TOO_MANY).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        assert!(head.ends_with(&format!("Content-Length: {}", body.len())));
    }
}
