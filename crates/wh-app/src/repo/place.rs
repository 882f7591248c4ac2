//! Where repositories are on this machine: found or cloned once, then recorded.

use wh_domain::{
    EventKind, Facts, NewEvent, Operation, Reach, Reference, Repo, RepoId, RepoSource, RepoState,
};
use wh_git::{GitError, RepoHandle};
use wh_store::StoreError;

use super::remote::{FetchError, unreachable};
use crate::{App, AppError, RepoReason, Result, lookup::id_of};

/// The most bytes of git's complaint that are recorded.
const REASON_BYTES_MAX: usize = 500;

impl App {
    /// Returns a repository that commands can be run on, by its recorded paths.
    pub(crate) fn repo_handle(&self, repo: &Repo) -> Result<RepoHandle> {
        match &repo.state {
            RepoState::Ready(paths) => {
                let handle = RepoHandle::open(paths.clone())?;
                Ok(handle.with_checkout_limits(self.repos.checkout))
            }
            RepoState::Pending => Err(RepoReason::Cloning.into()),
            RepoState::Failed { reason } => Err(clone_failed(reason)),
        }
    }

    /// Finds or clones a repository if that was not done yet, and returns it ready.
    pub(crate) async fn repo_ensure(&self, repo: &Repo) -> Result<Repo> {
        if let RepoState::Ready(_) = repo.state {
            return Ok(repo.clone());
        }
        let _lock = self.repo_locks.take(repo.id).await;
        // Somebody else may have done it meanwhile.
        let mut repo = self.repo_by_id(repo.id).await?;
        if let RepoState::Ready(_) = repo.state {
            return Ok(repo);
        }
        if let RepoSource::Local { path } = &repo.source {
            let access = self.owner_access(repo.owner).await?;
            self.open_repository(&access, path).await?;
        }
        let found = match &repo.source {
            RepoSource::Local { path } => RepoHandle::find(path).map_err(FetchError::from),
            RepoSource::Remote { .. } => self.repo_clone(&mut repo).await,
        };
        match found {
            Ok(handle) => {
                repo.default_branch = handle.default_branch().await?;
                repo.state = RepoState::Ready(handle.paths().clone());
                self.repo_settle(&repo).await?;
                Ok(repo)
            }
            Err(FetchError::Git(error @ GitError::Start(_))) => Err(error.into()),
            Err(FetchError::App(error)) => Err(error),
            Err(error) => {
                let mut reason = match (&repo.source, &error) {
                    (RepoSource::Local { .. }, FetchError::Git(error)) => error.to_string(),
                    _ => unreachable(&repo, &error),
                };
                reason.truncate(reason.floor_char_boundary(REASON_BYTES_MAX));
                let refused = clone_failed(&reason);
                repo.state = RepoState::Failed { reason };
                self.repo_settle(&repo).await?;
                Err(refused)
            }
        }
    }

    async fn repo_settle(&self, repo: &Repo) -> Result<()> {
        let event = repo_event(EventKind::StateChanged, repo, Facts::new());
        let subject = repo.id.into();
        let operation = Operation::RepoAdd;
        let commit = self.server_commit(operation, repo.owner, subject, Facts::new(), vec![event]);
        let _applied = self.store.repo_settle(repo, commit).await?;
        Ok(())
    }

    /// Returns a repository for the server's own work.
    pub(crate) async fn repo_by_id(&self, id: RepoId) -> Result<Repo> {
        let id = id_of(&Reference::from(id))?;
        let found = self.store.repo_find(Reach::All, &id).await?;
        let none = StoreError::NotFound { what: "repo" };
        Ok(found.into_iter().next().ok_or(none)?)
    }
}

fn clone_failed(reason: &str) -> AppError {
    let reason = reason.to_owned();
    RepoReason::CloneFailed { reason }.into()
}

/// Says what became of a repository; the actor is added by whoever has one.
pub(super) fn repo_event(kind: EventKind, repo: &Repo, more: Facts) -> NewEvent {
    let state = repo.state.as_str();
    let mut facts = crate::context::facts([("name", repo.name.as_str()), ("state", state)]);
    facts.extend(more);
    NewEvent {
        kind,
        subject: repo.id.into(),
        owner: repo.owner,
        session: None,
        actor: None,
        facts,
    }
}
