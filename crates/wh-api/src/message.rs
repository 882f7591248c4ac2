//! Transcripts.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use wh_domain::{
    InputRefusal, Message, MessageId, PageLimit, PageRequest, Reference, Session, ShortId,
};

use crate::NumberOrId;
use crate::common::{PageQuery, optional_reference, reference, time};

/// Which part of a transcript to return.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MessageListRequest {
    /// The session's id, or its last 8 digits.
    pub session: String,
    /// Everything after this message, by its seq or its id (0 for all); only the agent's latest words unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<NumberOrId>,
    /// words (what a person would read; the default) or full (tool input and output too).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub view: Option<String>,
    /// The server's own notes too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub include_system: Option<bool>,
    /// Also say in a few lines what the session has been doing, citing message ids.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summarize: Option<bool>,
    /// How many at most: 1 to 200, 50 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// How many bytes of text at most, 16000 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_bytes: Option<u32>,
}

/// How much of each message to show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageDepth {
    Words,
    Full,
}

impl MessageListRequest {
    /// The bytes of text returned unless the caller says otherwise, and the most it may ask for.
    const BYTES: (u32, u32) = (16_000, 1_000_000);

    /// Returns which session is meant.
    pub fn session(&self) -> Result<Reference, InputRefusal> {
        reference("session", &self.session)
    }

    /// Returns after which message to begin.
    pub fn after(&self) -> Result<Option<Reference>, InputRefusal> {
        let after = self.after.as_ref();
        after.map(|it| it.reference("after")).transpose()
    }

    /// Returns how much of each message to show.
    pub fn depth(&self) -> Result<MessageDepth, InputRefusal> {
        match self.view.as_deref() {
            None | Some("words") => Ok(MessageDepth::Words),
            Some("full") => Ok(MessageDepth::Full),
            Some(_) => Err(InputRefusal::new("view", "must be words or full")),
        }
    }

    /// Returns how many messages to return at most.
    pub fn limit(&self) -> PageLimit {
        PageLimit::clamped(self.limit)
    }

    /// Returns how many bytes of text to return at most.
    pub fn bytes_max(&self) -> usize {
        let (usual, most) = Self::BYTES;
        self.max_bytes.unwrap_or(usual).clamp(1, most) as usize
    }
}

/// Names a message.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MessageGetRequest {
    /// The message's id, or with `session` its seq.
    pub message: NumberOrId,
    /// The session whose message it is; the calling session unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

impl MessageGetRequest {
    /// Returns which message is meant.
    pub fn message(&self) -> Result<Reference, InputRefusal> {
        self.message.reference("message")
    }

    /// Returns which session a seq is of.
    pub fn session(&self) -> Result<Option<Reference>, InputRefusal> {
        optional_reference("session", self.session.as_deref())
    }
}

/// Words to look for in every transcript you may read.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionSearchRequest {
    /// Messages that hold all of these words are found; there is no search syntax.
    pub query: String,
    /// How many at most: 1 to 200, 20 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// next_cursor of the page before, or how many messages to skip.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<NumberOrId>,
}

impl SessionSearchRequest {
    /// The most bytes of a query.
    const QUERY_BYTES_MAX: usize = 2_000;

    /// Returns the words.
    pub fn words(&self) -> Result<&str, InputRefusal> {
        if self.query.trim().is_empty() || self.query.len() > Self::QUERY_BYTES_MAX {
            let problem = format!(
                "must hold a word and at most {} bytes",
                Self::QUERY_BYTES_MAX
            );
            return Err(InputRefusal::new("query", problem));
        }
        Ok(&self.query)
    }

    /// Returns which part of the list is asked for.
    pub fn page(&self) -> Result<PageRequest<u64>, InputRefusal> {
        let limit = self.limit.unwrap_or(20);
        PageQuery::new(Some(limit), self.cursor.as_ref()).by_number()
    }
}

/// One entry of a transcript.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MessageView {
    pub id: String,
    pub seq: u64,
    /// prompt, agent, thought, tool_call, plan, question, answer or system
    pub kind: String,
    pub text: String,
    pub at: String,
    /// Who sent a prompt or gave an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender: Option<String>,
    /// The session that sent it, if an agent did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender_session_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn_id: Option<String>,
    /// The approval that a question, or what became of it, belongs to, by the last 8 digits of its id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub approval: Option<String>,
    /// The rest of it, such as a tool's input and output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detail: Option<Value>,
}

impl MessageView {
    /// Shows as much of a message as is asked for.
    pub fn at_depth(message: Message, depth: MessageDepth) -> Self {
        let detail = message.detail.filter(|_| depth == MessageDepth::Full);
        // What is not JSON after all is still shown, as text.
        let detail = detail.map(|text| serde_json::from_str(&text).unwrap_or(Value::String(text)));
        let author = message.author.as_ref();
        Self {
            sender: author.map(|it| it.name.to_string()),
            sender_session_id: author.and_then(|it| it.session).map(|id| id.to_string()),
            id: message.id.to_string(),
            seq: message.seq,
            kind: message.kind.as_str().to_owned(),
            text: message.text,
            at: time(message.created_at),
            turn_id: message.turn.map(|turn| turn.to_string()),
            approval: message.approval.map(|id| id.short_id()),
            detail,
        }
    }
}

/// A part of a transcript.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct MessageListView {
    pub session: String,
    /// What the session is doing.
    pub state: String,
    pub messages: Vec<MessageView>,
    /// The number of the session's latest message.
    pub last_seq: u64,
    /// Pass it as `after` to go on; absent when nothing was left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_after: Option<u64>,
    /// What the session has been doing, if that was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<SummaryView>,
}

/// What a session has been doing, in a few lines.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SummaryView {
    pub text: String,
    /// waiting for input, working, errored or idle
    pub state: String,
    /// The messages that the text cites; message_get shows one whole.
    pub message_ids: Vec<String>,
    /// The model that wrote it; extract when none did.
    pub by: String,
    /// Why no model wrote it although one is configured, and how many messages it leaves out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

impl SummaryView {
    /// Shows a summary.
    pub fn new(
        text: String,
        state: &str,
        cited: &[MessageId],
        by: String,
        note: Option<String>,
    ) -> Self {
        Self {
            text,
            state: state.to_owned(),
            message_ids: cited.iter().map(ToString::to_string).collect(),
            by,
            note,
        }
    }
}

impl MessageListView {
    /// Shows a part of a session's transcript.
    pub fn new(
        session: &Session,
        messages: Vec<Message>,
        next_after: Option<u64>,
        summary: Option<SummaryView>,
        depth: MessageDepth,
    ) -> Self {
        let show = |message| MessageView::at_depth(message, depth);
        Self {
            session: session.id.to_string(),
            state: session.shown_state().as_str().to_owned(),
            messages: messages.into_iter().map(show).collect(),
            last_seq: session.last_seq,
            next_after,
            summary,
        }
    }
}

/// A message that holds the words.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SearchHitView {
    pub session: String,
    pub message: String,
    pub seq: u64,
    pub kind: String,
    /// A few words around the match.
    pub snippet: String,
}

impl SearchHitView {
    /// Shows where words were found.
    pub fn new(message: &Message, snippet: String) -> Self {
        Self {
            session: message.session.to_string(),
            message: message.id.to_string(),
            seq: message.seq,
            kind: message.kind.as_str().to_owned(),
            snippet,
        }
    }
}

/// Messages that hold the words, best first.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SessionSearchView {
    pub hits: Vec<SearchHitView>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// How many messages hold the words, counted up to 100000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
}
