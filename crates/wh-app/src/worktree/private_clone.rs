//! Private clones: where agents of the tier `strict` commit, and how their commits reach the worktree.

use wh_domain::{Repo, Worktree};
use wh_git::{Disabled, Embedded, PrivateClone, WorktreeHandle};

use crate::{App, AppError, Result, RunReason};

impl App {
    /// Returns the private clone of a worktree, up to date with the repository. Creates it if it has none.
    pub(crate) async fn private_clone(
        &self,
        repo: &Repo,
        worktree: &Worktree,
    ) -> Result<PrivateClone> {
        let handle = self.worktree_handle(repo, worktree)?;
        let dir = self.runs.containment.clone_dir(worktree.id);
        let _alone = self.clone_locks.take(worktree.id).await;
        let home = self.runs.containment.home.as_deref();
        let identity = handle.repo().configured_identity(home).await?;
        let identity = identity.as_ref();
        let mut config = vec![("gc.auto", "0"), ("maintenance.auto", "false")];
        config.extend(identity.map(|it| ("user.name", it.name.as_str())));
        config.extend(identity.map(|it| ("user.email", it.email.as_str())));
        Ok(PrivateClone::ensure(&handle, &dir, &config).await?)
    }

    /// Returns the checkout of a worktree, with everything that agents have committed in its private clone.
    pub(crate) async fn worktree_handle_fetched(
        &self,
        repo: &Repo,
        worktree: &Worktree,
    ) -> Result<WorktreeHandle> {
        let handle = self.worktree_handle(repo, worktree)?;
        self.private_clone_fetch(&handle, worktree).await?;
        Ok(handle)
    }

    /// Fetches from the private clone of a worktree, if it has one. Submodules that the fetched index lists are disabled.
    pub(crate) async fn private_clone_fetch(
        &self,
        handle: &WorktreeHandle,
        worktree: &Worktree,
    ) -> Result<Disabled> {
        let dir = self.runs.containment.clone_dir(worktree.id);
        if handle.missing().is_some() || !dir.exists() {
            return Ok(Disabled::default());
        }
        let _alone = self.clone_locks.take(worktree.id).await;
        let failed =
            |error: wh_git::WorktreeError| AppError::from(RunReason::PrivateClone { error });
        let Some(clone) = PrivateClone::open(handle, &dir).map_err(failed)? else {
            return Ok(Disabled::default());
        };
        let fetched = clone.fetch().await.map_err(failed)?;
        if !fetched.kept.is_empty() {
            tracing::info!(worktree = %worktree.id, kept = ?fetched.kept, "kept commits of a private clone beside the worktree's branch");
        }
        if !fetched.has_new_index {
            return Ok(Disabled::default());
        }
        let disabled = handle.embedded_disable(Embedded::Submodules).await;
        let disabled = disabled.map_err(failed)?;
        if !disabled.is_empty() {
            tracing::warn!(worktree = %worktree.id, ?disabled, "disabled git repositories inside a worktree");
        }
        Ok(disabled)
    }

    /// Fetches what a worktree that is about to be removed has in its private clone. Returns whether the clone holds nothing else.
    pub(crate) async fn private_clone_empty(
        &self,
        handle: &WorktreeHandle,
        worktree: &Worktree,
    ) -> bool {
        match self.private_clone_fetch(handle, worktree).await {
            Ok(_) => true,
            Err(error) => {
                tracing::warn!(worktree = %worktree.id, %error, "the private clone stays on disk");
                false
            }
        }
    }

    /// Removes the private clone of a worktree that is gone.
    pub(crate) async fn private_clone_remove(&self, worktree: &Worktree) {
        let dir = self.runs.containment.clone_dir(worktree.id);
        let _alone = self.clone_locks.take(worktree.id).await;
        let removed = tokio::task::spawn_blocking(move || std::fs::remove_dir_all(dir)).await;
        if let Ok(Err(error)) = removed
            && error.kind() != std::io::ErrorKind::NotFound
        {
            tracing::warn!(worktree = %worktree.id, %error, "a private clone could not be removed");
        }
    }
}
