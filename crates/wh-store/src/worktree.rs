//! Worktrees.

use async_trait::async_trait;
use jiff::Timestamp;
use uuid::Uuid;
use wh_domain::{
    IdRef, NewEvent, Page, PageRequest, Reach, Worktree, WorktreeChanges, WorktreeFilter,
    WorktreeId,
};

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

    /// Returns those of some worktrees that are known, for the server's own work.
    async fn worktree_many(&self, ids: &[WorktreeId]) -> Result<Vec<Worktree>>;

    /// Records that something may have changed in a worktree, so that it is counted again. The end of a turn in it is
    /// recorded as that by itself.
    async fn worktree_touch(&self, id: WorktreeId, commit: Commit) -> Result<Applied>;

    /// Returns worktrees that something has happened in since they were counted, oldest first.
    async fn worktree_uncounted(&self, limit: u32) -> Result<Vec<Uncounted>>;

    /// Stores what counting a worktree came to. Tells whether that is something new, and only then announces it.
    async fn worktree_counted(&self, counted: Counted) -> Result<bool>;
}

/// A worktree that is to be counted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Uncounted {
    pub worktree: Worktree,
    /// How often something has happened in it.
    pub touched: u64,
}

/// What counting a worktree came to.
#[derive(Clone, Debug)]
pub struct Counted {
    pub worktree: WorktreeId,
    /// What had happened when counting began; what happened since is counted next.
    pub touched: u64,
    /// Nothing when it could not be counted; what was known before stays.
    pub changes: Option<WorktreeChanges>,
    pub at: Timestamp,
    pub event: NewEvent,
}
