//! Serves an agent that has a network of its own: our tools, the proxy and its model.

use std::{io, sync::Arc, time::Duration};

use tokio::{
    io::Interest,
    net::{TcpListener, UnixListener},
    sync::mpsc,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    egress::{EgressLimits, EgressState, RefusedHost, SystemResolver, serve_model, serve_proxy},
    event::Notice,
    forward,
    sandbox::receive_listeners,
    spec::{RunDir, RunSpec, TOOLS_PORT},
};

/// How long the helper may take to make the network.
const READY_WITHIN: Duration = Duration::from_secs(30);

/// Notices that may wait; more are dropped.
const NOTICES_MAX: usize = 32;

/// The network of an agent, before it is made.
pub(super) struct Network {
    ports: UnixListener,
    state: Arc<EgressState>,
    refused: mpsc::Receiver<RefusedHost>,
    spec: Arc<RunSpec>,
}

impl Network {
    /// Prepares the network that the spec asks for, if it does. The helper between runner and agent can bring its ports from now on.
    pub(super) fn prepare(spec: &Arc<RunSpec>, dir: &RunDir) -> io::Result<Option<Self>> {
        let has_network = spec.sandbox.as_ref().is_some_and(|it| it.network.is_some());
        if !has_network {
            return Ok(None);
        }
        let (sender, refused) = mpsc::channel(NOTICES_MAX);
        let (limits, resolver) = (EgressLimits::default(), Arc::new(SystemResolver));
        let state = EgressState::new(spec.egress.clone(), limits, resolver, sender);
        let state = state.map_err(io::Error::other)?;
        Ok(Some(Self {
            ports: UnixListener::bind(dir.ports())?,
            state: Arc::new(state),
            refused,
            spec: spec.clone(),
        }))
    }

    /// Returns where the agent finds our tools.
    pub(super) fn tools_url(&self) -> Option<String> {
        let mcp = self.spec.mcp.as_ref()?;
        Some(format!("http://127.0.0.1:{TOOLS_PORT}{}", mcp.path))
    }

    /// Serves the agent's ports as soon as they are there. What the user should know of comes out of the returned channel.
    pub(super) fn serve(
        self,
        tasks: &TaskTracker,
        stop: &CancellationToken,
    ) -> mpsc::Receiver<Notice> {
        let (notices, received) = mpsc::channel(NOTICES_MAX);
        let Self {
            ports,
            state,
            mut refused,
            spec,
        } = self;
        let limit = state.limit_reached();
        let (spawn, stopping) = (tasks.clone(), stop.clone());
        tasks.spawn(async move {
            let listeners = tokio::time::timeout(READY_WITHIN, receive(ports));
            match listeners.await {
                Ok(Ok(listeners)) => serve_all(listeners, &spec, &state, &spawn, &stopping),
                // The helper says itself why it could not bring them.
                Ok(Err(error)) => tracing::warn!(%error, "the agent's ports did not arrive"),
                Err(_) => tracing::warn!("the agent's ports did not arrive in time"),
            }
        });
        let stopping = stop.clone();
        tasks.spawn(async move {
            loop {
                let notice = tokio::select! {
                    () = stopping.cancelled() => return,
                    Some(RefusedHost { host, port }) = refused.recv() => Notice::HostRefused { host, port },
                    () = limit.cancelled() => {
                        notices.send(Notice::NetworkLimit).await.ok();
                        return;
                    }
                };
                notices.send(notice).await.ok();
            }
        });
        received
    }
}

/// Takes the ports over from the helper, which waits until we have them.
async fn receive(ports: UnixListener) -> io::Result<Vec<TcpListener>> {
    let (stream, _) = ports.accept().await?;
    let received = stream.async_io(Interest::READABLE, || receive_listeners(&stream));
    let listeners = received.await?;
    let listeners = listeners.into_iter().map(|listener| {
        listener.set_nonblocking(true)?;
        TcpListener::from_std(listener)
    });
    listeners.collect()
}

/// Serves each port for what it is: our tools, the proxy, and the models in their order.
fn serve_all(
    listeners: Vec<TcpListener>,
    spec: &RunSpec,
    state: &Arc<EgressState>,
    tasks: &TaskTracker,
    stop: &CancellationToken,
) {
    let mut listeners = listeners.into_iter();
    if let (Some(listener), Some(mcp)) = (listeners.next(), &spec.mcp) {
        let port = forward::Port::on(listener, mcp.clone(), spec.limits.clone());
        tasks.spawn(port.serve(tasks.clone(), stop.clone()));
    }
    if let Some(listener) = listeners.next() {
        tasks.spawn(serve_proxy(
            listener,
            state.clone(),
            tasks.clone(),
            stop.clone(),
        ));
    }
    for (index, listener) in listeners.enumerate() {
        let (tasks_of_it, stop) = (tasks.clone(), stop.clone());
        tasks.spawn(serve_model(
            listener,
            state.clone(),
            index,
            tasks_of_it,
            stop,
        ));
    }
}
