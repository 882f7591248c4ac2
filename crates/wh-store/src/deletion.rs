//! Deletes boards, repositories and users, and lists their dependents.

use async_trait::async_trait;
use wh_domain::{BoardId, DeleteMode, Dependents, Reference, RepoId, UserId};

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

    /// Returns what depends on a user: what the user owns, archived sessions too, keys that are not revoked, and boards that are
    /// shared with the user.
    async fn user_dependents(&self, user: UserId) -> Result<Vec<Dependents>>;

    /// Returns whether a session or loop of the user is still running.
    async fn user_is_running(&self, user: UserId) -> Result<bool>;

    /// Deletes a user; [`crate::StoreError::InUse`] when something depends on the user, unless forced, or when a session or a
    /// loop of the user still runs. [`crate::StoreError::LastAdmin`] when no administrator would be left who is let in.
    ///
    /// Everything that the user owns belongs to `heir` afterwards. Keys are revoked; shares, webhooks and own credentials of the
    /// user are deleted, and sessions that lead become general. The row stays for the audit log, and so does the name: it is not
    /// given to another user.
    async fn user_delete(
        &self,
        user: UserId,
        heir: UserId,
        mode: DeleteMode,
        commit: Commit,
    ) -> Result<Applied>;

    /// Returns the deleted user of this name or whole id.
    async fn user_deleted(&self, user: &Reference) -> Result<Option<UserId>>;
}
