//! Loops, their iterations and what happened in them.

use async_trait::async_trait;
use uuid::Uuid;
use wh_domain::{
    IdRef, Loop, LoopId, LoopIteration, LoopLogEntry, NewLoopLogEntry, NewTask, Page, PageRequest,
    Reach, SessionId, TaskList, Worktree,
};

use crate::{Applied, Commit, NewSession, Result};

/// A loop to start, with everything that belongs to its beginning.
#[derive(Clone, Debug)]
pub struct NewLoop {
    pub of: Loop,
    /// The worktree that is to be made for it.
    pub worktree: Worktree,
    /// Its list.
    pub list: TaskList,
    /// The tasks that it begins with.
    pub tasks: Vec<NewTask>,
}

/// A step of a loop, with everything that becomes durable together with it.
#[derive(Clone, Debug)]
pub struct LoopSave {
    /// The loop as it becomes; its revision is that of the loop as it was seen.
    pub after: Loop,
    /// The session of an iteration that begins.
    pub session: Option<NewSession>,
    /// An iteration that begins, or is over.
    pub iteration: Option<LoopIteration>,
    pub log: Vec<NewLoopLogEntry>,
}

/// Keeps loops. A session's tree reaches the loop whose iteration it is.
#[async_trait]
pub trait LoopStore {
    /// Adds a loop with its worktree, its list and its tasks.
    async fn loop_insert(&self, new: &NewLoop, commit: Commit) -> Result<Applied>;

    /// Changes a loop and begins or ends an iteration with it; [`crate::StoreError::Stale`] when another change came before.
    async fn loop_save(&self, save: &LoopSave, commit: Commit) -> Result<Applied>;

    /// Returns the loops that `id` could mean, at most ten.
    async fn loop_find(&self, reach: Reach, id: &IdRef) -> Result<Vec<Loop>>;

    /// Lists loops, newest first; those that have not ended alone if asked for.
    async fn loop_list(
        &self,
        reach: Reach,
        open_only: bool,
        page: PageRequest<Uuid>,
    ) -> Result<Page<Loop, Uuid>>;

    /// Returns the loop whose iteration a session is.
    async fn loop_of_session(&self, session: SessionId) -> Result<Option<Loop>>;

    /// Returns the loops that something is to be done about: not those that rest, and not those whose session is at work.
    async fn loop_due(&self) -> Result<Vec<Loop>>;

    /// Returns so many iterations, the last one first.
    async fn loop_iterations(&self, id: LoopId, limit: u32) -> Result<Vec<LoopIteration>>;

    /// Lists the entries of a loop's log, in order.
    async fn loop_log(&self, id: LoopId, page: PageRequest<u64>)
    -> Result<Page<LoopLogEntry, u64>>;
}
