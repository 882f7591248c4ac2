//! Planned work: lists of tasks that several agents work through, what they note, and what each iteration came to.

use std::collections::{HashMap, HashSet};

use jiff::Timestamp;
use newtype_uuid::GenericUuid;
use uuid::Uuid;

use crate::{
    BoardId, IterationText, KeyId, LoopId, Name, NoteId, NoteText, Owner, Page, SessionId, TaskId,
    TaskListId, TaskText,
};

/// The most tasks, and the most notes, of one list.
pub const LIST_ITEMS_MAX: u32 = 10_000;

/// The most tasks or notes that one call adds.
pub const ADD_MAX: usize = 200;

/// The most tasks that one depends on.
pub const DEPENDENCIES_MAX: usize = 50;

/// Tasks, notes and iterations that belong together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskList {
    pub id: TaskListId,
    pub owner: Owner,
    pub of: ListOf,
    /// When somebody said that the work is done.
    pub completed_at: Option<Timestamp>,
    pub created_at: Timestamp,
}

/// What a list belongs to. There is one list of each.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListOf {
    /// A tree of sessions, by its root: whoever is in the tree works on the same list.
    Session(SessionId),
    Board(BoardId),
    /// A loop: its iterations work on it, one after the other.
    Loop(LoopId),
    /// Nothing but its owner, who gave it a name.
    Name(Name),
}

/// A planned work item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    pub id: TaskId,
    pub list: TaskListId,
    /// Counts the tasks of the list from 1.
    pub number: u64,
    pub content: TaskText,
    pub status: TaskStatus,
    pub priority: TaskPriority,
    /// What must be settled first, in the order of numbers.
    pub depends_on: Vec<TaskId>,
    pub claim: Option<TaskClaim>,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// Who has a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskClaim {
    pub holder: Holder,
    /// A claim without an end lasts as long as its session's process.
    pub until: Option<Timestamp>,
}

/// Who can have a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holder {
    Session(SessionId),
    /// Somebody who is not an agent of ours, and the key if there is one. Two callers with one key cannot be told apart.
    Caller(Option<KeyId>),
}

impl Task {
    /// Decides whether `by` may change how the task stands at a time: what somebody else is at work on is theirs. People
    /// decide over what agents do.
    pub fn may_be_changed(&self, by: Holder, at: Timestamp) -> bool {
        let Some(claim) = self.claim.filter(|_| self.status == TaskStatus::InProgress) else {
            return true;
        };
        let is_over = claim.until.is_some_and(|until| until <= at);
        is_over || claim.holder == by || matches!(by, Holder::Caller(_))
    }
}

/// A task to add.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewTask {
    pub id: TaskId,
    pub content: TaskText,
    pub status: TaskStatus,
    pub priority: TaskPriority,
    pub depends_on: Vec<TaskId>,
}

/// What to change about a task; what is absent stays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskPatch {
    pub content: Option<TaskText>,
    pub status: Option<TaskStatus>,
    pub priority: Option<TaskPriority>,
    /// All that it depends on from now on.
    pub depends_on: Option<Vec<TaskId>>,
}

/// How a task stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TaskStatus {
    Remaining,
    InProgress,
    Completed,
    Blocked,
    Cancelled,
}

impl TaskStatus {
    /// Every status, in the order in which lists show them.
    pub const ALL: [Self; 5] = [
        Self::InProgress,
        Self::Remaining,
        Self::Blocked,
        Self::Completed,
        Self::Cancelled,
    ];

    /// Returns the status as stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Remaining => "remaining",
            Self::InProgress => "in_progress",
            Self::Completed => "completed",
            Self::Blocked => "blocked",
            Self::Cancelled => "cancelled",
        }
    }

    /// Reads a status back from its text.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == text)
    }

    /// Tells whether nothing remains to be done; what depends on it may begin.
    pub fn is_settled(self) -> bool {
        matches!(self, Self::Completed | Self::Cancelled)
    }
}

/// How urgent a task is: 0 the most, 4 the least.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TaskPriority(u8);

impl TaskPriority {
    /// The least urgent.
    pub const LEAST: Self = Self(4);

    /// Takes a number from 0 to 4.
    pub fn new(level: u8) -> Option<Self> {
        (level <= Self::LEAST.0).then_some(Self(level))
    }

    /// Returns the number.
    pub fn get(self) -> u8 {
        self.0
    }
}

impl Default for TaskPriority {
    fn default() -> Self {
        Self(2)
    }
}

/// Why tasks cannot depend on each other in this way.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DependencyRefusal {
    #[error("a task cannot depend on itself")]
    Itself,
    #[error("a task depends on at most {DEPENDENCIES_MAX} others")]
    TooMany,
    #[error("it would depend on itself through others")]
    Cycle,
}

/// Checks that a task may depend on `wanted`, given what every other task of the list depends on.
pub fn check_dependencies(
    task: TaskId,
    wanted: &[TaskId],
    others: &HashMap<TaskId, Vec<TaskId>>,
) -> Result<(), DependencyRefusal> {
    if wanted.contains(&task) {
        return Err(DependencyRefusal::Itself);
    }
    if wanted.len() > DEPENDENCIES_MAX {
        return Err(DependencyRefusal::TooMany);
    }
    let mut seen = HashSet::new();
    let mut open: Vec<TaskId> = wanted.to_vec();
    while let Some(next) = open.pop() {
        if next == task {
            return Err(DependencyRefusal::Cycle);
        }
        if seen.insert(next) {
            open.extend(others.get(&next).into_iter().flatten());
        }
    }
    Ok(())
}

/// Something to remember.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Note {
    pub id: NoteId,
    pub list: TaskListId,
    pub kind: NoteKind,
    pub content: NoteText,
    /// The session that noted it, if it was not a person.
    pub session: Option<SessionId>,
    pub created_at: Timestamp,
}

impl Page<Note, Uuid> {
    /// Ends the page where its notes have more than `bytes_max` bytes together, as [`Page::within_bytes`] does.
    #[must_use]
    pub fn notes_within(self, bytes_max: usize) -> Self {
        let bytes = |note: &Note| note.content.as_str().len();
        self.within_bytes(bytes_max, bytes, |note| note.id.into_untyped_uuid())
    }
}

/// A note to add.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewNote {
    pub id: NoteId,
    pub kind: NoteKind,
    pub content: NoteText,
}

/// What a note is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NoteKind {
    Learning,
    Stuck,
    Tip,
    Decision,
}

impl NoteKind {
    /// Every kind.
    pub const ALL: [Self; 4] = [Self::Learning, Self::Stuck, Self::Tip, Self::Decision];

    /// Returns the kind as stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Learning => "learning",
            Self::Stuck => "stuck",
            Self::Tip => "tip",
            Self::Decision => "decision",
        }
    }

    /// Reads a kind back from its text.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == text)
    }
}

/// One fresh start on a list's work, and what it came to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Iteration {
    pub list: TaskListId,
    /// Counts the iterations of the list from 1.
    pub number: u64,
    /// The session whose iteration it is; a session has one on a list.
    pub session: Option<SessionId>,
    pub summary: IterationText,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

#[cfg(test)]
#[path = "task_tests.rs"]
mod tests;
