//! Which hosts repositories are fetched from, and what is said when that does not work.
//!
//! The rule is [`wh_domain::RepoRules`]; here names are resolved. What was resolved and checked is what git connects to.

use std::time::Duration;

use wh_domain::{ErrorCode, Owner, Repo, RepoSource, UserRole};
use wh_git::{GitError, PinnedHost};

use crate::{App, AppError, Result};

/// How long a name may take to be resolved.
const RESOLVE_WITHIN: Duration = Duration::from_secs(10);

/// Why nothing was fetched.
#[derive(Debug)]
pub(crate) enum FetchError {
    Git(GitError),
    /// The host may not be connected to, or its name stands for nothing.
    Host,
    /// The owner could not be looked up.
    App(AppError),
}

impl From<GitError> for FetchError {
    fn from(error: GitError) -> Self {
        Self::Git(error)
    }
}

impl App {
    /// Refuses an address that can be refused without resolving a name. Names are resolved when they are connected to.
    pub(super) async fn check_remote(&self, owner: Owner, source: &RepoSource) -> Result<()> {
        let Some(endpoint) = source.endpoint() else {
            return Ok(());
        };
        let Some(address) = endpoint.address() else {
            return Ok(());
        };
        if self.repos.allows(&endpoint.host, address) || self.may_fetch_anywhere(owner).await? {
            return Ok(());
        }
        let message = "the repository's host is an address of this machine or of a private network";
        Err(AppError::new(ErrorCode::Forbidden, message).hint(
            "an administrator can add it, or allow it for everyone: allow_hosts or allow_private of [repos] in the configuration file",
        ))
    }

    /// Resolves the host of a repository, and returns the addresses that git may connect to; nothing when it may connect
    /// anywhere.
    pub(super) async fn pin_remote(&self, repo: &Repo) -> Result<Option<PinnedHost>, FetchError> {
        let Some(endpoint) = repo.source.endpoint() else {
            return Ok(None);
        };
        let anywhere = self.may_fetch_anywhere(repo.owner).await;
        if self.repos.trusts(&endpoint.host) || anywhere.map_err(FetchError::App)? {
            return Ok(None);
        }
        let lookup = tokio::net::lookup_host((endpoint.host.as_str(), endpoint.port));
        let found = match tokio::time::timeout(RESOLVE_WITHIN, lookup).await {
            Ok(Ok(found)) => found,
            Ok(Err(error)) => {
                tracing::info!(repo = %repo.id, %error, "the host of a repository was not resolved");
                return Err(FetchError::Host);
            }
            Err(_) => return Err(FetchError::Host),
        };
        let addresses = found.map(|address| address.ip());
        let allowed = addresses.filter(|ip| self.repos.allows(&endpoint.host, *ip));
        let mut addresses: Vec<_> = allowed.collect();
        addresses.dedup();
        if addresses.is_empty() {
            tracing::info!(repo = %repo.id, "the host of a repository has only private addresses");
            return Err(FetchError::Host);
        }
        Ok(Some(PinnedHost {
            endpoint,
            addresses,
        }))
    }

    /// Tells whether what belongs to `owner` is fetched from any host: administrators may, their client keys may not.
    async fn may_fetch_anywhere(&self, owner: Owner) -> Result<bool> {
        let user = self.store.user_by_id(owner.user).await?;
        let is_admin = user.is_some_and(|user| user.role == UserRole::Admin);
        Ok(is_admin && owner.key.is_none())
    }
}

/// Says that a repository could not be fetched, the same for whatever reason the network had: which ports of which host
/// are open is nobody's business. The reason is in the server's log.
pub(super) fn unreachable(repo: &Repo, error: &FetchError) -> String {
    let brief = repo.source.brief();
    match error {
        FetchError::Git(error @ GitError::Failed { .. }) => {
            let why = wh_domain::redact(&error.to_string()).into_owned();
            tracing::warn!(repo = %repo.id, why, "a repository was not fetched");
        }
        FetchError::Git(GitError::TooLarge { limit }) => {
            return format!(
                "the repository {brief} has more than {limit} bytes (clone_bytes_max of [repos])"
            );
        }
        FetchError::Git(GitError::TimedOut { limit }) => {
            let seconds = limit.as_secs();
            return format!(
                "fetching the repository {brief} took longer than {seconds} s (clone_timeout of [repos])"
            );
        }
        FetchError::Git(error) => return error.to_string(),
        FetchError::Host | FetchError::App(_) => {}
    }
    format!("the repository {brief} could not be reached or does not exist")
}
