//! Messages: the entries of a transcript.

use jiff::Timestamp;

use crate::{ApprovalId, MessageId, SessionId, TurnId, UserName};

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
    /// Who sent a prompt or gave an answer.
    pub author: Option<Author>,
    /// What a question, or what became of it, belongs to.
    pub approval: Option<ApprovalId>,
    pub created_at: Timestamp,
}

/// Who sent a prompt or settled an approval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Author {
    pub name: UserName,
    /// The session whose token was used.
    pub session: Option<SessionId>,
}

/// A message that has no number yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewMessage {
    pub id: MessageId,
    pub turn: Option<TurnId>,
    pub kind: MessageKind,
    pub text: String,
    pub detail: Option<String>,
    /// What a question, or what became of it, belongs to.
    pub approval: Option<ApprovalId>,
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
    /// What the agent asked somebody, to be answered in words.
    Question,
    /// The words it was answered with.
    Answer,
    /// A note of ours: started, stopped, resumed, refused.
    System,
}

impl MessageKind {
    /// Every kind.
    pub const ALL: [Self; 8] = [
        Self::Prompt,
        Self::Agent,
        Self::Thought,
        Self::ToolCall,
        Self::Plan,
        Self::Question,
        Self::Answer,
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
            Self::Question => "question",
            Self::Answer => "answer",
            Self::System => "system",
        }
    }

    /// Reads a kind back from its text.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// The most bytes of an earlier conversation that an agent is told.
const CONTEXT_BYTES_MAX: usize = 60_000;

/// Returns a conversation in words, for an agent that was not there: what was asked and said, and what was done by name. When
/// it is long, its latest part.
pub fn conversation_text(messages: &[Message]) -> String {
    let mut parts = Vec::new();
    let mut bytes = 0;
    for message in messages.iter().rev() {
        let who = match message.kind {
            MessageKind::Prompt | MessageKind::Answer => "User",
            MessageKind::Agent | MessageKind::Question => "Assistant",
            MessageKind::ToolCall => "Tool",
            MessageKind::Thought | MessageKind::Plan | MessageKind::System => continue,
        };
        let text = match message.kind {
            MessageKind::ToolCall => message.text.lines().next().unwrap_or_default(),
            _ => message.text.trim(),
        };
        bytes += text.len();
        if bytes > CONTEXT_BYTES_MAX {
            parts.push("[…]".to_owned());
            break;
        }
        parts.push(format!("{who}: {text}"));
    }
    parts.reverse();
    format!(
        "You go on with an earlier conversation, of which you have no memory. This is what was said:\n\n         <conversation>\n{}\n</conversation>\n\nGo on from there with this:\n\n",
        parts.join("\n\n")
    )
}
