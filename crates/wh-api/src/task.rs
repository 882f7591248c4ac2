//! Tasks of a list.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wh_domain::{
    Holder, InputRefusal, ListOf, ListRef, Name, PageRequest, Reference, ShortId, Task, TaskInput,
    TaskList, TaskNext, TaskOverview, TaskPatchInput, TaskPriority, TaskStatus, TaskText,
};

use crate::NumberOrId;
use crate::common::{PageQuery, at_most, cursor_of, field, optional, reference, time};

/// The most characters of a task that a list shows.
const CONTENT_CHARS_MAX: usize = 500;

/// Defines a request about a list of tasks.
macro_rules! list_of_tasks_request {
    ($(#[$doc:meta])* $name:ident { $($(#[$field_doc:meta])* $field:ident: $ty:ty,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Debug, Default, serde::Serialize, serde::Deserialize, schemars::JsonSchema)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $(
                $(#[$field_doc])*
                pub $field: $ty,
            )*
            /// The list of the tree that this session is in; an agent's own unless given.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub session: Option<String>,
            /// The list of this board.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub board: Option<String>,
            /// The list of this loop.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub r#loop: Option<String>,
            /// A list of your own, by its name.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub list: Option<String>,
        }

        impl $name {
            /// Returns which list is meant.
            pub fn list_ref(&self) -> Result<wh_domain::ListRef, wh_domain::InputRefusal> {
                crate::task::list_ref(
                    self.session.as_deref(),
                    self.board.as_deref(),
                    self.r#loop.as_deref(),
                    self.list.as_deref(),
                )
            }
        }
    };
}
pub(crate) use list_of_tasks_request;

/// Reads which list is meant.
pub(crate) fn list_ref(
    session: Option<&str>,
    board: Option<&str>,
    of_loop: Option<&str>,
    list: Option<&str>,
) -> Result<ListRef, InputRefusal> {
    match (session, board, of_loop, list) {
        (None, None, None, None) => Ok(ListRef::Own),
        (Some(session), None, None, None) => Ok(ListRef::Session(reference("session", session)?)),
        (None, Some(board), None, None) => Ok(ListRef::Board(reference("board", board)?)),
        (None, None, Some(of_loop), None) => Ok(ListRef::Loop(reference("loop", of_loop)?)),
        (None, None, None, Some(name)) => Ok(ListRef::Name(field("list", Name::parse(name))?)),
        _ => Err(InputRefusal::new(
            "list",
            "give one of session, board, loop and list",
        )),
    }
}

/// A task to add.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TaskItem {
    /// What is to be done.
    pub content: String,
    /// remaining unless given; in_progress, completed, blocked, cancelled
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<String>,
    /// 0, the most urgent, to 4; 2 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
    /// Numbers or ids of tasks to be done first; +1 is the first task of this call.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<NumberOrId>,
}

impl TaskItem {
    pub(crate) fn input(&self) -> Result<TaskInput, InputRefusal> {
        Ok(TaskInput {
            content: field("content", TaskText::parse(&self.content))?,
            status: status(self.status.as_deref())?.unwrap_or(TaskStatus::Remaining),
            priority: priority(self.priority)?.unwrap_or_default(),
            depends_on: references(&self.depends_on)?,
        })
    }
}

list_of_tasks_request! {
    /// Tasks to add to a list.
    TaskAddRequest {
        /// One or more, in order.
        tasks: Vec<TaskItem>,
        /// A mark of your choice: a repeat with it changes nothing twice.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        idempotency_key: Option<String>,
    }
}

impl TaskAddRequest {
    /// Checks every task.
    pub fn tasks(&self) -> Result<Vec<TaskInput>, InputRefusal> {
        at_most("tasks", &self.tasks, wh_domain::ADD_MAX)?;
        self.tasks.iter().map(TaskItem::input).collect()
    }
}

list_of_tasks_request! {
    /// What to change about a task; what is not given stays.
    TaskUpdateRequest {
        /// The task's number in the list, or its id.
        task: NumberOrId,
        /// remaining, in_progress, completed, blocked or cancelled
        #[serde(default, skip_serializing_if = "Option::is_none")]
        status: Option<String>,
        /// 0, the most urgent, to 4.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        priority: Option<u8>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        content: Option<String>,
        /// All tasks to be done first, by number or id.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        depends_on: Option<Vec<NumberOrId>>,
        /// A mark of your choice: a repeat with it changes nothing twice.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        idempotency_key: Option<String>,
    }
}

impl TaskUpdateRequest {
    /// Returns which task is meant.
    pub fn task(&self) -> Result<Reference, InputRefusal> {
        self.task.reference("task")
    }

    /// Checks what is to change.
    pub fn patch(&self) -> Result<TaskPatchInput, InputRefusal> {
        let depends_on = self.depends_on.as_deref().map(references);
        Ok(TaskPatchInput {
            content: optional("content", self.content.as_deref(), TaskText::parse)?,
            status: status(self.status.as_deref())?,
            priority: priority(self.priority)?,
            depends_on: depends_on.transpose()?,
        })
    }
}

list_of_tasks_request! {
    /// Which tasks to list.
    TaskListRequest {
        /// Only those of this status.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        status: Option<String>,
        /// How many at most: 1 to 200, 50 unless given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        limit: Option<u32>,
        /// next_cursor of the page before, or a task by its number or id: the tasks after it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cursor: Option<NumberOrId>,
    }
}

impl TaskListRequest {
    /// Returns the status that is asked for.
    pub fn status(&self) -> Result<Option<TaskStatus>, InputRefusal> {
        status(self.status.as_deref())
    }

    /// Returns which part of the list is asked for.
    pub fn page(&self) -> Result<PageRequest<Reference>, InputRefusal> {
        PageQuery::new(self.limit, self.cursor.as_ref()).by_number_or_id()
    }
}

list_of_tasks_request! {
    /// Asks for the next task.
    TaskNextRequest {
        /// Take it, so that nobody else is given it: until your process ends or, for callers that are no agents, for a time.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        claim: Option<bool>,
        /// How long a caller that is no agent keeps it: 1 to 86400 seconds, 3600 unless given.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        lease_seconds: Option<u32>,
        /// A mark of your choice: a repeat with it changes nothing twice.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        idempotency_key: Option<String>,
    }
}

impl TaskNextRequest {
    /// Returns how long it is to be kept.
    pub fn lease(&self) -> Result<Option<std::time::Duration>, InputRefusal> {
        let Some(seconds) = self.lease_seconds else {
            return Ok(None);
        };
        match seconds {
            1..=86_400 => Ok(Some(std::time::Duration::from_secs(seconds.into()))),
            _ => Err(InputRefusal::new(
                "lease_seconds",
                "must be from 1 to 86400",
            )),
        }
    }
}

list_of_tasks_request! {
    /// Says that all work of a list is done.
    LoopCompleteRequest {
        /// A mark of your choice: a repeat with it changes nothing twice.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        idempotency_key: Option<String>,
    }
}

fn status(text: Option<&str>) -> Result<Option<TaskStatus>, InputRefusal> {
    optional("status", text, |text| {
        let names: Vec<_> = TaskStatus::ALL.iter().map(|it| it.as_str()).collect();
        TaskStatus::parse(text).ok_or_else(|| format!("must be among {}", names.join(", ")))
    })
}

fn priority(level: Option<u8>) -> Result<Option<TaskPriority>, InputRefusal> {
    let check = |level| {
        TaskPriority::new(level)
            .ok_or_else(|| InputRefusal::new("priority", "must be from 0, the most urgent, to 4"))
    };
    level.map(check).transpose()
}

fn references(texts: &[NumberOrId]) -> Result<Vec<Reference>, InputRefusal> {
    at_most("depends_on", texts, wh_domain::DEPENDENCIES_MAX)?;
    let read = |text: &NumberOrId| text.reference("depends_on");
    texts.iter().map(read).collect()
}

/// A task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskView {
    /// Counts the tasks of the list from 1; accepted wherever a task is named.
    pub number: u64,
    /// The last 8 digits of the task's id, accepted too.
    pub id: String,
    pub content: String,
    pub status: String,
    pub priority: u8,
    /// Ids of tasks to be done first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub depends_on: Vec<String>,
    /// Who has it: a session, or "caller" for somebody who is no agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claimed_by: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claimed_until: Option<String>,
}

impl From<&Task> for TaskView {
    fn from(task: &Task) -> Self {
        Self {
            number: task.number,
            id: task.id.short_id(),
            content: task.content.to_string(),
            status: task.status.as_str().to_owned(),
            priority: task.priority.get(),
            depends_on: task.depends_on.iter().map(ShortId::short_id).collect(),
            claimed_by: task.claim.map(|claim| match claim.holder {
                Holder::Session(session) => session.to_string(),
                Holder::Caller(_) => "caller".to_owned(),
            }),
            claimed_until: task.claim.and_then(|claim| claim.until).map(time),
        }
    }
}

impl TaskView {
    /// Shows a task among others.
    fn listed(task: &Task) -> Self {
        let mut view = Self::from(task);
        view.content = shortened(&view.content, CONTENT_CHARS_MAX);
        view
    }
}

/// Cuts a text that is too long for a list.
pub(crate) fn shortened(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Names a list for people.
fn list_name(list: &TaskList) -> String {
    match &list.of {
        ListOf::Session(session) => format!("session {}", session.short_id()),
        ListOf::Board(board) => format!("board {}", board.short_id()),
        ListOf::Loop(id) => format!("loop {}", id.short_id()),
        ListOf::Name(name) => name.to_string(),
    }
}

/// Tasks that were added.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskAddedView {
    /// What has the list.
    pub list: String,
    pub tasks: Vec<TaskView>,
}

impl TaskAddedView {
    /// Shows what was added.
    pub fn new(list: &TaskList, tasks: &[Task]) -> Self {
        Self {
            list: list_name(list),
            tasks: tasks.iter().map(TaskView::listed).collect(),
        }
    }
}

/// The tasks of a list by status.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskListView {
    /// What has the list.
    pub list: String,
    /// When somebody said that the work is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub completed_at: Option<String>,
    /// What is at work first, then what remains.
    pub groups: Vec<TaskGroupView>,
    /// How many tasks there are in all groups together.
    pub total: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// The tasks of one status.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskGroupView {
    pub status: String,
    /// Total number of results.
    pub total: u64,
    /// Those of this page, the most urgent first.
    pub tasks: Vec<TaskView>,
}

impl From<&TaskOverview> for TaskListView {
    fn from(overview: &TaskOverview) -> Self {
        let groups = overview.groups.iter().map(|group| TaskGroupView {
            status: group.status.as_str().to_owned(),
            total: group.total,
            tasks: group.tasks.iter().map(TaskView::listed).collect(),
        });
        Self {
            list: list_name(&overview.list),
            completed_at: overview.list.completed_at.map(time),
            groups: groups.collect(),
            total: overview.total,
            next_cursor: cursor_of(overview.next),
        }
    }
}

/// What there is to do next.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskNextView {
    /// Nothing when no task can be begun now.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<TaskView>,
    pub remaining: u64,
    pub in_progress: u64,
    pub blocked: u64,
    pub completed: u64,
    pub cancelled: u64,
}

impl From<&TaskNext> for TaskNextView {
    fn from(next: &TaskNext) -> Self {
        let counts = TaskStatus::ALL.into_iter().zip(next.counts);
        let count = |status| {
            let mut found = counts.clone().filter(|(it, _)| *it == status);
            found.next().map_or(0, |(_, count)| count)
        };
        Self {
            task: next.task.as_ref().map(TaskView::from),
            remaining: count(TaskStatus::Remaining),
            in_progress: count(TaskStatus::InProgress),
            blocked: count(TaskStatus::Blocked),
            completed: count(TaskStatus::Completed),
            cancelled: count(TaskStatus::Cancelled),
        }
    }
}

/// A list whose work is done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LoopCompletedView {
    /// What has the list.
    pub list: String,
    pub completed_at: Option<String>,
}

impl From<&TaskList> for LoopCompletedView {
    fn from(list: &TaskList) -> Self {
        Self {
            list: list_name(list),
            completed_at: list.completed_at.map(time),
        }
    }
}
