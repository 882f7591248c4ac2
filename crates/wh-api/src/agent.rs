//! Agents.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wh_domain::{Agent, AgentCommand, AgentName, AgentState, InputRefusal, OfferedModel};

use crate::common::field;

/// Asks for every agent.
pub type AgentListRequest = crate::Empty;

/// Names an agent.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct AgentGetRequest {
    /// The agent's name, such as claude-code or echo.
    pub agent: String,
}

impl AgentGetRequest {
    /// Returns which agent is meant.
    pub fn agent(&self) -> Result<AgentName, InputRefusal> {
        field("agent", AgentName::parse(&self.agent))
    }
}

/// Something that can be run in a session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentView {
    pub name: String,
    pub title: String,
    pub about: String,
    /// built_in, installed or configured
    pub origin: String,
    /// Whether it can be run now.
    pub ready: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Programs that were not found.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<String>,
    /// How to get what is missing.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub install: Vec<String>,
    /// The models that it offered last; only told of one agent, and once a session of it was open.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub models: Vec<AgentModelView>,
}

/// A model that an agent offers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentModelView {
    /// What to give as `model`.
    pub id: String,
    pub name: String,
}

impl From<&OfferedModel> for AgentModelView {
    fn from(model: &OfferedModel) -> Self {
        Self {
            id: model.id.clone(),
            name: model.name.clone(),
        }
    }
}

/// A command that an agent takes at the beginning of a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AgentCommandView {
    /// Without the slash.
    pub name: String,
    pub about: String,
}

impl From<&AgentCommand> for AgentCommandView {
    fn from(command: &AgentCommand) -> Self {
        Self {
            name: command.name.clone(),
            about: command.about.clone(),
        }
    }
}

impl AgentView {
    /// Adds the models that it offered last.
    #[must_use]
    pub fn with_models(self, models: &[OfferedModel]) -> Self {
        Self {
            models: models.iter().map(AgentModelView::from).collect(),
            ..self
        }
    }
}

impl From<Agent> for AgentView {
    fn from(agent: Agent) -> Self {
        let (ready, version, missing, install) = match agent.state {
            AgentState::Ready { version } => (true, version, vec![], vec![]),
            AgentState::Missing { programs, install } => (false, None, programs, install),
        };
        Self {
            name: agent.name.to_string(),
            title: agent.title,
            about: agent.about,
            origin: agent.origin.as_str().to_owned(),
            ready,
            version,
            missing,
            install,
            models: Vec::new(),
        }
    }
}

/// Every agent, the built-in one first.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AgentListView {
    pub agents: Vec<AgentView>,
}
