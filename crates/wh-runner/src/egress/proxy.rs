//! The CONNECT proxy: an agent's way to the hosts of a list.

use std::{convert::Infallible, io, net::SocketAddr, sync::Arc, time::Duration};

use http_body_util::Full;
use hyper::{
    Method, Request, Response, StatusCode,
    body::{Bytes, Incoming},
    header::{ALLOW, HeaderValue},
    service::service_fn,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use wh_domain::{HostName, parse_host_and_port};

use super::{
    refusal::Refusal,
    resolve::{HOSTS_MAX, ResolveError},
    state::EgressState,
    tunnel::run_tunnel,
};

/// The most headers of a request; more are refused with 431.
const HEADERS_MAX: usize = 64;
/// Maximum number of addresses to try per host.
const ATTEMPTS_MAX: usize = 4;
/// Delay before accepting again after an error, such as too many open files.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

type Answer = Response<Full<Bytes>>;

/// Serves CONNECT requests on a listener until it is told to stop. Tunnels are tasks of `tasks` and end with `stop`.
pub async fn serve_proxy(
    listener: TcpListener,
    state: Arc<EgressState>,
    tasks: TaskTracker,
    stop: CancellationToken,
) {
    // Clients that have not asked for a tunnel yet; when there are too many, further ones wait to be accepted.
    let connections = Arc::new(Semaphore::new(state.limits.tunnels_max.max(1)));
    loop {
        let Some((stream, permit)) = accept(&listener, &connections, &stop).await else {
            return;
        };
        let proxy = Proxy {
            state: state.clone(),
            tasks: tasks.clone(),
            stop: stop.clone(),
        };
        tasks.spawn(async move {
            let service = service_fn(|request| proxy.answer(request));
            let connection = hyper::server::conn::http1::Builder::new()
                .timer(TokioTimer::new())
                .header_read_timeout(proxy.state.limits.first_byte)
                .max_buf_size(proxy.state.limits.head_bytes_max.max(8192))
                .max_headers(HEADERS_MAX)
                .keep_alive(false)
                .serve_connection(TokioIo::new(stream), service)
                .with_upgrades();
            tokio::select! {
                // An agent that hangs up or sends nonsense has its answer already.
                ended = connection => drop(ended),
                () = proxy.stop.cancelled() => {}
            }
            drop(permit);
        });
    }
}

/// Accepts the next connection as soon as there is room for it; nothing when told to stop.
pub(super) async fn accept(
    listener: &TcpListener,
    connections: &Arc<Semaphore>,
    stop: &CancellationToken,
) -> Option<(TcpStream, tokio::sync::OwnedSemaphorePermit)> {
    let accepting = async {
        loop {
            let permit = connections.clone().acquire_owned().await.ok()?;
            match listener.accept().await {
                Ok((stream, _)) => {
                    // Small messages wait for 40 ms otherwise.
                    stream.set_nodelay(true).ok();
                    return Some((stream, permit));
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection of the agent was not accepted");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    };
    tokio::select! {
        accepted = accepting => accepted,
        () = stop.cancelled() => None,
    }
}

struct Proxy {
    state: Arc<EgressState>,
    tasks: TaskTracker,
    stop: CancellationToken,
}

impl Proxy {
    async fn answer(&self, request: Request<Incoming>) -> Result<Answer, Infallible> {
        let Err(refusal) = self.open(request).await else {
            return Ok(Response::new(Full::default()));
        };
        let is_other_method = refusal.status == StatusCode::METHOD_NOT_ALLOWED;
        let mut answer = refusal.into_response();
        if is_other_method {
            let connect = HeaderValue::from_static("CONNECT");
            answer.headers_mut().insert(ALLOW, connect);
        }
        Ok(answer)
    }

    /// Connects to the host that a request names. The tunnel opens when the request is answered with success.
    async fn open(&self, request: Request<Incoming>) -> Result<(), Refusal> {
        if request.method() != Method::CONNECT {
            let why = "this proxy supports CONNECT only; use an https URL";
            return Err(Refusal::new(StatusCode::METHOD_NOT_ALLOWED, why));
        }
        self.state.check_limit()?;
        let target = request.uri().authority().map_or("", |it| it.as_str());
        let (host, port) = self.check(target)?;
        let Ok(permit) = self.state.tunnels.clone().try_acquire_owned() else {
            let max = self.state.limits.tunnels_max;
            let why = format!("this session has {max} open connections; close one and try again");
            return Err(Refusal::new(StatusCode::SERVICE_UNAVAILABLE, why));
        };
        let upstream = self.connect(&host, port).await?;
        let (state, stop) = (self.state.clone(), self.stop.clone());
        self.tasks.spawn(async move {
            let tunnel = async {
                let client = hyper::upgrade::on(request)
                    .await
                    .map_err(io::Error::other)?;
                run_tunnel(&state, TokioIo::new(client), upstream, &host, port).await
            };
            tokio::select! {
                ended = tunnel => if let Err(error) = ended {
                    tracing::debug!(%host, port, %error, "a tunnel of the agent ended");
                },
                () = stop.cancelled() => {}
            }
            drop(permit);
        });
        Ok(())
    }

    /// Checks the target of a request against the list.
    fn check(&self, target: &str) -> Result<(HostName, u16), Refusal> {
        let refuse = |why: &str| {
            let (host, port) = target.rsplit_once(':').unwrap_or((target, ""));
            self.state.report(host, port.parse().unwrap_or(0));
            Refusal::new(StatusCode::FORBIDDEN, why)
        };
        let (host, port) = parse_host_and_port(target).map_err(|refusal| {
            refuse(&format!("the target of CONNECT is not allowed: {refusal}"))
        })?;
        if !self.state.allows(&host, port) {
            self.state.report(host.as_str(), port);
            let why = format!(
                "{host}:{port} is not an allowed host of this session; the operator can add it to containment.hosts"
            );
            return Err(Refusal::new(StatusCode::FORBIDDEN, why));
        }
        Ok((host, port))
    }

    /// Connects to an allowed host. The answer is the same for a name without an address, a refused address, a closed port and
    /// a host that does not answer: an agent cannot explore the network of this machine by it. The log tells which it was.
    async fn connect(&self, host: &HostName, port: u16) -> Result<TcpStream, Refusal> {
        let addresses = match self.state.addresses(host, port).await {
            Err(ResolveError::TooManyHosts) => {
                let why = format!(
                    "this session has connected to {HOSTS_MAX} different hosts, which is the limit of one run"
                );
                return Err(Refusal::new(StatusCode::FORBIDDEN, why));
            }
            Err(ResolveError::Lookup(error)) => Err(error),
            Ok(none) if none.is_empty() => Err(io::Error::other("no address that is allowed")),
            Ok(addresses) => Ok(addresses),
        };
        let connected = match addresses {
            Ok(addresses) => connect_first(&addresses, self.state.limits.connect).await,
            Err(error) => Err(error),
        };
        connected.map_err(|error| {
            if self.state.may_log() {
                tracing::warn!(%host, port, %error, "cannot connect to a host of the agent");
            }
            let why = format!(
                "cannot connect to {host}:{port}: it has no allowed address or does not answer; the operator finds the reason in the log of the run"
            );
            Refusal::new(StatusCode::BAD_GATEWAY, why)
        })
    }
}

/// Connects to the first address that answers.
async fn connect_first(addresses: &[SocketAddr], limit: Duration) -> io::Result<TcpStream> {
    let mut last = io::Error::from(io::ErrorKind::AddrNotAvailable);
    for address in addresses.iter().take(ATTEMPTS_MAX) {
        let connecting = TcpStream::connect(*address);
        match tokio::time::timeout(limit, connecting).await {
            Ok(Ok(stream)) => {
                stream.set_nodelay(true).ok();
                return Ok(stream);
            }
            Ok(Err(error)) => last = error,
            Err(late) => last = late.into(),
        }
    }
    Err(last)
}
