//! Turns.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wh_domain::{InputRefusal, Reference, ShortId, Turn, redact};

use crate::NumberOrId;
use crate::common::{is_zero, optional_reference, reference, time};

/// Which turns to list.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TurnListRequest {
    /// The session's id, or its last 8 digits.
    pub session: String,
    /// How many at most: 1 to 200, 50 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// next_cursor of the page before, or a turn by its number or id: the turns before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<NumberOrId>,
}

impl TurnListRequest {
    /// Returns which session is meant.
    pub fn session(&self) -> Result<Reference, InputRefusal> {
        reference("session", &self.session)
    }

    /// Returns which part of the list is asked for.
    pub fn page(&self) -> crate::PageQuery {
        crate::PageQuery::new(self.limit, self.cursor.as_ref())
    }
}

/// Reads a turn that may be named by its number or its id.
pub(crate) fn turn_of(turn: Option<&NumberOrId>) -> Result<Option<Reference>, InputRefusal> {
    turn.map(|turn| turn.reference("turn")).transpose()
}

/// Names a turn.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TurnGetRequest {
    /// The turn's id, its last 8 digits, or with `session` its number.
    pub turn: NumberOrId,
    /// The session whose turn it is; the calling session unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
}

impl TurnGetRequest {
    /// Returns which turn is meant.
    pub fn turn(&self) -> Result<Reference, InputRefusal> {
        self.turn.reference("turn")
    }

    /// Returns which session the number of a turn is of.
    pub fn session(&self) -> Result<Option<Reference>, InputRefusal> {
        optional_reference("session", self.session.as_deref())
    }
}

/// A turn: one prompt and what came of it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TurnView {
    /// The last 8 digits of the turn's id, accepted wherever an id is.
    pub id: String,
    /// Counts the session's turns from 1.
    pub number: u64,
    /// queued, running, completed, cancelled or failed
    pub state: String,
    /// Whether it interrupts the running turn and goes before other queued prompts.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub urgent: bool,
    /// Why it did not end well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub tokens_used: u64,
    pub cost_micros: u64,
    /// How much of the cost is an estimate.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub estimated_micros: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit_before: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit_after: Option<String>,
    pub created_at: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub finished_at: Option<String>,
}

impl From<&Turn> for TurnView {
    fn from(turn: &Turn) -> Self {
        Self {
            id: turn.id.short_id(),
            number: turn.number,
            state: turn.state.as_str().to_owned(),
            urgent: turn.urgent,
            reason: turn.reason.clone(),
            tokens_used: turn.usage.tokens(),
            cost_micros: turn.usage.cost_micros,
            estimated_micros: turn.usage.estimated_micros,
            commit_before: turn.commit_before.clone(),
            commit_after: turn.commit_after.clone(),
            created_at: time(turn.created_at),
            finished_at: turn.finished_at.map(time),
        }
    }
}

/// A turn with its prompt and all it used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TurnDetailView {
    #[serde(flatten)]
    pub turn: TurnView,
    /// The session's id.
    pub session: String,
    pub prompt: String,
    /// Who sent it.
    pub sender_user_id: String,
    /// The session that sent it, if an agent did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sender_session_id: Option<String>,
    pub input_tokens: u64,
    pub cached_tokens: u64,
    pub output_tokens: u64,
    pub wall_seconds: u64,
}

impl From<&Turn> for TurnDetailView {
    fn from(turn: &Turn) -> Self {
        Self {
            turn: TurnView::from(turn),
            session: turn.session.to_string(),
            // The agent got it to the letter; whoever reads it now need not.
            prompt: redact(&turn.prompt).into_owned(),
            sender_user_id: turn.sender.user.to_string(),
            sender_session_id: turn.sender.session.map(|id| id.to_string()),
            input_tokens: turn.usage.input_tokens,
            cached_tokens: turn.usage.cached_tokens,
            output_tokens: turn.usage.output_tokens,
            wall_seconds: turn.usage.wall_seconds,
        }
    }
}

/// Some turns of a session, latest first.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct TurnListView {
    pub turns: Vec<TurnView>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// Total number of results, counted up to 100000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
}
