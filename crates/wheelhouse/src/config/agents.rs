//! Agents in the configuration file: `[agents.NAME]`.
//!
//! A name that there is a profile for takes `env` alone, which is added to the profile's; any other name is a new agent and needs
//! a `command`.

use std::{
    collections::BTreeMap,
    path::{Component, Path},
};

use serde::Deserialize;
use toml::Spanned;
use wh_agents::{ConfiguredAgents, CustomAgent, PROFILES};
use wh_domain::{AgentName, SecretText, Tier};

/// One `[agents.NAME]` table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileAgent {
    title: Option<String>,
    command: Option<Vec<String>>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    context_file: Option<String>,
    #[serde(default)]
    login_files: Vec<String>,
    tier: Option<String>,
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
    if PROFILES.iter().any(|profile| profile.name == name) {
        if agent.command.is_some()
            || agent.title.is_some()
            || agent.context_file.is_some()
            || !agent.login_files.is_empty()
        {
            return Err(format!(
                "the agent {name:?} is known already: set only `env` and `tier` for it, or choose another name"
            ));
        }
        configured
            .tiers
            .extend(tier.map(|tier| (parsed.clone(), tier)));
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
    if !agent.login_files.iter().all(|path| is_below_home(path)) {
        return Err(format!(
            "`login_files` of the agent {name:?} must be paths below the home directory, such as .agent/auth.json"
        ));
    }
    configured.custom.push(CustomAgent {
        name: parsed,
        title: agent.title.clone(),
        command,
        environment,
        context_file: agent.context_file.clone(),
        login_files: agent.login_files.clone(),
        tier,
    });
    Ok(())
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
