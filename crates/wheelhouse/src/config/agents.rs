//! Agents in the configuration file: `[agents.NAME]`.
//!
//! A name that there is a profile for takes `env`, `tier`, `image`, `mcp_dialect` and `model`; any other name is a new agent and needs a `command`.

use std::{
    collections::BTreeMap,
    path::{Component, Path},
};

use serde::Deserialize;
use toml::Spanned;
use wh_agents::{ConfiguredAgents, CustomAgent, ModelSettings, PROFILES};
use wh_domain::{
    AgentName, CONFIG_PATHS_MAX, ImageRef, McpDialect, ProjectConfig, SecretText, Tier,
};

/// Ports below are for root alone, also in an agent's own network.
const PORT_MIN: u16 = 1024;

/// One `[agents.NAME]` table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileAgent {
    title: Option<String>,
    command: Option<Vec<String>>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    context_file: Option<String>,
    model_flag: Option<String>,
    #[serde(default)]
    login_files: Vec<String>,
    #[serde(default)]
    config_files: Vec<String>,
    #[serde(default)]
    project_config: Vec<String>,
    tier: Option<String>,
    image: Option<String>,
    mcp_dialect: Option<String>,
    model: Option<FileAgentModel>,
}

/// How an agent's model is reached in the tier `strict`: `[agents.NAME.model]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct FileAgentModel {
    /// Upstream URL.
    url: Option<String>,
    /// The port of 127.0.0.1 on which the agent expects its model.
    port: Option<u16>,
    /// The variable of `env` that holds the key.
    key: Option<String>,
    /// The header in which the key is sent, and what stands before it.
    header: Option<String>,
    prefix: Option<String>,
}

/// Reads every table, or says which is wrong and why.
pub(super) fn read(
    agents: &BTreeMap<String, Spanned<FileAgent>>,
) -> Result<ConfiguredAgents, (&Spanned<FileAgent>, String)> {
    let mut configured = ConfiguredAgents::default();
    for (name, spanned) in agents {
        add(&mut configured, name, spanned.get_ref()).map_err(|why| (spanned, why))?;
    }
    Ok(configured)
}

fn add(configured: &mut ConfiguredAgents, name: &str, agent: &FileAgent) -> Result<(), String> {
    let parsed = AgentName::parse(name).map_err(|error| error.to_string())?;
    let environment = environment(name, &agent.env)?;
    let tier = agent.tier.as_deref().map(Tier::parse).transpose();
    let tier = tier.map_err(|why| format!("`tier` of the agent {name:?} {why}"))?;
    let image = agent.image.as_deref().map(ImageRef::parse).transpose();
    let image = image.map_err(|why| format!("`image` of the agent {name:?} {why}"))?;
    let dialect = agent
        .mcp_dialect
        .as_deref()
        .map(McpDialect::parse)
        .transpose();
    let dialect = dialect.map_err(|why| format!("`mcp_dialect` of the agent {name:?} {why}"))?;
    let model = agent.model.as_ref().map(|model| read_model(name, model));
    let model = model.transpose()?;
    if PROFILES.iter().any(|profile| profile.name == name) {
        if agent.command.is_some()
            || agent.title.is_some()
            || agent.context_file.is_some()
            || agent.model_flag.is_some()
            || !agent.login_files.is_empty()
            || !agent.config_files.is_empty()
            || !agent.project_config.is_empty()
        {
            return Err(format!(
                "the agent {name:?} is known already: set only `env`, `tier`, `image`, `mcp_dialect` and `model` for it, or choose another name"
            ));
        }
        configured
            .tiers
            .extend(tier.map(|tier| (parsed.clone(), tier)));
        configured
            .images
            .extend(image.map(|image| (parsed.clone(), image)));
        configured
            .mcp_dialects
            .extend(dialect.map(|dialect| (parsed.clone(), dialect)));
        configured
            .models
            .extend(model.map(|model| (parsed.clone(), model)));
        configured.environments.insert(parsed, environment);
        return Ok(());
    }
    let command = agent.command.clone().unwrap_or_default();
    if command.first().is_none_or(|program| program.is_empty()) {
        return Err(format!(
            "the agent {name:?} needs a `command`: the program and its arguments"
        ));
    }
    if !agent.context_file.as_deref().is_none_or(is_file_name) {
        return Err(format!(
            "`context_file` of the agent {name:?} must be the name of a file in its directory, such as AGENT.local.md"
        ));
    }
    if !agent.model_flag.as_deref().is_none_or(is_flag) {
        return Err(format!(
            "`model_flag` of the agent {name:?} must be an argument that begins with a hyphen, such as --model"
        ));
    }
    for (field, paths) in [
        ("login_files", &agent.login_files),
        ("config_files", &agent.config_files),
    ] {
        if !paths.iter().all(|path| is_below_home(path)) {
            return Err(format!(
                "`{field}` of the agent {name:?} must be paths below the home directory, such as .agent/auth.json"
            ));
        }
    }
    let project_config = agent.project_config.iter().map(|path| {
        ProjectConfig::parse(path)
            .map_err(|why| format!("`project_config` of the agent {name:?}: {path:?} {why}"))
    });
    let project_config: Vec<_> = project_config.collect::<Result<_, _>>()?;
    if project_config.len() > CONFIG_PATHS_MAX {
        return Err(format!(
            "`project_config` of the agent {name:?} holds at most {CONFIG_PATHS_MAX} entries"
        ));
    }
    configured.custom.push(CustomAgent {
        name: parsed,
        title: agent.title.clone(),
        command,
        environment,
        context_file: agent.context_file.clone(),
        model_flag: agent.model_flag.clone(),
        login_files: agent.login_files.clone(),
        config_files: agent.config_files.clone(),
        model,
        project_config,
        tier,
        image,
        mcp_dialect: dialect,
    });
    Ok(())
}

fn is_flag(text: &str) -> bool {
    text.len() > 1 && text.starts_with('-') && !text.contains(char::is_whitespace)
}

fn read_model(agent: &str, model: &FileAgentModel) -> Result<ModelSettings, String> {
    let is_address = |url: &String| {
        let host = url
            .strip_prefix("https://")
            .or_else(|| url.strip_prefix("http://"));
        host.is_some_and(|host| !host.is_empty() && !host.starts_with('/'))
    };
    if !model.url.as_ref().is_none_or(is_address) {
        return Err(format!(
            "`model.url` of the agent {agent:?} must be an http or https address, such as https://models.example.com"
        ));
    }
    if model.port.is_some_and(|port| port < PORT_MIN) {
        return Err(format!(
            "`model.port` of the agent {agent:?} must be {PORT_MIN} or higher"
        ));
    }
    let is_token = |text: &String| {
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
        !text.is_empty() && text.chars().all(plain)
    };
    if !model.header.as_ref().is_none_or(is_token) {
        return Err(format!(
            "`model.header` of the agent {agent:?} must be the name of a header, such as x-api-key"
        ));
    }
    Ok(ModelSettings {
        url: model.url.clone(),
        port: model.port,
        key: model.key.clone(),
        header: model.header.clone(),
        prefix: model.prefix.clone(),
    })
}

/// Tells whether this is a relative path that stays below where it starts.
fn is_below_home(path: &str) -> bool {
    let plain = |part| matches!(part, Component::Normal(_));
    !path.is_empty() && Path::new(path).components().all(plain)
}

/// Tells whether this is a plain name, of which git takes no part for a pattern.
fn is_file_name(name: &str) -> bool {
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    name.len() <= 100
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.chars().all(plain)
}

/// Checks the variables: one that cannot be set would only be noticed when the agent is started.
fn environment(
    agent: &str,
    variables: &BTreeMap<String, String>,
) -> Result<BTreeMap<String, SecretText>, String> {
    let is_name = |name: &str| !name.is_empty() && !name.contains(['=', '\0']);
    for (name, value) in variables {
        if !is_name(name) || value.contains('\0') {
            return Err(format!(
                "the agent {agent:?} cannot be given the variable {name:?}"
            ));
        }
    }
    let secret = |(name, value): (&String, &String)| (name.clone(), SecretText::new(value.clone()));
    Ok(variables.iter().map(secret).collect())
}
