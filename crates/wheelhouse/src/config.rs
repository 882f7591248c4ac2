//! How the process is set up: one TOML file, overridden by `WHEELHOUSE_*` variables, overridden by flags. Every value
//! remembers where it came from, so that `wheelhouse config show` can tell.
//!
//! The variables of seed 001 (`MCP_SERVER_PORT` and kin) are understood below ours. Settings that change at run time
//! are not here; they live in the server's database.

mod file;
mod parse;
mod paths;
mod show;

use std::fmt;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use wh_domain::SecretText;

use crate::exit::{CliError, CliResult};
use file::File;
pub(crate) use paths::{Env, process_env};
pub(crate) use show::StartValue;

const PORT: u16 = 4180;
const TOOL_TIMEOUT: Duration = Duration::from_secs(60);
const LOG_FILTER: &str = "info";

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
    pub(crate) log_filter: Sourced<String>,
    pub(crate) log_format: Sourced<LogFormat>,
    pub(crate) tool_timeout: Sourced<Duration>,
    pub(crate) github_token: Sourced<Option<SecretText>>,
}

impl Config {
    /// Reads all layers.
    pub(crate) fn load(flags: Flags, env: Env<'_>) -> CliResult<Self> {
        let file_at = paths::config_file(flags.config, env)?;
        let file = File::read(&file_at)?;
        let layers = Layers { env };
        let data_dir = layers.pick(
            flag(
                flags.data_dir.map(paths::absolute).transpose()?,
                "--data-dir",
            ),
            &[("WHEELHOUSE_DATA_DIR", parse::path)],
            file.path(|f| &f.data_dir)?,
            || paths::data_dir(env),
        )?;
        let database_default = data_dir.value.join("wheelhouse.db");
        let some_list = |list: Vec<String>| (!list.is_empty()).then_some(list);
        Ok(Self {
            file_exists: file.exists,
            database: layers.pick(
                None,
                &[
                    ("WHEELHOUSE_DATABASE", parse::path),
                    ("MCP_DATABASE_PATH", parse::path),
                ],
                file.path(|f| &f.database)?,
                || Ok(database_default),
            )?,
            data_dir,
            listen: layers.pick(
                flag(flags.listen, "--listen"),
                &[
                    ("WHEELHOUSE_LISTEN", parse::listen),
                    ("MCP_SERVER_PORT", parse::loopback_port),
                ],
                file.parsed(|f| &f.listen, parse::listen)?,
                || Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, PORT))),
            )?,
            allow_remote: layers.pick(
                flag(flags.allow_remote.then_some(true), "--allow-remote"),
                &[("WHEELHOUSE_ALLOW_REMOTE", parse::switch)],
                file.plain(|f| &f.allow_remote),
                || Ok(false),
            )?,
            hosts: layers.pick(
                flag(some_list(flags.hosts), "--host"),
                &[("WHEELHOUSE_HOSTS", parse::list)],
                file.plain(|f| &f.hosts),
                || Ok(Vec::new()),
            )?,
            origins: layers.pick(
                flag(some_list(flags.origins), "--origin"),
                &[("WHEELHOUSE_ORIGINS", parse::list)],
                file.plain(|f| &f.origins),
                || Ok(Vec::new()),
            )?,
            open: layers.pick(
                flag(flags.open.then_some(true), "--open"),
                &[("WHEELHOUSE_OPEN", parse::switch)],
                file.plain(|f| &f.open),
                || Ok(false),
            )?,
            log_filter: layers.pick(
                None,
                &[
                    ("WHEELHOUSE_LOG", parse::log_filter),
                    ("MCP_LOG_LEVEL", parse::log_level),
                ],
                file.parsed(|f| &f.log_filter, parse::log_filter)?,
                || Ok(LOG_FILTER.to_owned()),
            )?,
            log_format: layers.pick(
                None,
                &[("WHEELHOUSE_LOG_FORMAT", parse::log_format)],
                file.parsed(|f| &f.log_format, parse::log_format)?,
                || Ok(LogFormat::Text),
            )?,
            tool_timeout: layers.pick(
                None,
                &[
                    ("WHEELHOUSE_TOOL_TIMEOUT", parse::duration),
                    ("MCP_TOOL_TIMEOUT", parse::milliseconds),
                ],
                file.parsed(|f| &f.tool_timeout, parse::duration)?,
                || Ok(TOOL_TIMEOUT),
            )?,
            github_token: layers.pick(
                None,
                &[
                    ("WHEELHOUSE_GITHUB_TOKEN", parse::secret),
                    ("GITHUB_TOKEN", parse::secret),
                ],
                file.parsed(|f| &f.github_token, parse::secret)?,
                || Ok(None),
            )?,
            file: file_at,
        })
    }

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

/// What lies above the file.
struct Layers<'a> {
    env: Env<'a>,
}

type ParseVariable<T> = fn(&str) -> Result<T, String>;

impl Layers<'_> {
    /// Returns the value of the highest layer that has one. An empty variable counts as unset.
    fn pick<T>(
        &self,
        flag: Option<Sourced<T>>,
        variables: &[(&'static str, ParseVariable<T>)],
        file: Option<Sourced<T>>,
        default: impl FnOnce() -> CliResult<T>,
    ) -> CliResult<Sourced<T>> {
        if let Some(sourced) = flag {
            return Ok(sourced);
        }
        for (name, parse) in variables {
            let Some(text) = (self.env)(name).filter(|text| !text.is_empty()) else {
                continue;
            };
            let value = parse(&text).map_err(|why| {
                CliError::usage(format!("the environment variable {name} {why}"))
                    .hint("change it or unset it")
            })?;
            let source = Source::Env(name);
            return Ok(Sourced { value, source });
        }
        match file {
            Some(sourced) => Ok(sourced),
            None => Ok(Sourced {
                value: default()?,
                source: Source::Default,
            }),
        }
    }
}

fn flag<T>(value: Option<T>, name: &'static str) -> Option<Sourced<T>> {
    value.map(|value| Sourced {
        value,
        source: Source::Flag(name),
    })
}

#[cfg(test)]
mod tests;
