//! Agents that the configuration names: any program that speaks ACP on its standard streams.

use std::collections::BTreeMap;

use wh_domain::{AgentName, SecretText};

/// An agent from the configuration file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CustomAgent {
    pub name: AgentName,
    pub title: Option<String>,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Variables it is started with; they may hold credentials.
    pub environment: BTreeMap<String, SecretText>,
}
