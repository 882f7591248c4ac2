//! Turns: one prompt and all that came of it.

use jiff::Timestamp;

use crate::{FileAbout, PromptFile, SessionId, TurnId, Usage, UserId};

/// One prompt and all that came of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    pub id: TurnId,
    pub session: SessionId,
    /// Counts the turns of a session from 1.
    pub number: u64,
    pub prompt: String,
    /// What came with the prompt.
    pub files: Vec<FileAbout>,
    pub sender: Sender,
    pub state: TurnState,
    /// Goes before other prompts that wait.
    pub urgent: bool,
    /// Somebody asked for it to end early.
    pub cancel_requested: bool,
    /// Why it did not end well.
    pub reason: Option<String>,
    pub commit_before: Option<String>,
    pub commit_after: Option<String>,
    pub usage: Usage,
    pub created_at: Timestamp,
    pub finished_at: Option<Timestamp>,
}

/// A prompt that waits for its session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewTurn {
    pub id: TurnId,
    pub session: SessionId,
    pub prompt: String,
    pub files: Vec<PromptFile>,
    pub sender: Sender,
    pub urgent: bool,
    pub created_at: Timestamp,
}

/// Who sends a prompt or settles an approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sender {
    pub user: UserId,
    /// The session whose token was used.
    pub session: Option<SessionId>,
}

/// How far a turn has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TurnState {
    /// Waits for the session to be free.
    Queued,
    Running,
    Completed,
    Cancelled,
    Failed,
}

impl TurnState {
    /// Every state.
    pub const ALL: [Self; 5] = [
        Self::Queued,
        Self::Running,
        Self::Completed,
        Self::Cancelled,
        Self::Failed,
    ];

    /// Returns the state as stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Running => "running",
            Self::Completed => "completed",
            Self::Cancelled => "cancelled",
            Self::Failed => "failed",
        }
    }

    /// Reads a state back from its text.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == text)
    }

    /// Tells whether nothing can follow.
    pub fn is_end(self) -> bool {
        !matches!(self, Self::Queued | Self::Running)
    }
}
