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

    /// Returns it as those see it who are not administrators: without the command line that the configuration gives it, which may hold
    /// paths and secrets of the operator.
    #[must_use]
    pub fn without_command(self) -> Self {
        if self.origin != AgentOrigin::Configured {
            return self;
        }
        let state = match self.state {
            AgentState::Missing { .. } => AgentState::Missing {
                programs: vec!["its program".to_owned()],
                install: vec!["ask an administrator to correct its configuration".to_owned()],
            },
            ready @ AgentState::Ready { .. } => ready,
        };
        Self {
            about: "configured by an administrator".to_owned(),
            state,
            ..self
        }
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
