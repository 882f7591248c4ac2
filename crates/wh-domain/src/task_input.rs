//! What callers ask of task lists, and what they are told.

use crate::{
    Name, NoteKind, NoteText, Reference, Task, TaskList, TaskPriority, TaskStatus, TaskText,
};

/// A list of tasks as a caller names it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum ListRef {
    /// That of the caller's own tree of sessions.
    #[default]
    Own,
    /// That of the tree this session is in.
    Session(Reference),
    Board(Reference),
    /// That of a loop.
    Loop(Reference),
    /// One of the caller's own lists.
    Name(Name),
}

/// A task to add.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskInput {
    pub content: TaskText,
    pub status: TaskStatus,
    pub priority: TaskPriority,
    /// Tasks of the list, or `+2` for the second of those that are added together.
    pub depends_on: Vec<Reference>,
}

/// What to change about a task; what is absent stays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskPatchInput {
    pub content: Option<TaskText>,
    pub status: Option<TaskStatus>,
    pub priority: Option<TaskPriority>,
    pub depends_on: Option<Vec<Reference>>,
}

/// A list as a whole.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskOverview {
    pub list: TaskList,
    pub groups: Vec<TaskGroup>,
}

/// The tasks of one status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskGroup {
    pub status: TaskStatus,
    /// How many there are in all.
    pub total: u64,
    /// The most urgent of them.
    pub tasks: Vec<Task>,
}

/// What there is to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskNext {
    /// Nothing when there is no task that can be begun now.
    pub task: Option<Task>,
    /// How many tasks of each status there are, in the order of [`TaskStatus::ALL`].
    pub counts: [u64; 5],
}

/// A note to add.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NoteInput {
    pub kind: NoteKind,
    pub content: NoteText,
}
