//! The dialect of iteratr: one agent works through a list of tasks, with a fresh start each iteration.
//!
//! Answers are words, and so are refusals: `error: …`, not marked as errors, because the contract has agents read them and try
//! again. Which list is meant the contract has no words for, because there each had a server of its own: it is that of the
//! caller's session, or `?list=NAME`, `?session=ID` or `?board=ID` on the address.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::Deserialize;
use wh_api::NumberOrId;
use wh_app::{AppError, Result};
use wh_domain::{
    Dialect, IterationText, ListRef, Name, Note, NoteInput, NoteKind, NoteText, Operation,
    Reference, ShortId, Task, TaskId, TaskInput, TaskOverview, TaskPatchInput, TaskPriority,
    TaskStatus, TaskText,
};

use super::{
    Contract, shape,
    tool::{Call, DialectTool, Reply, field, largest_page, more, reference},
};

pub(super) const CONTRACT: Contract = Contract {
    dialect: Dialect::Iteratr,
    addresses: &["/mcp/iteratr"],
    token_parameter: None,
    server_name: Dialect::Iteratr.server_name(),
    server_version: None,
    instructions: "Tasks and notes of the work at hand. task-next tells what to do; set it in_progress and then completed with \
        task-update. ONE task per iteration; write iteration-summary at its end, and session-complete when nothing is left.",
    tools,
    answer: shape::plain_text,
    refusal: shape::error_words,
    unknown_tool: None,
};

/// The most characters of a task in a list.
const CONTENT_CHARS_MAX: usize = 500;

/// The most bytes of the notes of one answer; the rest is read with its cursor.
const NOTE_BYTES_MAX: usize = 64_000;

fn tools() -> Vec<DialectTool> {
    use Operation as Op;
    vec![
        DialectTool::new("task-add", Op::TaskAdd, "Add one or more tasks", task_add),
        DialectTool::new(
            "task-update",
            Op::TaskUpdate,
            "Update task status, priority, or dependencies",
            task_update,
        ),
        DialectTool::new(
            "task-list",
            Op::TaskList,
            "List all tasks grouped by status",
            task_list,
        ),
        DialectTool::new(
            "task-next",
            Op::TaskNext,
            "Get the next highest priority unblocked task",
            task_next,
        ),
        DialectTool::new("note-add", Op::NoteAdd, "Add one or more notes", note_add),
        DialectTool::new(
            "note-list",
            Op::NoteList,
            "List notes, of one type or of all",
            note_list,
        ),
        DialectTool::new(
            "iteration-summary",
            Op::IterationSummary,
            "Record a summary for the current iteration",
            iteration_summary,
        ),
        DialectTool::new(
            "session-complete",
            Op::LoopComplete,
            "Mark the session as complete, when all tasks are done",
            session_complete,
        ),
    ]
}

/// Returns which list the address means.
fn list(call: &Call) -> Result<ListRef> {
    let parameter = |name| call.text_parameter(name);
    if let Some(name) = parameter("list") {
        return Ok(ListRef::Name(field("list", Name::parse(&name))?));
    }
    if let Some(session) = parameter("session") {
        return Ok(ListRef::Session(reference("session", &session)?));
    }
    if let Some(of_loop) = parameter("loop") {
        return Ok(ListRef::Loop(reference("loop", &of_loop)?));
    }
    Ok(match parameter("board") {
        Some(board) => ListRef::Board(reference("board", &board)?),
        None => ListRef::Own,
    })
}

/// Reads a word of a closed list.
fn word<T: Copy>(name: &str, text: &str, all: &[T], as_str: fn(T) -> &'static str) -> Result<T> {
    let mut found = all.iter().filter(|it| as_str(**it) == text);
    let names = || all.iter().map(|it| as_str(*it)).collect::<Vec<_>>();
    let unknown = || format!("must be among {}", names().join(", "));
    field(name, found.next().copied().ok_or_else(unknown))
}

fn status(text: &str) -> Result<TaskStatus> {
    word("status", text, &TaskStatus::ALL, TaskStatus::as_str)
}

fn note_kind(text: &str) -> Result<NoteKind> {
    word("type", text, &NoteKind::ALL, NoteKind::as_str)
}

/// Leaves out what was given as nothing: the contract takes an empty field for one that is not there.
fn given(text: &Option<String>) -> Option<&str> {
    text.as_deref().map(str::trim).filter(|it| !it.is_empty())
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TaskAdd {
    tasks: Vec<NewTask>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewTask {
    content: String,
    /// remaining, in_progress, completed, blocked or cancelled
    #[serde(default)]
    status: Option<String>,
}

async fn task_add(call: Call, request: TaskAdd) -> Result<Reply<String>> {
    let read = |task: &NewTask| {
        Ok(TaskInput {
            content: field("content", TaskText::parse(&task.content))?,
            status: given(&task.status).map_or(Ok(TaskStatus::Remaining), status)?,
            priority: TaskPriority::default(),
            depends_on: Vec::new(),
        })
    };
    let tasks: Result<Vec<_>> = request.tasks.iter().map(read).collect();
    let list = list(&call)?;
    let (_, added) = call.app.task_add(&call.cx, &list, tasks?).await?;
    let numbers = call.app.task_numbers(&added).await?;
    let lines: Vec<_> = added.iter().map(|it| line(it, &numbers)).collect();
    Ok(format!("added {}\n{}", count(added.len(), "task"), lines.join("\n")).into())
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TaskUpdate {
    /// The task's number or id
    id: NumberOrId,
    /// remaining, in_progress, completed, blocked or cancelled
    #[serde(default)]
    status: Option<String>,
    /// 0 critical to 4 backlog
    #[serde(default)]
    priority: Option<f64>,
    /// Tasks to be done first, separated by commas
    #[serde(default)]
    depends_on: Option<NumberOrId>,
}

async fn task_update(call: Call, request: TaskUpdate) -> Result<Reply<String>> {
    let on = request.depends_on.as_ref().map(NumberOrId::as_str);
    let on = on.filter(|it| !it.trim().is_empty()).map(|text| {
        let parts = text.split(',').map(|part| reference("depends_on", part));
        parts.collect::<Result<Vec<Reference>>>()
    });
    let patch = TaskPatchInput {
        content: None,
        status: given(&request.status).map(status).transpose()?,
        priority: request.priority.map(priority).transpose()?,
        depends_on: on.transpose()?,
    };
    let (list, task) = (list(&call)?, request.id.reference("id")?);
    let task = call.app.task_update(&call.cx, &list, &task, patch).await?;
    let numbers = call.app.task_numbers(std::slice::from_ref(&task)).await?;
    Ok(format!("updated {}", line(&task, &numbers)).into())
}

/// Reads a priority, which is any number in the contract.
fn priority(level: f64) -> Result<TaskPriority> {
    let whole = (0..=TaskPriority::LEAST.get()).find(|it| f64::from(*it) == level);
    let wrong = "must be a whole number from 0, the most urgent, to 4";
    field("priority", whole.and_then(TaskPriority::new).ok_or(wrong))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Nothing {}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct TaskListing {
    /// What a list said to pass for more
    #[serde(default)]
    cursor: Option<NumberOrId>,
}

async fn task_list(call: Call, request: TaskListing) -> Result<Reply<String>> {
    let list = list(&call)?;
    let page = largest_page(request.cursor.as_ref()).by_number_or_id()?;
    let overview = call.app.task_list(&call.cx, &list, None, page).await?;
    let tasks: Vec<_> = overview
        .groups
        .iter()
        .flat_map(|it| it.tasks.clone())
        .collect();
    let numbers = call.app.task_numbers(&tasks).await?;
    Ok(listed(&overview, &numbers).into())
}

/// Shows a list by status.
fn listed(overview: &TaskOverview, numbers: &HashMap<TaskId, u64>) -> String {
    let mut parts = Vec::new();
    for group in &overview.groups {
        parts.push(format!("{} ({}):", group.status.as_str(), group.total));
        parts.extend(
            group
                .tasks
                .iter()
                .map(|it| format!("- {}", line(it, numbers))),
        );
    }
    let shown = overview.groups.iter().map(|group| group.tasks.len()).sum();
    parts.extend(more(shown, Some(overview.total), overview.next));
    match parts.is_empty() {
        true => "no tasks".to_owned(),
        false => parts.join("\n"),
    }
}

/// Shows a task in a line.
fn line(task: &Task, numbers: &HashMap<TaskId, u64>) -> String {
    let name = |id: &TaskId| match numbers.get(id) {
        Some(number) => number.to_string(),
        None => id.short_id(),
    };
    let on: Vec<_> = task.depends_on.iter().map(name).collect();
    let on = match on.is_empty() {
        true => String::new(),
        false => format!(" (depends on {})", on.join(", ")),
    };
    let (number, level) = (task.number, task.priority.get());
    let content = shortened(task.content.as_str());
    format!(
        "{number} [{}, priority {level}] {content}{on}",
        task.status.as_str()
    )
}

fn shortened(text: &str) -> String {
    match text.char_indices().nth(CONTENT_CHARS_MAX) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

fn count(count: usize, what: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{count} {what}{plural}")
}

async fn task_next(call: Call, _request: Nothing) -> Result<Reply<String>> {
    let list = list(&call)?;
    let next = call.app.task_next(&call.cx, &list, false, None).await?;
    let counts = TaskStatus::ALL.into_iter().zip(next.counts);
    let open: u64 = counts
        .filter(|(it, _)| !it.is_settled())
        .map(|(_, n)| n)
        .sum();
    Ok(match &next.task {
        Some(task) => {
            let (number, level) = (task.number, task.priority.get());
            let status = task.status.as_str();
            format!("{number} [{status}, priority {level}] {}", task.content)
        }
        None if open == 0 => "no tasks are left; call session-complete".to_owned(),
        None => format!("no task can be begun now: {open} wait for others or are at work"),
    }
    .into())
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NoteAdd {
    notes: Vec<NewNote>,
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NewNote {
    content: String,
    /// learning, stuck, tip or decision
    #[serde(rename = "type")]
    kind: String,
}

async fn note_add(call: Call, request: NoteAdd) -> Result<Reply<String>> {
    let read = |note: &NewNote| {
        Ok::<_, AppError>(NoteInput {
            kind: note_kind(&note.kind)?,
            content: field("content", NoteText::parse(&note.content))?,
        })
    };
    let notes: Result<Vec<_>> = request.notes.iter().map(read).collect();
    let list = list(&call)?;
    let notes = call.app.note_add(&call.cx, &list, notes?).await?;
    Ok(format!("added {}", count(notes.len(), "note")).into())
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct NoteList {
    /// learning, stuck, tip or decision
    #[serde(default, rename = "type")]
    kind: Option<String>,
    /// What a list said to pass for more
    #[serde(default)]
    cursor: Option<NumberOrId>,
}

async fn note_list(call: Call, request: NoteList) -> Result<Reply<String>> {
    let kind = given(&request.kind).map(note_kind).transpose()?;
    let list = list(&call)?;
    let page = largest_page(request.cursor.as_ref()).by_id()?;
    let notes = call.app.note_list(&call.cx, &list, kind, page).await?;
    let notes = notes.notes_within(NOTE_BYTES_MAX);
    let line = |note: &Note| format!("- [{}] {}", note.kind.as_str(), note.content);
    let mut lines: Vec<_> = notes.items.iter().map(line).collect();
    lines.extend(more(lines.len(), notes.total, notes.next));
    Ok(match lines.is_empty() {
        true => "no notes".to_owned(),
        false => lines.join("\n"),
    }
    .into())
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct IterationSummary {
    summary: String,
}

async fn iteration_summary(call: Call, request: IterationSummary) -> Result<Reply<String>> {
    let summary = field("summary", IterationText::parse(&request.summary))?;
    let list = list(&call)?;
    let iteration = call
        .app
        .iteration_summary(&call.cx, &list, &summary)
        .await?;
    Ok(format!("recorded the summary of iteration {}", iteration.number).into())
}

async fn session_complete(call: Call, _request: Nothing) -> Result<Reply<String>> {
    call.app.loop_complete(&call.cx, &list(&call)?).await?;
    Ok("the session is complete".to_owned().into())
}
