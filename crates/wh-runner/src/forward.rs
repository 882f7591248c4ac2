//! The agent's way to our tools: a loopback port of the runner that passes every call on to wherever the server is now.
//!
//! Many agents never recover from a lost MCP server, so they never see one: a call that comes while the server is away is held
//! until it is back ([`Limits::forward_hold_ms`](crate::Limits)). A call whose connection breaks before any answer is made again
//! with the same [`CALL_HEADER`], by which the server can tell that it is the same.

use std::{convert::Infallible, io, net::Ipv4Addr, path::Path, sync::Arc, time::Duration};

use http_body_util::{BodyExt, Either, Full, Limited};
use hyper::{
    Request, Response, StatusCode,
    body::{Bytes, Incoming},
    header::{
        AUTHORIZATION, CONNECTION, HOST, HeaderName, HeaderValue, ORIGIN, RETRY_AFTER,
        TRANSFER_ENCODING,
    },
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use subtle::ConstantTimeEq;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
    time::Instant,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::spec::{Limits, McpSpec};

/// Names a call, the same on every attempt.
const CALL_HEADER: HeaderName = HeaderName::from_static("x-wheelhouse-call");
/// The largest call that is passed on; a larger one is refused with 413.
const BODY_BYTES_MAX: usize = 8 << 20;
/// How often the server is looked for while it is away.
const RETRY: Duration = Duration::from_millis(50);

type Body = Either<Incoming, Full<Bytes>>;

/// Who may call at a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Door {
    /// Whoever has the token, which is passed on.
    Token,
    /// Any program of this machine, but no page of a browser; the token is added. All calls go to one address.
    Local,
}

/// The path at which a port is called that is open to the machine.
const LOCAL_PATH: &str = "/mcp";

/// The open port.
#[derive(Debug)]
pub struct Port {
    listener: TcpListener,
    url: String,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    mcp: McpSpec,
    door: Door,
    hold: Duration,
    places: Semaphore,
    tasks: TaskTracker,
}

impl Port {
    pub(crate) async fn open(mcp: McpSpec, limits: Limits) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let url = format!("http://{}{}", listener.local_addr()?, mcp.path);
        Ok(Self::new(listener, url, mcp, Door::Token, &limits))
    }

    /// Serves a port that is open already, in the agent's own network.
    pub(crate) fn on(listener: TcpListener, mcp: McpSpec, limits: Limits) -> Self {
        // The agent knows the address from elsewhere.
        Self::new(listener, String::new(), mcp, Door::Token, &limits)
    }

    /// Opens a port to every program of this machine. When it returns, the port listens.
    pub async fn open_local(mcp: McpSpec, limits: Limits) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
        let port = listener.local_addr()?.port();
        let url = format!("http://localhost:{port}{LOCAL_PATH}");
        Ok(Self::new(listener, url, mcp, Door::Local, &limits))
    }

    fn new(listener: TcpListener, url: String, mcp: McpSpec, door: Door, limits: &Limits) -> Self {
        let shared = Arc::new(Shared {
            mcp,
            door,
            hold: Duration::from_millis(limits.forward_hold_ms),
            places: Semaphore::new(limits.forward_calls_max),
            tasks: TaskTracker::new(),
        });
        Self {
            listener,
            url,
            shared,
        }
    }

    /// Returns the address that the agent is told.
    pub fn url(&self) -> String {
        self.url.clone()
    }

    /// Passes calls on until it is told to stop.
    pub async fn serve(self, tasks: TaskTracker, stop: CancellationToken) {
        loop {
            let accepted = tokio::select! {
                accepted = self.listener.accept() => accepted,
                () = stop.cancelled() => return,
            };
            let Ok((stream, _)) = accepted else { continue };
            // Streamed answers stall for 40 ms otherwise.
            stream.set_nodelay(true).ok();
            let (shared, stop) = (self.shared.clone(), stop.clone());
            tasks.spawn(async move {
                let service = service_fn(|request| forward(&shared, request));
                let mut http = hyper::server::conn::http1::Builder::new();
                let connection = http
                    .keep_alive(true)
                    .serve_connection(TokioIo::new(stream), service);
                tokio::select! {
                    // An agent that hangs up is no concern of ours.
                    ended = connection => drop(ended),
                    () = stop.cancelled() => {}
                }
            });
        }
    }
}

async fn forward(
    shared: &Shared,
    request: Request<Incoming>,
) -> Result<Response<Body>, Infallible> {
    if let Err((status, why)) = admit(shared, &request) {
        return Ok(say(status, why));
    }
    let Ok(_place) = shared.places.try_acquire() else {
        return Ok(say(
            StatusCode::SERVICE_UNAVAILABLE,
            "too many calls are waiting; try again",
        ));
    };
    let (mut parts, body) = request.into_parts();
    let Ok(body) = Limited::new(body, BODY_BYTES_MAX).collect().await else {
        return Ok(say(StatusCode::PAYLOAD_TOO_LARGE, "the call is too large"));
    };
    let body = body.to_bytes();
    parts.headers.remove(CONNECTION);
    parts.headers.remove(TRANSFER_ENCODING);
    if shared.door == Door::Local && !readdress(shared, &mut parts) {
        return Ok(say(StatusCode::BAD_GATEWAY, "the port has no address"));
    }
    if let Ok(call) = HeaderValue::from_str(&uuid::Uuid::now_v7().to_string()) {
        parts.headers.insert(CALL_HEADER, call);
    }
    let deadline = Instant::now() + shared.hold;
    loop {
        match attempt(shared, &parts, body.clone()).await {
            Ok(response) => return Ok(response.map(Either::Left)),
            Err(error) if Instant::now() >= deadline => {
                tracing::warn!(%error, "a call of the agent was held for too long");
                return Ok(say(
                    StatusCode::SERVICE_UNAVAILABLE,
                    "the server is away; try again",
                ));
            }
            Err(_) => tokio::time::sleep(RETRY).await,
        }
    }
}

/// Decides whether a call is passed on.
fn admit<B>(shared: &Shared, request: &Request<B>) -> Result<(), (StatusCode, &'static str)> {
    let header = |name| request.headers().get(name);
    match shared.door {
        Door::Token => {
            let expected = format!("Bearer {}", shared.mcp.token.reveal());
            let is_it = |given: &HeaderValue| given.as_bytes().ct_eq(expected.as_bytes()).into();
            match header(AUTHORIZATION).is_some_and(is_it) {
                true => Ok(()),
                false => Err((
                    StatusCode::UNAUTHORIZED,
                    "this port serves one session, with its own token",
                )),
            }
        }
        Door::Local => {
            let host = header(HOST).and_then(|host| host.to_str().ok());
            let name = host.map(|host| host.rsplit_once(':').map_or(host, |(name, _)| name));
            let is_local = name.is_some_and(|name| matches!(name, "localhost" | "127.0.0.1"));
            // A page of any site can send a request here, and a name of its own can lead here.
            if header(ORIGIN).is_some() || !is_local {
                return Err((StatusCode::FORBIDDEN, "this port is not for browsers"));
            }
            match request.uri().path() == LOCAL_PATH {
                true => Ok(()),
                false => Err((StatusCode::NOT_FOUND, "the tools are at /mcp")),
            }
        }
    }
}

/// Sends a call to the one address that a local port is for, with the token that opens it.
fn readdress(shared: &Shared, parts: &mut http::request::Parts) -> bool {
    let bearer = format!("Bearer {}", shared.mcp.token.reveal());
    let (Ok(uri), Ok(bearer)) = (shared.mcp.path.parse(), HeaderValue::from_str(&bearer)) else {
        return false;
    };
    parts.uri = uri;
    parts.headers.insert(AUTHORIZATION, bearer);
    true
}

/// Makes the call once, at the server's address of this moment.
async fn attempt(
    shared: &Shared,
    parts: &http::request::Parts,
    body: Bytes,
) -> io::Result<Response<Incoming>> {
    let authority = server_authority(&shared.mcp.server_file)?;
    let stream = TcpStream::connect(&authority).await?;
    stream.set_nodelay(true)?;
    let handshake = hyper::client::conn::http1::handshake(TokioIo::new(stream)).await;
    let (mut sender, connection) = handshake.map_err(io::Error::other)?;
    shared.tasks.spawn(async move {
        // Errors reach the caller through its answer.
        connection.await.ok();
    });
    let mut request = Request::new(Full::new(body));
    *request.method_mut() = parts.method.clone();
    *request.uri_mut() = parts.uri.clone();
    *request.headers_mut() = parts.headers.clone();
    let host = HeaderValue::from_str(&authority).map_err(io::Error::other)?;
    request.headers_mut().insert(HOST, host);
    sender.send_request(request).await.map_err(io::Error::other)
}

/// Reads where the server is; absent while it is away.
fn server_authority(file: &Path) -> io::Result<String> {
    #[derive(serde::Deserialize)]
    struct ServerFile {
        url: String,
    }
    let file: ServerFile = serde_json::from_slice(&std::fs::read(file)?)?;
    let url: http::Uri = file.url.parse().map_err(io::Error::other)?;
    let host = url.host().unwrap_or("127.0.0.1");
    Ok(format!("{host}:{}", url.port_u16().unwrap_or(80)))
}

fn say(status: StatusCode, text: &'static str) -> Response<Body> {
    let mut response = Response::new(Either::Right(Full::from(text)));
    *response.status_mut() = status;
    if status == StatusCode::SERVICE_UNAVAILABLE {
        response
            .headers_mut()
            .insert(RETRY_AFTER, HeaderValue::from_static("1"));
    }
    response
}
