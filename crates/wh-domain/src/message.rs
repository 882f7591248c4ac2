//! Messages: the entries of a transcript.

use jiff::Timestamp;

use crate::{MessageId, SessionId, TurnId};

/// One entry of a transcript.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Message {
    pub id: MessageId,
    pub session: SessionId,
    /// Its number within the session, from 1, without gaps.
    pub seq: u64,
    pub turn: Option<TurnId>,
    pub kind: MessageKind,
    /// What a person reads, and what full-text search finds.
    pub text: String,
    /// The rest of it, as JSON.
    pub detail: Option<String>,
    pub created_at: Timestamp,
}

/// A message that has no number yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewMessage {
    pub id: MessageId,
    pub turn: Option<TurnId>,
    pub kind: MessageKind,
    pub text: String,
    pub detail: Option<String>,
    pub created_at: Timestamp,
}

/// Who speaks, or what is reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MessageKind {
    /// A prompt.
    Prompt,
    /// Words of the agent.
    Agent,
    /// What the agent thought aloud.
    Thought,
    /// A tool the agent used, and what came of it.
    ToolCall,
    /// A plan the agent laid.
    Plan,
    /// A note of ours: started, stopped, resumed, refused.
    System,
}

impl MessageKind {
    /// Every kind.
    pub const ALL: [Self; 6] = [
        Self::Prompt,
        Self::Agent,
        Self::Thought,
        Self::ToolCall,
        Self::Plan,
        Self::System,
    ];

    /// Returns the kind as stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Prompt => "prompt",
            Self::Agent => "agent",
            Self::Thought => "thought",
            Self::ToolCall => "tool_call",
            Self::Plan => "plan",
            Self::System => "system",
        }
    }

    /// Reads a kind back from its text.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}
