//! Resolves host names, each once per run.

use std::{
    collections::HashMap,
    fmt, io,
    net::SocketAddr,
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use tokio::sync::OnceCell;
use wh_domain::HostName;

/// The most different hosts of one run; a further one is refused. Bounds what an agent can write into DNS queries too.
pub(super) const HOSTS_MAX: usize = 1_000;
/// The most addresses of one host; further ones are ignored.
const ADDRESSES_MAX: usize = 16;
/// How long a lookup may take.
const LOOKUP_TIME_MAX: Duration = Duration::from_secs(10);

/// The future that [`Resolver::resolve`] returns.
pub type Resolving<'a> = Pin<Box<dyn Future<Output = io::Result<Vec<SocketAddr>>> + Send + 'a>>;

/// Finds the addresses of a host.
pub trait Resolver: fmt::Debug + Send + Sync {
    /// Returns the addresses of exactly this name. A port of 0 stands for the port that is asked for; any other replaces it.
    fn resolve<'a>(&'a self, host: &'a HostName) -> Resolving<'a>;
}

/// The resolver of the operating system.
#[derive(Debug)]
pub struct SystemResolver;

impl Resolver for SystemResolver {
    fn resolve<'a>(&'a self, host: &'a HostName) -> Resolving<'a> {
        Box::pin(async move {
            let found = tokio::net::lookup_host((host.as_str(), 0)).await?;
            Ok(found.collect())
        })
    }
}

/// The addresses of every host that was asked for, as they were the first time.
#[derive(Debug)]
pub(super) struct PinnedHosts {
    resolver: Arc<dyn Resolver>,
    hosts: Mutex<HashMap<HostName, Arc<OnceCell<Addresses>>>>,
}

pub(super) type Addresses = Arc<[SocketAddr]>;

/// Why a host has no addresses here.
#[derive(Debug, thiserror::Error)]
pub(super) enum ResolveError {
    #[error("more than {HOSTS_MAX} different hosts")]
    TooManyHosts,
    #[error(transparent)]
    Lookup(#[from] io::Error),
}

impl PinnedHosts {
    pub(super) fn new(resolver: Arc<dyn Resolver>) -> Self {
        Self {
            resolver,
            hosts: Mutex::default(),
        }
    }

    /// Returns the host's addresses: the first answer, also when a lookup would answer something else by now. A lookup that
    /// fails is made again the next time.
    pub(super) async fn addresses(&self, host: &HostName) -> Result<Addresses, ResolveError> {
        let pinned = self.entry(host).ok_or(ResolveError::TooManyHosts)?;
        let lookup = || async {
            let lookup = self.resolver.resolve(host);
            let mut found = tokio::time::timeout(LOOKUP_TIME_MAX, lookup)
                .await
                .map_err(io::Error::from)??;
            found.truncate(ADDRESSES_MAX);
            Ok::<_, io::Error>(found.into())
        };
        Ok(pinned.get_or_try_init(lookup).await?.clone())
    }

    fn entry(&self, host: &HostName) -> Option<Arc<OnceCell<Addresses>>> {
        let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
        if hosts.len() >= HOSTS_MAX && !hosts.contains_key(host) {
            return None;
        }
        Some(hosts.entry(host.clone()).or_default().clone())
    }
}
