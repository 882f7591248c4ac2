//! Worktrees.

use async_trait::async_trait;
use uuid::Uuid;
use wh_domain::{IdRef, Page, PageRequest, Reach, Worktree, WorktreeFilter, WorktreeId};

use crate::{Applied, Commit, Result};

/// Keeps worktrees. A session's tree reaches the worktrees its sessions work in.
#[async_trait]
pub trait WorktreeStore {
    /// Adds a worktree; [`crate::StoreError::Taken`] when its repository has one with that branch that is not removed.
    async fn worktree_insert(&self, worktree: &Worktree, commit: Commit) -> Result<Applied>;

    /// Moves a worktree on, as [`Worktree::apply`] says; [`crate::StoreError::Stale`] when it is in another state by now.
    ///
    /// `before` is the worktree as it was read and `after` what became of it.
    async fn worktree_move(
        &self,
        before: &Worktree,
        after: &Worktree,
        commit: Commit,
    ) -> Result<Applied>;

    /// Returns the worktrees that `id` could mean, at most ten; also removed ones.
    async fn worktree_find(&self, reach: Reach, id: &IdRef) -> Result<Vec<Worktree>>;

    /// Lists worktrees, newest first.
    async fn worktree_list(
        &self,
        reach: Reach,
        filter: &WorktreeFilter,
        page: PageRequest<Uuid>,
    ) -> Result<Page<Worktree, Uuid>>;

    /// Counts the worktrees of a list, up to [`crate::COUNT_MAX`].
    async fn worktree_count(&self, reach: Reach, filter: &WorktreeFilter) -> Result<u64>;

    /// Returns a worktree by its id, for the server's own work.
    async fn worktree_by_id(&self, id: WorktreeId) -> Result<Option<Worktree>>;
}
