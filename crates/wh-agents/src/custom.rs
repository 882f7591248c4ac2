//! What the configuration says about agents: any program that speaks ACP on its standard streams, and what is added to the agents
//! there are profiles for.

use std::collections::BTreeMap;

use wh_domain::{AgentName, SecretText, Tier};

/// An agent from the configuration file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CustomAgent {
    pub name: AgentName,
    pub title: Option<String>,
    /// The program and its arguments.
    pub command: Vec<String>,
    /// Variables it is started with; they may hold credentials.
    pub environment: BTreeMap<String, SecretText>,
    /// The file of its directory that it reads; there it is told which session it is.
    pub context_file: Option<String>,
    /// Files below the home directory in which it keeps its login; it changes the user's own.
    pub login_files: Vec<String>,
    /// The least containment that its sessions need.
    pub tier: Option<Tier>,
}

/// Everything the configuration says about agents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfiguredAgents {
    pub custom: Vec<CustomAgent>,
    /// Variables for agents there are profiles for, by the profile's name. They win over the profile's own.
    pub environments: BTreeMap<AgentName, BTreeMap<String, SecretText>>,
    /// The least containment that sessions of agents there are profiles for need.
    pub tiers: BTreeMap<AgentName, Tier>,
}
