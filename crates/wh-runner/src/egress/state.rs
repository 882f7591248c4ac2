//! What the connections of one run share.

use std::{
    collections::HashSet,
    net::SocketAddr,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use hyper::StatusCode;
use tokio::sync::{Semaphore, mpsc};
use tokio_util::sync::CancellationToken;
use wh_domain::{AddressPolicy, HostName};

use super::{
    Egress,
    meter::Meter,
    model::Upstream,
    refusal::Refusal,
    resolve::{Addresses, PinnedHosts, ResolveError, Resolver},
};

/// The most model gateways of one run.
const MODELS_MAX: usize = 8;
/// The most different refusals that are reported; further ones are not.
const REPORTS_MAX: usize = 20;
/// The most lines about connections in the run's log; there are no further ones, so that an agent cannot fill the disk.
const LOG_LINES_MAX: u32 = 500;
/// The most characters of a host in a report; longer ones are cut.
const REPORTED_HOST_CHARS_MAX: usize = 253;

/// The limits of one run's connections.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EgressLimits {
    /// How many tunnels may be open at once; one more is refused with 503.
    pub tunnels_max: usize,
    /// The largest request head; a larger one is refused with 431. At least 8192.
    pub head_bytes_max: usize,
    /// How long a client may take to send a request head, and then to begin the TLS handshake in a tunnel; it is
    /// disconnected then.
    pub first_byte: Duration,
    /// How long a connection may be silent in both directions before it is closed.
    pub idle: Duration,
    /// How long connecting to one address may take.
    pub connect: Duration,
}

impl Default for EgressLimits {
    fn default() -> Self {
        Self {
            tunnels_max: 64,
            head_bytes_max: 16 << 10,
            first_byte: Duration::from_secs(10),
            idle: Duration::from_secs(10 * 60),
            connect: Duration::from_secs(10),
        }
    }
}

/// A host that the agent asked for and may not connect to.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RefusedHost {
    /// As the agent wrote it, so not always a host name.
    pub host: String,
    /// 0 when the agent named none.
    pub port: u16,
}

/// Why a run's network cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum EgressError {
    #[error("a session has at most {MODELS_MAX} model gateways")]
    TooManyModels,
    #[error("the upstream of model gateway {port} {why}")]
    Upstream { port: u16, why: &'static str },
}

/// What all connections of one run share: the rules, the pinned addresses and the byte count.
#[derive(Debug)]
pub struct EgressState {
    hosts: wh_domain::HostList,
    addresses: AddressPolicy,
    pinned: PinnedHosts,
    pub(super) upstreams: Vec<Upstream>,
    pub(super) meter: Meter,
    pub(super) limits: EgressLimits,
    pub(super) tunnels: Arc<Semaphore>,
    reported: Mutex<HashSet<RefusedHost>>,
    refused: mpsc::Sender<RefusedHost>,
    log_lines: AtomicU32,
}

impl EgressState {
    /// Prepares the network of one run. Each host that is refused is sent to `refused` once, at most 20 in all; a report that
    /// finds the channel full is dropped.
    pub fn new(
        egress: Egress,
        limits: EgressLimits,
        resolver: Arc<dyn Resolver>,
        refused: mpsc::Sender<RefusedHost>,
    ) -> Result<Self, EgressError> {
        if egress.models.len() > MODELS_MAX {
            return Err(EgressError::TooManyModels);
        }
        Ok(Self {
            upstreams: Upstream::of_gateways(&egress.models)?,
            hosts: egress.hosts,
            addresses: AddressPolicy {
                private_hosts: egress.private_hosts,
            },
            pinned: PinnedHosts::new(resolver),
            meter: Meter::new(egress.bytes_max),
            tunnels: Arc::new(Semaphore::new(limits.tunnels_max)),
            limits,
            reported: Mutex::default(),
            refused,
            log_lines: AtomicU32::new(0),
        })
    }

    /// Returns how many bytes have passed so far, in both directions and over all connections. Those of model gateways are the
    /// bodies and the names and values of headers.
    pub fn bytes_used(&self) -> u64 {
        self.meter.used()
    }

    /// Returns a token that is cancelled when the byte limit is reached.
    pub fn limit_reached(&self) -> CancellationToken {
        self.meter.reached().clone()
    }

    /// Fails when the byte limit is reached, with what the limit is and how it is changed.
    pub(super) fn check_limit(&self) -> Result<(), Refusal> {
        match self.meter.max() {
            Some(max) if self.meter.reached().is_cancelled() => {
                let why = format!(
                    "this session has used its network limit of {max} bytes; the operator can raise limits.network_mib"
                );
                Err(Refusal::new(StatusCode::FORBIDDEN, why))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn allows(&self, host: &HostName, port: u16) -> bool {
        self.hosts.allows(host, port)
    }

    /// Returns the addresses that a connection to a host may use; none when all are refused.
    pub(super) async fn addresses(
        &self,
        host: &HostName,
        port: u16,
    ) -> Result<Addresses, ResolveError> {
        let found = self.pinned.addresses(host).await?;
        let is_allowed = |address: &SocketAddr| self.addresses.allows(host, port, address.ip());
        let with_port = |address: SocketAddr| match address.port() {
            0 => SocketAddr::new(address.ip(), port),
            _ => address,
        };
        let allowed = found.iter().copied().filter(is_allowed);
        Ok(allowed.map(with_port).collect())
    }

    /// Tells whether one more line may be logged.
    pub(super) fn may_log(&self) -> bool {
        let count = |lines| (lines < LOG_LINES_MAX).then_some(lines + 1);
        let counted = self
            .log_lines
            .fetch_update(Ordering::Relaxed, Ordering::Relaxed, count);
        counted.is_ok()
    }

    /// Reports a refused host, once.
    pub(super) fn report(&self, host: &str, port: u16) {
        let refused = RefusedHost {
            host: host.chars().take(REPORTED_HOST_CHARS_MAX).collect(),
            port,
        };
        let mut reported = self.reported.lock().unwrap_or_else(PoisonError::into_inner);
        if reported.len() < REPORTS_MAX && reported.insert(refused.clone()) {
            tracing::info!(host = refused.host, port, "refused a host of the agent");
            self.refused.try_send(refused).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::egress::Resolving;

    #[derive(Debug)]
    struct Fixed(&'static [&'static str]);

    impl Resolver for Fixed {
        fn resolve<'a>(&'a self, _host: &'a HostName) -> Resolving<'a> {
            let parse = |text: &&str| SocketAddr::new(text.parse().unwrap(), 0);
            Box::pin(async move { Ok(self.0.iter().map(parse).collect()) })
        }
    }

    async fn check(answer: &'static [&'static str], port: u16, expected: &[&str]) {
        let egress = Egress {
            private_hosts: wh_domain::HostList::parse(["host.test:8443"]).unwrap(),
            ..Egress::default()
        };
        let (refused, _reports) = mpsc::channel(1);
        let resolver = Arc::new(Fixed(answer));
        let state = EgressState::new(egress, EgressLimits::default(), resolver, refused).unwrap();
        let host = HostName::parse("host.test").unwrap();
        let found = state.addresses(&host, port).await.unwrap();
        let found: Vec<_> = found.iter().map(ToString::to_string).collect();
        assert_eq!(found, expected);
    }

    #[tokio::test]
    async fn private_addresses_are_left_out_of_an_answer() {
        let mixed = &["127.0.0.1", "93.184.216.34", "::1", "10.0.0.1"];
        check(mixed, 443, &["93.184.216.34:443"]).await;
        check(&["::ffff:10.0.0.1", "169.254.169.254"], 443, &[]).await;
        check(&["127.0.0.1"], 8443, &["127.0.0.1:8443"]).await;
        check(&[], 443, &[]).await;
    }
}
