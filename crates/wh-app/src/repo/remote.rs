//! Which hosts repositories are fetched from, and what is said when that does not work.
//!
//! The rule is [`wh_domain::RepoRules`]; here names are resolved. What was resolved and checked is what git connects to.

use std::{path::PathBuf, time::Duration};

use wh_domain::{CredentialSource, GitHost, Owner, Repo, RepoSource, TransferLimits, UserRole};
use wh_git::{GitError, PinnedHost, Transfer};

use crate::{
    App, AppError, RepoReason, Result,
    credential::{ChosenCredential, CredentialError},
};

/// How long a name may take to be resolved.
const RESOLVE_WITHIN: Duration = Duration::from_secs(10);

/// Why nothing was fetched.
#[derive(Debug)]
pub(crate) enum FetchError {
    Git(GitError),
    /// The host may not be connected to, or its name stands for nothing.
    Host,
    /// The credential for the host cannot be used.
    Credential(CredentialError),
    /// The owner could not be looked up.
    App(AppError),
}

/// What a transfer needs to know of where a repository is.
pub(super) struct Remote {
    pin: Option<PinnedHost>,
    ca_file: Option<PathBuf>,
    credential: Option<ChosenCredential>,
}

impl Remote {
    /// Returns the transfer.
    pub(super) fn transfer<'a>(
        &'a self,
        source: &'a RepoSource,
        limits: TransferLimits,
    ) -> Transfer<'a> {
        Transfer {
            header: self.credential.as_ref().map(|it| &it.header),
            pin: self.pin.as_ref(),
            ca_file: self.ca_file.as_deref(),
            limits,
            ..Transfer::of(source)
        }
    }

    /// Returns where the credential of the transfer comes from.
    pub(super) fn credential(&self) -> Option<CredentialSource> {
        self.credential.as_ref().map(|it| it.source)
    }
}

impl From<CredentialError> for FetchError {
    fn from(error: CredentialError) -> Self {
        match error {
            CredentialError::App(error) => Self::App(error),
            other => Self::Credential(other),
        }
    }
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
        Err(RepoReason::PrivateHost.into())
    }

    /// Prepares a transfer from where a repository is: the addresses, the certificates and the credential for its host.
    pub(super) async fn remote_of(&self, repo: &Repo) -> Result<Remote, FetchError> {
        let pin = self.pin_remote(repo).await?;
        let host = GitHost::of(&repo.source);
        let rules = host.as_ref().and_then(|host| self.repos.host(host));
        Ok(Remote {
            pin,
            ca_file: rules.and_then(|it| it.ca_file.clone()),
            credential: self.credential_for(repo.owner, &repo.source).await?,
        })
    }

    /// Resolves the host of a repository, and returns the addresses that git may connect to; nothing when it may connect
    /// anywhere.
    async fn pin_remote(&self, repo: &Repo) -> Result<Option<PinnedHost>, FetchError> {
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
        FetchError::Credential(error) => {
            tracing::warn!(repo = %repo.id, %error, "the credential for a repository cannot be used");
            return error.to_string();
        }
        FetchError::Host | FetchError::App(_) => {}
    }
    let tried = match (repo.credential, GitHost::of(&repo.source)) {
        (Some(source), Some(_)) => {
            let source = source.as_str();
            format!(", or the credential (source: {source}) may not read it")
        }
        (None, Some(host)) => {
            let name = host.name();
            format!(", or is private: there is no credential for {name}")
        }
        (_, None) => String::new(),
    };
    format!("the repository {brief} could not be reached or does not exist{tried}")
}
