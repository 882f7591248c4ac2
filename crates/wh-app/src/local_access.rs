//! Who may use the local socket without a key: people's programs on the server's machine, and no agent.

use std::{os::fd::AsFd, sync::Arc};

use tokio::sync::OnceCell;
use wh_domain::Principal;
use wh_runner::{
    link,
    peer::{PeerProcess, PeerRefusal},
};

use crate::{AccessReason, App, Result};

/// The process at the other end of a connection to the local socket. What was decided about it holds for the connection.
#[derive(Clone, Debug)]
pub struct LocalPeer(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    process: Option<PeerProcess>,
    decision: OnceCell<Result<(), PeerRefusal>>,
}

impl LocalPeer {
    /// Identifies the process that opened a connection.
    pub fn of(stream: &impl AsFd) -> Self {
        let process = PeerProcess::of(stream);
        if let Err(error) = &process {
            tracing::debug!(%error, "cannot tell which process connected to the local socket");
        }
        Self(Arc::new(Inner {
            process: process.ok(),
            decision: OnceCell::new(),
        }))
    }

    /// Decides once whether this is a person's program; `runs` is the directory of the server's runs.
    async fn decide(&self, runs: &std::path::Path) -> Result<(), PeerRefusal> {
        let decision = self.0.decision.get_or_init(|| async {
            let (inner, runs) = (self.0.clone(), runs.to_owned());
            let check = move || match &inner.process {
                Some(process) => process.check(|it| link::is_runner(&runs, it)),
                None => Err(PeerRefusal::Unknown),
            };
            let decision = tokio::task::spawn_blocking(check).await;
            let decision = decision.unwrap_or(Err(PeerRefusal::Unknown));
            if let Err(reason) = decision {
                let pid = self.0.process.as_ref().map(PeerProcess::pid);
                tracing::warn!(pid, %reason, "refused a process on the local socket");
            }
            decision
        });
        *decision.await
    }
}

impl App {
    /// Returns the principal of the server's own user on the local socket, unless an agent is calling.
    ///
    /// Refused is whoever is in another PID, mount or user namespace than the server, descends from a runner, or cannot be
    /// examined.
    pub async fn local_principal_of(&self, peer: &LocalPeer) -> Result<Principal> {
        peer.decide(&self.runs.runs)
            .await
            .map_err(|_| AccessReason::LocalSocket)?;
        self.local_principal().await
    }
}
