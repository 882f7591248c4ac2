//! Runs: the lives of a session's process.

use jiff::Timestamp;

use crate::{EffectiveTier, KeyId, SessionId};

/// One life of a session's process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    pub session: SessionId,
    /// Counts the lives; a write from an older one is refused.
    pub epoch: u64,
    /// The token the agent was given; it dies with the run.
    pub key: KeyId,
    /// The number of the last entry of the run's journal that is stored.
    pub journal_seq: u64,
    /// The agent's own name for the conversation, once it is open.
    pub conversation: Option<String>,
    pub abilities: Abilities,
    pub tools: ToolsLink,
    /// How far its processes are contained; absent for runs of versions that did not record it.
    pub tier: Option<EffectiveTier>,
    pub started_at: Timestamp,
    pub ready_at: Option<Timestamp>,
    pub ended_at: Option<Timestamp>,
    /// How it ended, in words.
    pub ending: Option<String>,
}

/// A run as people look at it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunEntry {
    pub run: Run,
    /// Whether it took up a conversation of an earlier run.
    pub resumed: bool,
    /// The agent's way of working, as it said itself when the conversation began or later; nothing when it never said.
    pub mode: Option<String>,
    /// The last that the agent's program wrote to its stderr.
    pub stderr: Option<String>,
}

impl RunEntry {
    /// The most bytes of stderr that are kept of a run, the last ones.
    pub const STDERR_BYTES_MAX: usize = 16 << 10;
    /// The most bytes of the name of a mode that are kept.
    pub const MODE_BYTES_MAX: usize = 100;
}

/// What an agent says it can do.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Abilities {
    /// Take a conversation up again by replaying it.
    pub load: bool,
    /// Take a conversation up again without a replay.
    pub resume: bool,
}

/// Whether the agent has reached our tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum ToolsLink {
    /// Not yet, and nothing is wrong with that.
    #[default]
    Unused,
    /// It has called us with its token.
    Connected,
    /// It should have called us and has not.
    Broken,
}

impl ToolsLink {
    /// Every state.
    pub const ALL: [Self; 3] = [Self::Unused, Self::Connected, Self::Broken];

    /// Returns the state as stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Unused => "unused",
            Self::Connected => "connected",
            Self::Broken => "broken",
        }
    }

    /// Reads a state back from its text.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == text)
    }
}

/// A conversation that an earlier run left with the agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conversation {
    /// The agent's own name for it.
    pub name: String,
    pub abilities: Abilities,
    /// When it was opened.
    pub since: Timestamp,
    /// Whether the agent was ever prompted in it: agents keep nothing of a conversation in which nothing was said.
    pub is_used: bool,
}
