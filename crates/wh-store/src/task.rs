//! Task lists: tasks, notes and iterations.

use async_trait::async_trait;
use jiff::Timestamp;
use uuid::Uuid;
use wh_domain::{
    Holder, IdRef, Iteration, IterationText, ListOf, NewNote, NewTask, Note, NoteKind, Owner, Page,
    PageRequest, SessionId, Task, TaskClaim, TaskId, TaskList, TaskListId, TaskPatch, TaskPriority,
    TaskStatus,
};

use crate::{Applied, Commit, Result};

/// A wish for the next task of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskWish {
    pub list: TaskListId,
    pub claim: TaskClaim,
    /// Names the wish; the task that it was given is found by it.
    pub id: Uuid,
}

/// Keeps task lists. Who may see one follows from what it belongs to, so these methods take no reach: the caller has looked.
#[async_trait]
pub trait TaskStore {
    /// Returns the list of something; a name is one of its owner's.
    async fn task_list_of(&self, owner: Owner, of: &ListOf) -> Result<Option<TaskList>>;

    /// Returns a list.
    async fn task_list_by_id(&self, id: TaskListId) -> Result<Option<TaskList>>;

    /// Adds tasks, and their list if it is not there yet. They are numbered in their order.
    ///
    /// [`crate::StoreError::NotFound`] when something that they depend on is not in the list, or another list of the same
    /// name was made meanwhile; [`crate::StoreError::Dependency`] when they would depend on themselves.
    async fn task_add(&self, list: &TaskList, tasks: &[NewTask], commit: Commit)
    -> Result<Applied>;

    /// Changes a task on somebody's behalf; [`crate::StoreError::Held`] when it is somebody else's at that time.
    ///
    /// A session that puts a task in progress has it from then on; a task that is not in progress is nobody's.
    async fn task_update(
        &self,
        id: TaskId,
        patch: &TaskPatch,
        by: Holder,
        commit: Commit,
    ) -> Result<Applied>;

    /// Gives the most urgent task that can be begun to exactly one caller; [`crate::StoreError::NotFound`] when there is none.
    ///
    /// A session that has one already is given that one again.
    async fn task_claim(&self, wish: &TaskWish, commit: Commit) -> Result<Applied>;

    /// Returns the task that a wish was given.
    async fn task_wished(&self, wish: Uuid) -> Result<Option<Task>>;

    /// Returns the task that would be given to `by` at a time.
    async fn task_peek(&self, list: TaskListId, by: Holder, at: Timestamp) -> Result<Option<Task>>;

    /// Returns the tasks that `id` could mean, at most ten.
    async fn task_find(&self, id: &IdRef) -> Result<Vec<Task>>;

    /// Returns a task by its number.
    async fn task_by_number(&self, list: TaskListId, number: u64) -> Result<Option<Task>>;

    /// Returns so many tasks of a status, the most urgent first: those after a priority and number, if they are given.
    async fn task_list(
        &self,
        list: TaskListId,
        status: TaskStatus,
        after: Option<(TaskPriority, u64)>,
        limit: u32,
    ) -> Result<Vec<Task>>;

    /// Counts the tasks of each status, in the order of [`TaskStatus::ALL`].
    async fn task_counts(&self, list: TaskListId) -> Result<[u64; 5]>;

    /// Returns a mark of everything in a list: two are equal when no task, note or summary has changed in between. Who has a
    /// task makes no difference, and neither does a summary that was given before.
    async fn task_list_mark(&self, list: TaskListId) -> Result<String>;

    /// Adds notes, and their list if it is not there yet.
    async fn note_add(
        &self,
        list: &TaskList,
        notes: &[NewNote],
        session: Option<SessionId>,
        commit: Commit,
    ) -> Result<Applied>;

    /// Lists notes, the latest first. [`crate::StoreError::NotFound`] when there is no note that the page is to begin after.
    async fn note_list(
        &self,
        list: TaskListId,
        kind: Option<NoteKind>,
        page: PageRequest<Uuid>,
    ) -> Result<Page<Note, Uuid>>;

    /// Keeps what an iteration came to: that of the session, or a new one for anybody else.
    async fn iteration_summary(
        &self,
        list: &TaskList,
        session: Option<SessionId>,
        summary: &IterationText,
        commit: Commit,
    ) -> Result<Applied>;

    /// Returns so many iterations, the latest first.
    async fn iteration_list(&self, list: TaskListId, limit: u32) -> Result<Vec<Iteration>>;

    /// Says that the work of a list is done; [`crate::StoreError::InUse`] while a task is open.
    async fn task_list_complete(&self, list: &TaskList, commit: Commit) -> Result<Applied>;
}
