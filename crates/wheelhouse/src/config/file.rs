//! The configuration file.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use toml::Spanned;
use wh_agents::ConfiguredAgents;
use wh_domain::{LoopHooks, RepoRules, WebhookRules};

use super::agents::{self, FileAgent};
use super::containment::{ContainmentSetting, FileContainment};
use super::hooks::{self, FileLoops};
use super::model::{self, FileModel, ModelSetting};
use super::prices::{self, FilePrice};
use super::repos::FileRepos;
use super::webhooks::FileWebhooks;
use super::{Env, Source, Sourced, paths};
use crate::exit::{CliError, CliResult};

/// The most bytes of a configuration file; a larger one is not one.
const FILE_BYTES_MAX: u64 = 1024 * 1024;

/// What may stand in the file. Anything else is an error that names its line.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileValues {
    pub(super) data_dir: Option<Spanned<String>>,
    pub(super) database: Option<Spanned<String>>,
    pub(super) listen: Option<Spanned<String>>,
    pub(super) allow_remote: Option<Spanned<bool>>,
    pub(super) hosts: Option<Spanned<Vec<String>>>,
    pub(super) origins: Option<Spanned<Vec<String>>>,
    pub(super) open: Option<Spanned<bool>>,
    pub(super) local_roots: Option<Spanned<Vec<String>>>,
    pub(super) local_admin: Option<Spanned<bool>>,
    pub(super) log_filter: Option<Spanned<String>>,
    pub(super) log_format: Option<Spanned<String>>,
    pub(super) tool_timeout: Option<Spanned<String>>,
    pub(super) github_token: Option<Spanned<String>>,
    pub(super) model: Option<Spanned<FileModel>>,
    #[serde(default)]
    pub(super) agents: BTreeMap<String, Spanned<FileAgent>>,
    #[serde(default)]
    pub(super) prices: BTreeMap<String, FilePrice>,
    #[serde(default)]
    pub(super) webhooks: FileWebhooks,
    #[serde(default)]
    pub(super) repos: FileRepos,
    #[serde(default)]
    pub(super) loops: FileLoops,
    #[serde(default)]
    pub(super) containment: FileContainment,
}

/// A file as read; absent unless somebody named it is like empty.
#[derive(Debug)]
pub(super) struct File {
    path: PathBuf,
    text: String,
    values: FileValues,
    pub(super) exists: bool,
}

impl File {
    pub(super) fn read(at: &Sourced<PathBuf>) -> CliResult<Self> {
        let path = at.value.clone();
        let text = match read_bounded(&path) {
            Ok(text) => Some(text),
            Err(error)
                if error.kind() == std::io::ErrorKind::NotFound && at.source == Source::Default =>
            {
                None
            }
            Err(error) => {
                let message = format!(
                    "cannot read the configuration file {}: {error}",
                    path.display()
                );
                let hint = format!("it was named by the {}", at.source);
                return Err(CliError::usage(message).hint(hint));
            }
        };
        let exists = text.is_some();
        let text = text.unwrap_or_default();
        let values = toml::from_str(&text).map_err(|error| {
            let line = error.span().map_or(1, |span| line_of(&text, span.start));
            // A parser's message may go on for lines; the first says it.
            let why = error
                .message()
                .lines()
                .next()
                .unwrap_or_default()
                .to_owned();
            CliError::usage(format!("{}:{line}: {why}", path.display()))
                .hint("correct the file, or name another one with --config")
        })?;
        Ok(Self {
            path,
            text,
            values,
            exists,
        })
    }

    /// Returns a value that needs no reading.
    pub(super) fn plain<T: Clone>(
        &self,
        field: impl Fn(&FileValues) -> &Option<Spanned<T>>,
    ) -> Option<Sourced<T>> {
        let spanned = field(&self.values).as_ref()?;
        Some(Sourced {
            value: spanned.get_ref().clone(),
            source: self.source(spanned),
        })
    }

    /// Returns a value that is read from its text.
    pub(super) fn parsed<T>(
        &self,
        field: impl Fn(&FileValues) -> &Option<Spanned<String>>,
        parse: impl Fn(&str) -> Result<T, String>,
    ) -> CliResult<Option<Sourced<T>>> {
        let Some(spanned) = field(&self.values) else {
            return Ok(None);
        };
        let source = self.source(spanned);
        let value = parse(spanned.get_ref())
            .map_err(|why| CliError::usage(format!("{source}: the value {why}")))?;
        Ok(Some(Sourced { value, source }))
    }

    /// Returns what it says about agents and the prices of their models.
    pub(super) fn agents(&self) -> CliResult<ConfiguredAgents> {
        let mut configured = agents::read(&self.values.agents).map_err(|(spanned, why)| {
            CliError::usage(format!("{}: {why}", self.source(spanned)))
        })?;
        configured.prices = prices::read(&self.values.prices)
            .map_err(|why| CliError::usage(format!("{}: {why}", self.path.display())))?;
        Ok(configured)
    }

    /// Returns the model it names.
    pub(super) fn model(&self, env: Env<'_>) -> CliResult<Sourced<Option<ModelSetting>>> {
        let Some(spanned) = &self.values.model else {
            let (value, source) = (None, Source::Default);
            return Ok(Sourced { value, source });
        };
        let source = self.source(spanned);
        let value = model::read(spanned.get_ref(), env)
            .map_err(|why| CliError::usage(format!("{source}: {why}")))?;
        Ok(Sourced {
            value: Some(value),
            source,
        })
    }

    /// Returns what it says about hooks of loops.
    pub(super) fn hooks(&self, env: Env<'_>) -> CliResult<LoopHooks> {
        hooks::read(&self.values.loops, env).map_err(|(spanned, why)| match spanned {
            Some(spanned) => CliError::usage(format!("{}: {why}", self.source(spanned))),
            None => CliError::usage(format!("{}: {why}", self.path.display())),
        })
    }

    /// Returns what it says about containment.
    pub(super) fn containment(&self) -> CliResult<ContainmentSetting> {
        self.values.containment.setting(&self.path)
    }

    /// Returns what it says about repositories.
    pub(super) fn repos(&self, env: Env<'_>) -> CliResult<RepoRules> {
        let rules = self.values.repos.rules(&self.path, env);
        rules.map_err(|why| CliError::usage(format!("{}: {why}", self.path.display())))
    }

    /// Tells whether a token of a repository host stands in the file.
    pub(super) fn has_host_token(&self) -> bool {
        self.values.repos.has_token()
    }

    /// Returns what it says about webhooks.
    pub(super) fn webhooks(&self) -> WebhookRules {
        self.values.webhooks.rules()
    }

    /// Returns a path, which begins beside the file unless it is absolute.
    pub(super) fn path(
        &self,
        field: impl Fn(&FileValues) -> &Option<Spanned<String>>,
    ) -> CliResult<Option<Sourced<PathBuf>>> {
        let Some(sourced) = self.plain(field) else {
            return Ok(None);
        };
        Ok(Some(Sourced {
            value: paths::beside(&self.path, &sourced.value)?,
            source: sourced.source,
        }))
    }

    fn source<T>(&self, spanned: &Spanned<T>) -> Source {
        Source::File {
            path: self.path.clone(),
            line: line_of(&self.text, spanned.span().start),
        }
    }
}

fn read_bounded(path: &Path) -> std::io::Result<String> {
    if std::fs::metadata(path)?.len() > FILE_BYTES_MAX {
        return Err(std::io::Error::other("it is larger than 1 MiB"));
    }
    std::fs::read_to_string(path)
}

fn line_of(text: &str, offset: usize) -> usize {
    let before = &text.as_bytes()[..offset.min(text.len())];
    1 + before.iter().filter(|byte| **byte == b'\n').count()
}
