//! Deleting boards and repositories, and what depends on them.

use async_trait::async_trait;
use wh_domain::{BoardId, DeleteMode, Dependents, RepoId};

use crate::{Applied, Commit, Result};

/// Deletes what other things refer to.
#[async_trait]
pub trait DeletionStore {
    /// Returns what depends on a board: sessions that are not archived, worktrees, loops, tasks, notes and webhooks.
    async fn board_dependents(&self, board: BoardId) -> Result<Vec<Dependents>>;

    /// Deletes a board; [`crate::StoreError::InUse`] when something depends on it, unless forced.
    ///
    /// Sessions, worktrees and loops stay, without a board. Tasks, notes and webhooks of the board go with it.
    async fn board_delete(
        &self,
        board: BoardId,
        mode: DeleteMode,
        commit: Commit,
    ) -> Result<Applied>;

    /// Returns what depends on a repository: sessions that are not archived, worktrees that are there, and loops that have not
    /// ended.
    async fn repo_dependents(&self, repo: RepoId) -> Result<Vec<Dependents>>;

    /// Deletes a repository; [`crate::StoreError::InUse`] when something depends on it.
    ///
    /// Its row stays for old sessions; it is no longer listed, and its name can be used again.
    async fn repo_delete(&self, repo: RepoId, commit: Commit) -> Result<Applied>;

    /// Tells whether a worktree of a repository was ever made.
    async fn repo_had_worktrees(&self, repo: RepoId) -> Result<bool>;
}
