//! Planned work: tasks and notes.

/// How a task stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TaskStatus {
    Remaining,
    InProgress,
    Completed,
    Blocked,
    Cancelled,
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

/// What a note is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum NoteKind {
    Learning,
    Stuck,
    Tip,
    Decision,
}
