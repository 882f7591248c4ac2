//! How the process is set up: one TOML file, overridden by `WHEELHOUSE_*` variables, overridden by flags. Every value
//! remembers where it came from, so that `wheelhouse config show` can tell.
//!
//! The variables of seed 001 (`MCP_SERVER_PORT` and kin) are understood below ours. Settings that change at run time
//! are not here; they live in the server's database.

mod agents;
mod containment;
mod file;
mod hooks;
mod load;
mod model;
mod parse;
mod paths;
mod prices;
mod repos;
mod show;
mod webhooks;

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use wh_agents::ConfiguredAgents;
use wh_domain::{LoopHooks, RepoRules, SecretText, WebhookRules};

use crate::exit::{CliError, CliResult};
pub(crate) use containment::ContainmentSetting;
pub(crate) use model::{KeyFrom, ModelSetting};
pub(crate) use parse::listen as parse_listen;
pub(crate) use paths::{Env, process_env};
pub(crate) use show::start_text;

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Source {
    Default,
    File { path: PathBuf, line: usize },
    Env(&'static str),
    Flag(&'static str),
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::File { path, line } => write!(f, "{}:{line}", path.display()),
            Self::Env(name) => write!(f, "environment variable {name}"),
            Self::Flag(name) => write!(f, "flag {name}"),
        }
    }
}

/// A value and where it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Sourced<T> {
    pub(crate) value: T,
    pub(crate) source: Source,
}

/// A word of the file that does not print.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(from = "String")]
struct SecretWord(SecretText);

impl From<String> for SecretWord {
    fn from(text: String) -> Self {
        Self(SecretText::new(text))
    }
}

/// How log lines look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LogFormat {
    Text,
    Json,
}

/// What flags say; the highest layer.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flags {
    pub(crate) config: Option<PathBuf>,
    pub(crate) data_dir: Option<PathBuf>,
    pub(crate) listen: Option<SocketAddr>,
    pub(crate) allow_remote: bool,
    pub(crate) hosts: Vec<String>,
    pub(crate) origins: Vec<String>,
    pub(crate) open: bool,
}

/// Every start-up value in force.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    /// The configuration file that is, or would be, read.
    pub(crate) file: Sourced<PathBuf>,
    pub(crate) file_exists: bool,
    pub(crate) data_dir: Sourced<PathBuf>,
    pub(crate) database: Sourced<PathBuf>,
    pub(crate) listen: Sourced<SocketAddr>,
    pub(crate) allow_remote: Sourced<bool>,
    pub(crate) hosts: Sourced<Vec<String>>,
    pub(crate) origins: Sourced<Vec<String>>,
    pub(crate) open: Sourced<bool>,
    /// The directories that every member may use.
    pub(crate) local_roots: Sourced<Vec<String>>,
    /// Whether the local socket makes the server's user its administrator.
    pub(crate) local_admin: Sourced<bool>,
    pub(crate) log_filter: Sourced<String>,
    pub(crate) log_format: Sourced<LogFormat>,
    pub(crate) tool_timeout: Sourced<Duration>,
    pub(crate) github_token: Sourced<Option<SecretText>>,
    /// The model that writes summaries.
    pub(crate) model: Sourced<Option<ModelSetting>>,
    /// What the file says about agents.
    pub(crate) agents: ConfiguredAgents,
    /// What the file says about hooks of loops.
    pub(crate) hooks: LoopHooks,
    /// What the file says about repositories.
    pub(crate) repos: RepoRules,
    /// Whether a token of a repository host stands in the file.
    pub(crate) has_host_token: bool,
    /// What the file says about webhooks.
    pub(crate) webhooks: WebhookRules,
    /// What the file says about containment.
    pub(crate) containment: ContainmentSetting,
}

impl Config {
    /// Refuses to listen beyond this machine unless that was asked for.
    pub(crate) fn check_listen(&self) -> CliResult {
        let Sourced { value, source } = &self.listen;
        if value.ip().is_loopback() || self.allow_remote.value {
            return Ok(());
        }
        let message = format!("{value} ({source}) can be reached from other machines");
        Err(CliError::usage(message).hint(
            "listen on 127.0.0.1, or add --allow-remote if that is what you want; put TLS in front and name the host with --host",
        ))
    }
}

impl Config {
    /// Refuses to use the local socket when it is turned off.
    pub(crate) fn check_local_admin(&self) -> CliResult {
        let Sourced { value, source } = &self.local_admin;
        if *value {
            return Ok(());
        }
        let message = format!("the local socket is turned off by local_admin = false ({source})");
        Err(CliError::usage(message)
            .hint("name the server with WHEELHOUSE_URL and a key of yours with WHEELHOUSE_KEY"))
    }
}

#[cfg(test)]
mod tests;
