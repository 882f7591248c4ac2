//! A proxy with names of its own, servers behind it, and clients that write their requests by hand.

use std::{
    collections::HashMap,
    io,
    net::SocketAddr,
    sync::{Arc, Mutex},
    time::Duration,
};

use nix::sched::{CloneFlags, unshare};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::mpsc,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use wh_domain::{HostList, HostName};
use wh_runner::egress::{
    Egress, EgressLimits, EgressState, RefusedHost, Resolver, Resolving, serve_model, serve_proxy,
};

/// How long anything may take before the test fails.
const PATIENCE: Duration = Duration::from_secs(20);

/// Waits for something that has to happen.
pub(super) async fn soon<T>(what: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, what).await.unwrap()
}

/// Names and their answers, one after the other; the last one stays.
#[derive(Debug, Default)]
pub(super) struct Names {
    answers: Mutex<HashMap<String, Vec<Vec<SocketAddr>>>>,
    asked: Mutex<Vec<String>>,
}

impl Names {
    /// Returns every name that was looked up.
    pub(super) fn asked(&self) -> Vec<String> {
        self.asked.lock().unwrap().clone()
    }
}

impl Resolver for Names {
    fn resolve<'a>(&'a self, host: &'a HostName) -> Resolving<'a> {
        self.asked.lock().unwrap().push(host.to_string());
        let mut answers = self.answers.lock().unwrap();
        let answer = match answers.get_mut(host.as_str()) {
            Some(answers) if answers.len() > 1 => Ok(answers.remove(0)),
            Some(answers) => Ok(answers.first().cloned().unwrap_or_default()),
            None => Err(io::ErrorKind::NotFound.into()),
        };
        Box::pin(async move { answer })
    }
}

/// How a network is set up.
#[derive(Default)]
pub(super) struct Setup {
    pub(super) egress: Egress,
    pub(super) limits: EgressLimits,
    pub(super) names: Names,
}

impl Setup {
    /// Allows hosts.
    pub(super) fn hosts(mut self, rules: &[&str]) -> Self {
        self.egress.hosts = HostList::parse(rules).unwrap();
        self
    }

    /// Allows hosts, wherever they are.
    pub(super) fn private_hosts(mut self, rules: &[&str]) -> Self {
        self.egress.private_hosts = HostList::parse(rules).unwrap();
        self.hosts(rules)
    }

    /// Adds an answer for a name.
    pub(super) fn name(self, name: &str, answer: &[SocketAddr]) -> Self {
        let mut answers = self.names.answers.lock().unwrap();
        let of_name = answers.entry(name.to_owned()).or_default();
        of_name.push(answer.to_vec());
        drop(answers);
        self
    }

    pub(super) async fn start(self) -> Network {
        let names = Arc::new(self.names);
        let (send, refused) = mpsc::channel(64);
        let state = EgressState::new(self.egress, self.limits, names.clone(), send).unwrap();
        let (tasks, stop) = (TaskTracker::new(), CancellationToken::new());
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let network = Network {
            state: Arc::new(state),
            proxy: listener.local_addr().unwrap(),
            names,
            refused,
            tasks,
            stop,
        };
        let (tasks, stop) = (network.tasks.clone(), network.stop.clone());
        let serving = serve_proxy(listener, network.state.clone(), tasks, stop);
        network.tasks.spawn(serving);
        network
    }
}

/// A running proxy.
pub(super) struct Network {
    pub(super) state: Arc<EgressState>,
    pub(super) proxy: SocketAddr,
    pub(super) names: Arc<Names>,
    pub(super) refused: mpsc::Receiver<RefusedHost>,
    pub(super) tasks: TaskTracker,
    pub(super) stop: CancellationToken,
}

impl Network {
    /// Asks for a tunnel.
    pub(super) async fn connect(&self, target: &str) -> Answer {
        let head = format!("CONNECT {target} HTTP/1.1\r\nhost: {target}\r\n\r\n");
        self.send(head.as_bytes()).await
    }

    /// Sends a request as it is.
    pub(super) async fn send(&self, request: &[u8]) -> Answer {
        let mut stream = TcpStream::connect(self.proxy).await.unwrap();
        // A proxy that has seen enough does not read the rest.
        stream.write_all(request).await.ok();
        Answer::read(stream).await
    }

    /// Opens a tunnel.
    pub(super) async fn open(&self, target: &str) -> TcpStream {
        let answer = self.connect(target).await;
        assert_eq!(answer.status, 200, "{target}: {}", answer.text);
        answer.stream
    }

    /// Serves a model gateway, and returns where.
    pub(super) async fn gateway(&self, index: usize) -> SocketAddr {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let (tasks, stop) = (self.tasks.clone(), self.stop.clone());
        let serving = serve_model(listener, self.state.clone(), index, tasks, stop);
        self.tasks.spawn(serving);
        address
    }
}

/// The answer to a request, and the connection that it came on.
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) head: String,
    /// What followed up to the end of the connection; empty for a tunnel.
    pub(super) text: String,
    pub(super) stream: TcpStream,
}

impl Answer {
    /// Reads the answer to a request; everything unless a tunnel is open.
    pub(super) async fn read(mut stream: TcpStream) -> Self {
        let head = soon(read_head(&mut stream)).await;
        let status = head.split(' ').nth(1).map_or(0, |it| it.parse().unwrap());
        let mut text = Vec::new();
        if status != 200 {
            // A reset after the answer, because the request was not read to its end, is an end too.
            soon(stream.read_to_end(&mut text)).await.ok();
        }
        Self {
            status,
            head,
            text: String::from_utf8(text).unwrap(),
            stream,
        }
    }
}

/// Reads a head up to its empty line, and nothing after it.
pub(super) async fn read_head(stream: &mut TcpStream) -> String {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            Err(_) => break,
        }
    }
    String::from_utf8(head).unwrap()
}

/// Reads to the end of a connection, whichever way it ends.
pub(super) async fn read_rest(stream: &mut TcpStream) -> Vec<u8> {
    let mut rest = Vec::new();
    soon(stream.read_to_end(&mut rest)).await.ok();
    rest
}

/// A server; the test plays its part.
pub(super) struct Server {
    listener: TcpListener,
    /// The same listener, asked without the runtime.
    queue: std::net::TcpListener,
    pub(super) address: SocketAddr,
}

impl Server {
    pub(super) fn start() -> Self {
        Self::start_at("127.0.0.1:0")
    }

    pub(super) fn start_at(address: &str) -> Self {
        let queue = std::net::TcpListener::bind(address).unwrap();
        queue.set_nonblocking(true).unwrap();
        Self {
            listener: TcpListener::from_std(queue.try_clone().unwrap()).unwrap(),
            address: queue.local_addr().unwrap(),
            queue,
        }
    }

    pub(super) async fn accept(&self) -> TcpStream {
        soon(self.listener.accept()).await.unwrap().0
    }

    /// Asserts that nobody has connected. A connection is in the queue of the listener before the client knows of it.
    pub(super) fn assert_unused(&self) {
        let waiting = self.queue.accept().map_err(|error| error.kind());
        assert_eq!(waiting.err(), Some(io::ErrorKind::WouldBlock));
    }
}

/// Puts the test, which has a runtime of one thread, into a network namespace that has nothing but loopback, and gives loopback
/// these addresses. Only root may; otherwise the network stays as it is.
pub(super) fn leave_network(addresses: &[&str]) -> bool {
    if !run("ip", &["-V"]) || unshare(CloneFlags::CLONE_NEWNET).is_err() {
        return false;
    }
    assert!(run("ip", &["link", "set", "lo", "up"]));
    for address in addresses {
        assert!(
            run("ip", &["address", "add", address, "dev", "lo"]),
            "{address}"
        );
    }
    true
}

#[expect(clippy::disallowed_methods, reason = "sets up the test's own network")]
fn run(program: &str, arguments: &[&str]) -> bool {
    let output = std::process::Command::new(program).args(arguments).output();
    output.is_ok_and(|output| output.status.success())
}
