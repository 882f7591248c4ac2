//! Agents in the configuration file: `[agents.NAME]`.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;
use wh_agents::{CustomAgent, PROFILES};
use wh_domain::{AgentName, SecretText};

/// One `[agents.NAME]` table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileAgent {
    title: Option<String>,
    command: Vec<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
}

/// Reads every table, or says which is wrong and why.
pub(super) fn read(
    agents: &BTreeMap<String, Spanned<FileAgent>>,
) -> Result<Vec<CustomAgent>, (&Spanned<FileAgent>, String)> {
    let read = |(name, spanned): (&String, _)| {
        let spanned: &Spanned<FileAgent> = spanned;
        custom(name, spanned.get_ref()).map_err(|why| (spanned, why))
    };
    agents.iter().map(read).collect()
}

fn custom(name: &str, agent: &FileAgent) -> Result<CustomAgent, String> {
    let parsed = AgentName::parse(name).map_err(|error| error.to_string())?;
    if PROFILES.iter().any(|profile| profile.name == name) {
        return Err(format!(
            "the agent {name:?} is known already; choose another name"
        ));
    }
    if agent
        .command
        .first()
        .is_none_or(|program| program.is_empty())
    {
        return Err(format!(
            "the agent {name:?} needs a `command`: the program and its arguments"
        ));
    }
    let secret = |(key, value): (&String, &String)| (key.clone(), SecretText::new(value.clone()));
    Ok(CustomAgent {
        name: parsed,
        title: agent.title.clone(),
        command: agent.command.clone(),
        environment: agent.env.iter().map(secret).collect(),
    })
}
