//! What the contract's answers look like.

use serde::Serialize;
use serde_json::{Value, json};
use wh_app::{Prompted, SessionWhole, Summary, Transcript};
use wh_domain::{Approval, ApprovalKind, Message, MessageKind, Session, SessionState, TurnState};

use super::{STATUSES, Status};

/// A session in a list.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SessionView {
    id: String,
    name: String,
    repo_url: Option<String>,
    branch: Option<String>,
    status: Status,
    current_branch: Option<String>,
    created_at: String,
    updated_at: String,
    is_claude_running: bool,
}

impl From<SessionWhole> for SessionView {
    fn from(whole: SessionWhole) -> Self {
        let session = whole.session;
        Self {
            id: session.id.to_string(),
            name: session.title.to_string(),
            repo_url: whole.repo.map(|source| source.as_text()),
            branch: whole.base,
            status: status_of(&session),
            current_branch: whole.branch.map(|branch| branch.to_string()),
            created_at: session.created_at.to_string(),
            updated_at: session.updated_at.to_string(),
            is_claude_running: whole.at_work,
        }
    }
}

fn status_of(session: &Session) -> Status {
    let state = session.shown_state();
    let row = STATUSES.iter().find(|(ours, _)| *ours == state);
    match session.archived {
        true => Status::Archived,
        false => row.map_or(Status::Error, |(_, status)| *status),
    }
}

/// A session and its details.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SessionDetail {
    #[serde(flatten)]
    session: SessionView,
    /// Why it cannot go on.
    status_message: Option<String>,
    agent: String,
    last_message_sequence: u64,
}

impl From<SessionWhole> for SessionDetail {
    fn from(whole: SessionWhole) -> Self {
        let session = &whole.session;
        Self {
            status_message: match &session.state {
                SessionState::Failed { reason } => Some(reason.clone()),
                _ => None,
            },
            agent: session.agent.to_string(),
            last_message_sequence: session.last_seq,
            session: SessionView::from(whole),
        }
    }
}

/// A message as a person would read it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct MessageView {
    id: String,
    sequence: u64,
    #[serde(rename = "type")]
    speaker: &'static str,
    text: String,
    /// Tools by name; `get_message` shows what went in and came out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tool_calls: Vec<ToolCallView>,
}

#[derive(Serialize)]
pub(super) struct ToolCallView {
    id: String,
    name: String,
    description: String,
}

impl MessageView {
    fn new(message: Message) -> Self {
        let mut view = Self {
            id: message.id.to_string(),
            sequence: message.seq,
            speaker: speaker(message.kind),
            text: String::new(),
            tool_calls: Vec::new(),
        };
        match message.kind {
            MessageKind::ToolCall => view.tool_calls.push(ToolCallView::new(message)),
            _ => view.text = message.text,
        }
        view
    }
}

impl ToolCallView {
    fn new(message: Message) -> Self {
        let call = detail(message.detail.as_deref());
        Self {
            id: message.id.to_string(),
            name: tool_name(&call),
            description: message.text,
        }
    }
}

fn detail(text: Option<&str>) -> Value {
    let read = text.and_then(|text| serde_json::from_str(text).ok());
    read.unwrap_or_default()
}

/// Returns what the agent calls a tool or, if it does not say, what kind of tool it is.
fn tool_name(call: &Value) -> String {
    let name = call["name"].as_str().or(call["kind"].as_str());
    name.unwrap_or("tool").to_owned()
}

fn speaker(kind: MessageKind) -> &'static str {
    match kind {
        MessageKind::Prompt | MessageKind::Answer => "user",
        MessageKind::Agent
        | MessageKind::Thought
        | MessageKind::ToolCall
        | MessageKind::Plan
        | MessageKind::Question => "assistant",
        MessageKind::System => "system",
    }
}

/// A part of what a session said.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct MessagesView {
    session_id: String,
    status: Status,
    messages: Vec<MessageView>,
    last_message_sequence: u64,
    /// Pass it as afterMessageId to read on.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_after_message_id: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<SummaryView>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SummaryView {
    text: String,
    state: &'static str,
    message_ids: Vec<String>,
    /// extract when no model wrote it
    generated_by: String,
}

impl From<Summary> for SummaryView {
    fn from(summary: Summary) -> Self {
        Self {
            text: summary.text,
            state: summary.state,
            message_ids: summary.cited.iter().map(ToString::to_string).collect(),
            generated_by: summary.by,
        }
    }
}

impl MessagesView {
    /// Shows everything that was read, but what the agent only thought.
    pub(super) fn later(read: Transcript) -> Self {
        let shown = |message: &Message| message.kind != MessageKind::Thought;
        let messages = read.messages.into_iter().filter(shown);
        Self {
            session_id: read.session.id.to_string(),
            status: status_of(&read.session),
            messages: messages.map(MessageView::new).collect(),
            last_message_sequence: read.session.last_seq,
            next_after_message_id: read.next_after,
            summary: read.summary.map(SummaryView::from),
        }
    }

    /// Shows the latest assistant message: the words, and the tools that followed them.
    pub(super) fn latest(read: Transcript) -> Self {
        let mut view = Self::later(read);
        let mut messages = std::mem::take(&mut view.messages).into_iter();
        if let Some(mut latest) = messages.next() {
            let tools = messages.flat_map(|message| message.tool_calls);
            latest.tool_calls.extend(tools);
            view.messages.push(latest);
        }
        view
    }
}

/// A message with everything that is known of it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RawMessageView {
    id: String,
    session_id: String,
    sequence: u64,
    #[serde(rename = "type")]
    speaker: &'static str,
    kind: &'static str,
    created_at: String,
    text: String,
    /// The rest of it, such as a tool's input and output.
    content: Value,
}

impl From<Message> for RawMessageView {
    fn from(message: Message) -> Self {
        Self {
            id: message.id.to_string(),
            session_id: message.session.to_string(),
            sequence: message.seq,
            speaker: speaker(message.kind),
            kind: message.kind.as_str(),
            created_at: message.created_at.to_string(),
            content: detail(message.detail.as_deref()),
            text: message.text,
        }
    }
}

/// A session that is being made.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Created {
    session_id: String,
    status: Status,
}

impl Created {
    pub(super) fn new(session_id: String) -> Self {
        Self {
            session_id,
            status: Status::Creating,
        }
    }
}

/// What became of a prompt.
#[derive(Serialize)]
#[serde(untagged)]
pub(super) enum Sent {
    Started(Started),
    Finished(Finished),
}

/// A prompt that was taken.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Started {
    started: bool,
    start_sequence: u64,
}

impl Started {
    pub(super) fn since(start_sequence: u64) -> Self {
        Self {
            started: true,
            start_sequence,
        }
    }
}

/// A prompt that was waited for.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Finished {
    #[serde(flatten)]
    started: Started,
    completed: bool,
    /// completed, failed, cancelled, needs_input, or timeout when the agent is still at work
    outcome: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    /// What the agent said and did, as far as it is.
    messages: Vec<MessageView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    next_after_message_id: Option<u64>,
    /// What the agent asks, with the tool call that asked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    interrupted_by: Vec<AskedView>,
}

impl Finished {
    /// Shows what a prompt has come to, with everything that was said since it was sent.
    pub(super) fn new(started: Started, done: Prompted, said: Transcript) -> Self {
        let turn = done.turn;
        let of_turn = said.messages.into_iter().filter(|it| {
            it.turn == Some(turn.id)
                && !matches!(it.kind, MessageKind::Prompt | MessageKind::Thought)
        });
        let of_turn: Vec<_> = of_turn.collect();
        let asked = done.approvals.iter().filter(|it| it.turn == Some(turn.id));
        let interrupted_by: Vec<_> = asked.map(|it| AskedView::new(it, &of_turn)).collect();
        let outcome = match turn.state {
            TurnState::Completed => "completed",
            TurnState::Failed => "failed",
            TurnState::Cancelled => "cancelled",
            TurnState::Queued | TurnState::Running if interrupted_by.is_empty() => "timeout",
            TurnState::Queued | TurnState::Running => "needs_input",
        };
        Self {
            started,
            completed: turn.state == TurnState::Completed,
            outcome,
            reason: turn.reason,
            messages: of_turn.into_iter().map(MessageView::new).collect(),
            next_after_message_id: said.next_after,
            interrupted_by,
        }
    }
}

/// Something the agent waits for.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AskedView {
    approval_id: String,
    /// permission, question or plan
    kind: &'static str,
    tool_call: AskingCallView,
}

#[derive(Serialize)]
struct AskingCallView {
    /// The message of the call; get_message shows all of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    id: Option<String>,
    name: String,
    description: String,
    input: Value,
}

impl AskedView {
    /// Shows what is asked, with the tool call that the agent's request names. A request that names none is shown as a call of the tool by
    /// which that system asks.
    pub(super) fn new(approval: &Approval, of_turn: &[Message]) -> Self {
        let mut asked = detail(approval.detail.as_deref());
        let mut call = asked["call"].take();
        let id = call["id"].as_str().or(asked["tool_call"].as_str());
        let message = id.and_then(|id| message_of_call(id, of_turn));
        if let Some(message) = message.filter(|_| call.is_null()) {
            call = detail(message.detail.as_deref());
        }
        let (name, input) = match approval.kind {
            ApprovalKind::Question if call.is_null() => {
                let input = json!({ "question": approval.text });
                ("AskUserQuestion".to_owned(), input)
            }
            ApprovalKind::Plan if call["name"].is_null() => {
                ("ExitPlanMode".to_owned(), call["input"].clone())
            }
            ApprovalKind::Question | ApprovalKind::Plan | ApprovalKind::Permission => {
                (tool_name(&call), call["input"].clone())
            }
        };
        Self {
            approval_id: approval.id.to_string(),
            kind: approval.kind.as_str(),
            tool_call: AskingCallView {
                id: message.map(|message| message.id.to_string()),
                name,
                description: approval.text.clone(),
                input,
            },
        }
    }
}

/// Finds the message of a tool call.
fn message_of_call<'a>(id: &str, of_turn: &'a [Message]) -> Option<&'a Message> {
    let calls = of_turn.iter().rev();
    let mut calls = calls.filter(|message| message.kind == MessageKind::ToolCall);
    calls.find(|message| detail(message.detail.as_deref())["id"] == id)
}

/// A session that was started, stopped or put away.
#[derive(Serialize)]
pub(super) struct Managed {
    success: bool,
    session: SessionView,
}

impl Managed {
    pub(super) fn new(session: SessionView) -> Self {
        Self {
            success: true,
            session,
        }
    }
}

/// Whether there was something to interrupt.
#[derive(Serialize)]
pub(super) struct Interrupted {
    pub(super) interrupted: bool,
}

/// A session that has another name.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Renamed {
    success: bool,
    session_id: String,
    name: String,
}

impl Renamed {
    pub(super) fn of(session: &Session) -> Self {
        Self {
            success: true,
            session_id: session.id.to_string(),
            name: session.title.to_string(),
        }
    }
}
