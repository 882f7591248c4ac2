//! Agents: what can be run in a session.

use crate::AgentName;

/// Something that can be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Agent {
    pub name: AgentName,
    pub title: String,
    /// One line for people who choose.
    pub about: String,
    pub origin: AgentOrigin,
    pub state: AgentState,
}

impl Agent {
    /// Tells whether it can be run.
    pub fn is_ready(&self) -> bool {
        matches!(self.state, AgentState::Ready { .. })
    }
}

/// Where an agent comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AgentOrigin {
    /// Part of this program.
    BuiltIn,
    /// A program that we know, installed on the machine.
    Installed,
    /// Named by the configuration.
    Configured,
}

impl AgentOrigin {
    /// Returns the origin as shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BuiltIn => "built_in",
            Self::Installed => "installed",
            Self::Configured => "configured",
        }
    }
}

/// Whether an agent can be run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AgentState {
    /// Everything it needs is there; the version, if it says one.
    Ready { version: Option<String> },
    /// Something is missing, and this is how to get it.
    Missing {
        programs: Vec<String>,
        install: Vec<String>,
    },
}
