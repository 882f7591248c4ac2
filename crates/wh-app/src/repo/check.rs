//! Checking that a repository can be read, and with which credential.

use wh_domain::{GitHost, Operation, Reference, Repo, RepoAccess, RepoCheck, RepoSource};
use wh_git::{GitError, RemoteAccess, RepoHandle, probe};

use super::remote::FetchError;
use crate::{App, OpContext, Result, context::facts};

impl App {
    /// Asks where a repository is whether it can be read, with the credential that a fetch would use.
    pub async fn repo_check(&self, cx: &OpContext, repo: &Reference) -> Result<RepoCheck> {
        let operation = Operation::RepoCheck;
        let audited = facts([("repo", repo.as_str())]);
        self.read(cx, operation, audited, async {
            let reach = cx.authorize(operation)?;
            let repo = self.repo_lookup(reach, repo).await?;
            match &repo.source {
                RepoSource::Local { path } => {
                    let mut check = unreadable(&repo);
                    match RepoHandle::find(path) {
                        Ok(handle) => {
                            check.access = RepoAccess::Local;
                            check.default_branch = handle.default_branch().await?;
                        }
                        Err(error) => check.failure = Some(error.to_string()),
                    }
                    Ok(check)
                }
                RepoSource::Remote { .. } => self.check_transfer(&repo).await,
            }
        })
        .await
    }

    async fn check_transfer(&self, repo: &Repo) -> Result<RepoCheck> {
        let mut check = unreadable(repo);
        check.credential = self.credential_source(repo.owner, &repo.source).await?;
        let _slot = self.transfers.fetches.take(repo.owner.user).await;
        let remote = match self.remote_of(repo).await {
            Ok(remote) => remote,
            Err(FetchError::App(error)) => return Err(error),
            Err(FetchError::Credential(error)) => {
                check.failure = Some(error.to_string());
                return Ok(check);
            }
            Err(FetchError::Git(_) | FetchError::Host) => return Ok(check),
        };
        let found = match probe(&remote.transfer(&repo.source, self.repos.transfer)).await {
            Ok(found) => found,
            Err(error @ GitError::Start(_)) => return Err(error.into()),
            // Among them the timeout: which hosts answer slowly is not told either.
            Err(_) => return Ok(check),
        };
        // Over ssh the server's key is always used.
        let is_anonymous = check.credential.is_none() && GitHost::of(&repo.source).is_some();
        check.access = match found.access {
            RemoteAccess::Readable if is_anonymous => RepoAccess::Anonymous,
            RemoteAccess::Readable => RepoAccess::Credential,
            RemoteAccess::Refused => RepoAccess::Refused,
            RemoteAccess::NotFound => RepoAccess::NotFound,
            RemoteAccess::Unreachable => RepoAccess::Unreachable,
        };
        check.default_branch = found.default_branch;
        Ok(check)
    }
}

/// Returns a check that has found nothing yet.
fn unreadable(repo: &Repo) -> RepoCheck {
    RepoCheck {
        repo: repo.clone(),
        access: RepoAccess::Unreachable,
        credential: None,
        default_branch: None,
        failure: None,
    }
}
