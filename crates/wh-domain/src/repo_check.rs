//! What came of checking whether a repository can be read.

use crate::{BranchName, CredentialSource, GitHost, Repo, RepoSource};

/// Whether a repository can be read, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RepoAccess {
    /// It is on the server's machine.
    Local,
    /// With a credential for its host, or the server's ssh key.
    Credential,
    /// Without a credential.
    Anonymous,
    /// The host asks for a credential, or for another one.
    Refused,
    /// The host says that there is no such repository; many say so of what the caller may not read.
    NotFound,
    /// The host could not be reached, or does not answer as a git server.
    Unreachable,
}

impl RepoAccess {
    /// Returns the result as callers see it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Credential => "credential",
            Self::Anonymous => "anonymous",
            Self::Refused => "refused",
            Self::NotFound => "not_found",
            Self::Unreachable => "unreachable",
        }
    }

    /// Returns whether the repository can be read.
    pub fn is_readable(self) -> bool {
        matches!(self, Self::Local | Self::Credential | Self::Anonymous)
    }
}

/// A check of a repository.
#[derive(Clone, Debug)]
pub struct RepoCheck {
    pub repo: Repo,
    pub access: RepoAccess,
    /// The credential that a fetch uses.
    pub credential: Option<CredentialSource>,
    pub default_branch: Option<BranchName>,
    /// A credential that cannot be used, such as one that cannot be decrypted.
    pub failure: Option<String>,
}

impl RepoCheck {
    /// Returns why the repository cannot be read, and nothing when it can be.
    pub fn problem(&self) -> Option<String> {
        if self.failure.is_some() {
            return self.failure.clone();
        }
        let host = match &self.repo.source {
            RepoSource::Local { path } => path.display().to_string(),
            source => source.endpoint().map(|it| it.host).unwrap_or_default(),
        };
        let used = self.credential.map(CredentialSource::as_str);
        let is_https = GitHost::of(&self.repo.source).is_some();
        match (self.access, used) {
            (RepoAccess::Local | RepoAccess::Credential | RepoAccess::Anonymous, _) => None,
            (RepoAccess::Refused, Some(used)) => {
                Some(format!("{host} refused the credential (source: {used})"))
            }
            (RepoAccess::Refused, None) if is_https => Some(format!(
                "{host} requires a credential, and none is stored or configured for it"
            )),
            (RepoAccess::Refused, None) => Some(format!("{host} refused the server's ssh key")),
            (RepoAccess::NotFound, _) => Some(format!(
                "{host} has no such repository, or requires a credential that may read it"
            )),
            (RepoAccess::Unreachable, _) => Some(format!(
                "{host} cannot be reached, or does not answer as a git server"
            )),
        }
    }
}
