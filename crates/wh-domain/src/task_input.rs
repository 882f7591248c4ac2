//! What callers ask of task lists, and what they are told.

use std::{cmp::Ordering, fmt};

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
    /// How many tasks there are in all groups together.
    pub total: u64,
    /// Where the next page begins; absent on the last one.
    pub next: Option<TaskPosition>,
}

/// The tasks of one status.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TaskGroup {
    pub status: TaskStatus,
    /// Total number of results.
    pub total: u64,
    /// Those of them that are on the page, the most urgent first.
    pub tasks: Vec<Task>,
}

/// A position in a list of tasks, right after a task in the order of status, priority and number.
///
/// It stays where it is when the task moves on while somebody reads the list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TaskPosition {
    pub status: TaskStatus,
    pub priority: TaskPriority,
    pub number: u64,
}

impl TaskPosition {
    /// Returns the position right after a task.
    pub fn after(task: &Task) -> Self {
        Self {
            status: task.status,
            priority: task.priority,
            number: task.number,
        }
    }

    /// Reads a position as [`fmt::Display`] writes it.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('.');
        let status = TaskStatus::parse(parts.next()?)?;
        let priority = TaskPriority::new(parts.next()?.parse().ok()?)?;
        let number = parts.next()?.parse().ok()?;
        parts.next().is_none().then_some(Self {
            status,
            priority,
            number,
        })
    }

    /// Returns after which task of a status the page begins; nothing when it begins after all of them.
    pub fn within(self, status: TaskStatus) -> Option<Option<(TaskPriority, u64)>> {
        let order = |status| TaskStatus::ALL.iter().position(|it| *it == status);
        match order(status).cmp(&order(self.status)) {
            Ordering::Less => None,
            Ordering::Equal => Some(Some((self.priority, self.number))),
            Ordering::Greater => Some(None),
        }
    }
}

impl fmt::Display for TaskPosition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (status, priority) = (self.status.as_str(), self.priority.get());
        write!(f, "{status}.{priority}.{}", self.number)
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_read_as_it_is_written() {
        for text in ["remaining.0.1", "in_progress.4.450"] {
            let position = TaskPosition::parse(text).unwrap();
            assert_eq!(position.to_string(), text);
        }
        for text in [
            "",
            "12",
            "remaining",
            "remaining.9.1",
            "remaining.1.x",
            "remaining.1.2.3",
            "89abcdef",
        ] {
            assert_eq!(TaskPosition::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn a_page_begins_after_its_position() {
        let position = TaskPosition::parse("remaining.2.7").unwrap();
        let priority = TaskPriority::new(2).unwrap();
        assert_eq!(position.within(TaskStatus::InProgress), None);
        assert_eq!(
            position.within(TaskStatus::Remaining),
            Some(Some((priority, 7)))
        );
        assert_eq!(position.within(TaskStatus::Completed), Some(None));
    }
}
