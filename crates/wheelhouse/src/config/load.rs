//! Reading all layers: what each value is called in each of them, and what it is when nobody says.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::time::Duration;

use wh_domain::{
    ConfiguredCredential, ConfiguredToken, CredentialUse, GitHost, HostRules, RepoRules, SecretText,
};

use super::file::File;
use super::{Config, Env, Flags, LogFormat, Source, Sourced, parse, paths};
use crate::exit::{CliError, CliResult};

const PORT: u16 = 4180;
/// Longer than the longest wait a caller may ask for.
const TOOL_TIMEOUT: Duration = Duration::from_secs(330);
const LOG_FILTER: &str = "info";

impl Config {
    /// Reads all layers.
    pub(crate) fn load(flags: Flags, env: Env<'_>) -> CliResult<Self> {
        let file_at = paths::config_file(flags.config.clone(), env)?;
        let file = File::read(&file_at)?;
        let layers = Layers { flags, env, file };
        let data_dir = layers.data_dir()?;
        let github_token = layers.github_token()?;
        Ok(Self {
            file: file_at,
            file_exists: layers.file.exists,
            database: layers.database(&data_dir.value)?,
            data_dir,
            listen: layers.listen()?,
            allow_remote: layers.allow_remote()?,
            hosts: layers.hosts()?,
            origins: layers.origins()?,
            open: layers.open()?,
            local_roots: layers.local_roots()?,
            local_admin: layers.local_admin()?,
            log_filter: layers.log_filter()?,
            log_format: layers.log_format()?,
            tool_timeout: layers.tool_timeout()?,
            model: layers.file.model(env)?,
            agents: layers.file.agents()?,
            repos: with_github_token(layers.file.repos(env)?, github_token.value.as_ref()),
            has_host_token: layers.file.has_host_token(),
            github_token,
            webhooks: layers.file.webhooks(),
            containment: layers.file.containment()?,
            hooks: layers.file.hooks(env)?,
        })
    }
}

/// Everything a value may come from.
struct Layers<'a> {
    flags: Flags,
    env: Env<'a>,
    file: File,
}

/// One variable and how it is read.
type Variable<T> = (&'static str, fn(&str) -> Result<T, String>);

impl Layers<'_> {
    fn data_dir(&self) -> CliResult<Sourced<PathBuf>> {
        let named = self.flags.data_dir.clone().map(paths::absolute);
        self.pick(
            flag("--data-dir", named.transpose()?),
            &[("WHEELHOUSE_DATA_DIR", parse::path)],
            self.file.path(|f| &f.data_dir)?,
            || paths::data_dir(self.env),
        )
    }

    fn database(&self, data_dir: &std::path::Path) -> CliResult<Sourced<PathBuf>> {
        let variables: &[Variable<_>] = &[
            ("WHEELHOUSE_DATABASE", parse::path),
            ("MCP_DATABASE_PATH", parse::path),
        ];
        let file = self.file.path(|f| &f.database)?;
        self.pick(None, variables, file, || Ok(data_dir.join("wheelhouse.db")))
    }

    fn listen(&self) -> CliResult<Sourced<SocketAddr>> {
        let variables: &[Variable<_>] = &[
            ("WHEELHOUSE_LISTEN", parse::listen),
            ("MCP_SERVER_PORT", parse::loopback_port),
        ];
        self.pick(
            flag("--listen", self.flags.listen),
            variables,
            self.file.parsed(|f| &f.listen, parse::listen)?,
            || Ok(SocketAddr::from((Ipv4Addr::LOCALHOST, PORT))),
        )
    }

    fn allow_remote(&self) -> CliResult<Sourced<bool>> {
        self.pick(
            flag("--allow-remote", self.flags.allow_remote.then_some(true)),
            &[("WHEELHOUSE_ALLOW_REMOTE", parse::switch)],
            self.file.plain(|f| &f.allow_remote),
            || Ok(false),
        )
    }

    fn hosts(&self) -> CliResult<Sourced<Vec<String>>> {
        self.pick(
            flag("--host", non_empty(&self.flags.hosts)),
            &[("WHEELHOUSE_HOSTS", parse::list)],
            self.file.plain(|f| &f.hosts),
            || Ok(Vec::new()),
        )
    }

    fn origins(&self) -> CliResult<Sourced<Vec<String>>> {
        self.pick(
            flag("--origin", non_empty(&self.flags.origins)),
            &[("WHEELHOUSE_ORIGINS", parse::list)],
            self.file.plain(|f| &f.origins),
            || Ok(Vec::new()),
        )
    }

    fn open(&self) -> CliResult<Sourced<bool>> {
        self.pick(
            flag("--open", self.flags.open.then_some(true)),
            &[("WHEELHOUSE_OPEN", parse::switch)],
            self.file.plain(|f| &f.open),
            || Ok(false),
        )
    }

    fn local_roots(&self) -> CliResult<Sourced<Vec<String>>> {
        let roots = self.pick(
            None,
            &[("WHEELHOUSE_LOCAL_ROOTS", parse::list)],
            self.file.plain(|f| &f.local_roots),
            || Ok(Vec::new()),
        )?;
        match roots.value.iter().find(|root| !root.starts_with('/')) {
            None => Ok(roots),
            Some(root) => {
                let message = format!("{}: local_roots names {root:?}", roots.source);
                Err(CliError::usage(message).hint("name each directory by its absolute path"))
            }
        }
    }

    fn local_admin(&self) -> CliResult<Sourced<bool>> {
        self.pick(
            None,
            &[("WHEELHOUSE_LOCAL_ADMIN", parse::switch)],
            self.file.plain(|f| &f.local_admin),
            || Ok(true),
        )
    }

    fn log_filter(&self) -> CliResult<Sourced<String>> {
        let variables: &[Variable<_>] = &[
            ("WHEELHOUSE_LOG", parse::log_filter),
            ("MCP_LOG_LEVEL", parse::log_level),
        ];
        let file = self.file.parsed(|f| &f.log_filter, parse::log_filter)?;
        self.pick(None, variables, file, || Ok(LOG_FILTER.to_owned()))
    }

    fn log_format(&self) -> CliResult<Sourced<LogFormat>> {
        let variables: &[Variable<_>] = &[("WHEELHOUSE_LOG_FORMAT", parse::log_format)];
        let file = self.file.parsed(|f| &f.log_format, parse::log_format)?;
        self.pick(None, variables, file, || Ok(LogFormat::Text))
    }

    fn tool_timeout(&self) -> CliResult<Sourced<Duration>> {
        let variables: &[Variable<_>] = &[
            ("WHEELHOUSE_TOOL_TIMEOUT", parse::duration),
            ("MCP_TOOL_TIMEOUT", parse::milliseconds),
        ];
        let file = self.file.parsed(|f| &f.tool_timeout, parse::duration)?;
        self.pick(None, variables, file, || Ok(TOOL_TIMEOUT))
    }

    fn github_token(&self) -> CliResult<Sourced<Option<SecretText>>> {
        let variables: &[Variable<_>] = &[
            ("WHEELHOUSE_GITHUB_TOKEN", parse::secret),
            ("GITHUB_TOKEN", parse::secret),
        ];
        let file = self.file.parsed(|f| &f.github_token, parse::secret)?;
        self.pick(None, variables, file, || Ok(None))
    }

    /// Returns the value of the highest layer that has one. An empty variable counts as unset.
    fn pick<T>(
        &self,
        flag: Option<Sourced<T>>,
        variables: &[Variable<T>],
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

/// Makes the GitHub token the credential of github.com for administrators, unless the file says another.
fn with_github_token(mut rules: RepoRules, token: Option<&SecretText>) -> RepoRules {
    let (Some(token), Ok(host)) = (token, GitHost::parse("github.com")) else {
        return rules;
    };
    let credential = ConfiguredCredential {
        username: None,
        token: ConfiguredToken::Text(token.clone()),
        usable_by: CredentialUse::Admins,
    };
    match rules.hosts.iter_mut().find(|it| it.host == host) {
        Some(named) => {
            named.credential.get_or_insert(credential);
        }
        None => rules.hosts.push(HostRules {
            host,
            ca_file: None,
            credential: Some(credential),
        }),
    }
    rules
}

fn flag<T>(name: &'static str, value: Option<T>) -> Option<Sourced<T>> {
    value.map(|value| Sourced {
        value,
        source: Source::Flag(name),
    })
}

fn non_empty(list: &[String]) -> Option<Vec<String>> {
    (!list.is_empty()).then(|| list.to_vec())
}
