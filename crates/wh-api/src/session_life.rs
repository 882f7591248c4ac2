//! Sessions under way: prompted, waited for, managed.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wh_domain::{
    Approval, InputRefusal, Prompt, PromptFile, Reference, RequestedTerms, Session, SessionAction,
    ShortId, Turn, WaitFor, WaitedSession, WhenBusy,
};

use crate::{
    ApprovalView, NumberOrId, PromptFileInput, SessionTermsView, TurnView,
    common::{at_most, field, optional, reference},
    turn::turn_of,
};

/// The most sessions of one wait.
const WAIT_SESSIONS_MAX: usize = 50;

/// Returns how long to wait, if at all.
pub(crate) fn wait_of(seconds: Option<u32>) -> Option<Duration> {
    let seconds = seconds.filter(|seconds| *seconds > 0)?;
    Some(Duration::from_secs(u64::from(seconds)))
}

/// A prompt for a session.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionPromptRequest {
    /// The session's id, or its last 8 digits.
    pub session: String,
    pub prompt: String,
    /// Files: at most 8, and 8 MiB together.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<PromptFileInput>,
    /// If it is at work: queue (unless given) waits, steer ends the running turn first, reject refuses.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub when_busy: Option<String>,
    /// Seconds to wait for the end of the turn or a question: 0 (default) to 300.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<u32>,
    /// A repeat with the same key prompts nothing twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
}

impl SessionPromptRequest {
    /// Returns which session is meant.
    pub fn session(&self) -> Result<Reference, InputRefusal> {
        reference("session", &self.session)
    }

    /// Returns the prompt.
    pub fn prompt(&self) -> Result<Prompt, InputRefusal> {
        field("prompt", Prompt::parse(&self.prompt))
    }

    /// Returns what comes with it.
    pub fn files(&self) -> Result<Vec<PromptFile>, InputRefusal> {
        PromptFileInput::read_all(&self.files)
    }

    /// Returns what to do when the session is at work.
    pub fn when_busy(&self) -> Result<WhenBusy, InputRefusal> {
        let given = optional("when_busy", self.when_busy.as_deref(), WhenBusy::parse)?;
        Ok(given.unwrap_or(WhenBusy::Queue))
    }

    /// Returns how long to wait.
    pub fn wait(&self) -> Option<Duration> {
        wait_of(self.wait)
    }
}

/// What a prompt has come to so far.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct PromptedView {
    /// The session's id.
    pub session: String,
    /// The session's state.
    pub state: String,
    pub turn: TurnView,
    /// The agent's latest words in this turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub words: Option<String>,
    /// What the agent waits for; answer with approval_answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub approvals: Vec<ApprovalView>,
    /// What applies to a session that was just spawned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub terms: Option<SessionTermsView>,
}

impl PromptedView {
    /// Shows what a prompt has come to.
    pub fn new(session: &Session, turn: &Turn, words: Option<String>, waits: &[Approval]) -> Self {
        Self {
            session: session.id.to_string(),
            state: session.shown_state().as_str().to_owned(),
            turn: TurnView::from(turn),
            words,
            approvals: waits.iter().map(ApprovalView::from).collect(),
            terms: None,
        }
    }

    /// Adds what applies to a session that was just spawned.
    #[must_use]
    pub fn with_terms(self, session: &Session, requested: &RequestedTerms) -> Self {
        Self {
            terms: Some(SessionTermsView::new(session, requested)),
            ..self
        }
    }
}

/// Sessions to wait for.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionWaitRequest {
    /// Ids, or their last 8 digits.
    pub sessions: Vec<String>,
    /// all (unless given) or any of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait_for: Option<String>,
    /// Seconds at most: 1 to 300, 60 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<u32>,
}

impl SessionWaitRequest {
    /// Returns which sessions are meant.
    pub fn sessions(&self) -> Result<Vec<Reference>, InputRefusal> {
        at_most("sessions", &self.sessions, WAIT_SESSIONS_MAX)?;
        let read = |text: &String| reference("sessions", text);
        self.sessions.iter().map(read).collect()
    }

    /// Returns how many of them must be done.
    pub fn wait_for(&self) -> Result<WaitFor, InputRefusal> {
        let given = optional("wait_for", self.wait_for.as_deref(), WaitFor::parse)?;
        Ok(given.unwrap_or(WaitFor::All))
    }

    /// Returns how long to wait at most.
    pub fn timeout(&self) -> Duration {
        Duration::from_secs(u64::from(self.timeout.unwrap_or(60).clamp(1, 300)))
    }
}

/// What a wait came to.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SessionWaitView {
    /// Whether what was waited for came true in time.
    pub done: bool,
    pub sessions: Vec<WaitedSessionView>,
}

/// A session that was waited for.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct WaitedSessionView {
    /// The last 8 digits of its id.
    pub id: String,
    pub title: String,
    pub state: String,
    /// At rest, ended, or in need of an answer.
    pub done: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_words: Option<String>,
}

impl SessionWaitView {
    /// Shows what a wait came to.
    pub fn new(sessions: &[WaitedSession], wait_for: WaitFor) -> Self {
        let view = |session: &WaitedSession| WaitedSessionView {
            id: session.id.short_id(),
            title: session.title.clone(),
            state: session.state.as_str().to_owned(),
            done: session.done,
            last_words: session.last_words.clone(),
        };
        Self {
            done: wait_for.is_met(sessions, 0),
            sessions: sessions.iter().map(view).collect(),
        }
    }
}

/// Names a session whose turn is to end.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionInterruptRequest {
    /// The session's id, or its last 8 digits.
    pub session: String,
    /// The number or id of the turn to cancel, such as a queued prompt; the running turn unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turn: Option<NumberOrId>,
    /// A mark of your choice: a repeat with it changes nothing twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
}

impl SessionInterruptRequest {
    /// Returns which session is meant.
    pub fn session(&self) -> Result<Reference, InputRefusal> {
        reference("session", &self.session)
    }

    /// Returns which turn is meant, if it is a certain one.
    pub fn turn(&self) -> Result<Option<Reference>, InputRefusal> {
        turn_of(self.turn.as_ref())
    }
}

/// What to do with a session.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct SessionManageRequest {
    /// The session's id, or its last 8 digits.
    pub session: String,
    /// start, stop, archive, restore or delete.
    pub action: String,
    /// A mark of your choice: a repeat with it changes nothing twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
}

impl SessionManageRequest {
    /// Returns which session is meant.
    pub fn session(&self) -> Result<Reference, InputRefusal> {
        reference("session", &self.session)
    }

    /// Returns what to do with it.
    pub fn action(&self) -> Result<SessionAction, InputRefusal> {
        field("action", SessionAction::parse(&self.action))
    }
}
