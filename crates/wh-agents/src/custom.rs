//! What the configuration says about agents: any program that speaks ACP on its standard streams, and what is added to the agents
//! there are profiles for.

use std::collections::BTreeMap;

use wh_domain::{AgentName, ImageRef, McpDialect, PriceRule, ProjectConfig, SecretText, Tier};

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
    /// The option that selects the model at startup, such as `--model`.
    pub model_flag: Option<String>,
    /// Files below the home directory in which it keeps its login; it changes the user's own.
    pub login_files: Vec<String>,
    /// Settings files below the home directory, without credentials.
    pub config_files: Vec<String>,
    /// Model gateway settings for the tier `strict`.
    pub model: Option<ModelSettings>,
    /// The files and directories of its directory from which it reads what it runs or is permitted.
    pub project_config: Vec<ProjectConfig>,
    /// The least containment that its sessions need.
    pub tier: Option<Tier>,
    /// The image that its sessions in the tier `container` run in.
    pub image: Option<ImageRef>,
    /// The tools that it is given in sessions whose repository names none.
    pub mcp_dialect: Option<McpDialect>,
}

/// Model gateway settings from the configuration file. Missing fields default to the agent's profile.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelSettings {
    /// Upstream URL.
    pub url: Option<String>,
    /// The port of 127.0.0.1 on which the agent expects its model.
    pub port: Option<u16>,
    /// The variable that holds the key.
    pub key: Option<String>,
    /// The header in which the key is sent, and what stands before the key in it.
    pub header: Option<String>,
    pub prefix: Option<String>,
}

/// Everything the configuration says about agents.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConfiguredAgents {
    pub custom: Vec<CustomAgent>,
    /// Variables for agents there are profiles for, by the profile's name. They win over the profile's own.
    pub environments: BTreeMap<AgentName, BTreeMap<String, SecretText>>,
    /// The least containment that sessions of agents there are profiles for need.
    pub tiers: BTreeMap<AgentName, Tier>,
    /// The images that sessions of built-in profiles run in, in the tier `container`.
    pub images: BTreeMap<AgentName, ImageRef>,
    /// The tools that agents there are profiles for are given.
    pub mcp_dialects: BTreeMap<AgentName, McpDialect>,
    /// Model gateway settings of built-in profiles, by profile name.
    pub models: BTreeMap<AgentName, ModelSettings>,
    /// Prices that win over those that are shipped.
    pub prices: Vec<PriceRule>,
}
