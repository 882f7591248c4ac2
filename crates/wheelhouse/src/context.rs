//! What every command works with: how to talk, how it is set up, and whom to call.

use wh_client::Client;

use crate::cli::GlobalArgs;
use crate::config::{Config, Flags, process_env};
use crate::exit::{CliError, CliResult};
use crate::ui::Ui;

/// The process's surroundings.
#[derive(Debug)]
pub(crate) struct Context {
    pub(crate) ui: Ui,
    globals: GlobalArgs,
}

impl Context {
    pub(crate) fn new(globals: GlobalArgs) -> Self {
        Self {
            ui: Ui::new(globals.json, globals.quiet, globals.no_color),
            globals,
        }
    }

    /// Reads the configuration.
    pub(crate) fn config(&self) -> CliResult<Config> {
        self.config_with(Flags::default())
    }

    /// Reads the configuration under a command's own flags.
    pub(crate) fn config_with(&self, flags: Flags) -> CliResult<Config> {
        let flags = Flags {
            config: self.globals.config.clone(),
            data_dir: self.globals.data_dir.clone(),
            ..flags
        };
        Config::load(flags, &process_env)
    }

    /// Returns the address of a remote server, if one was named.
    pub(crate) fn url(&self) -> Option<String> {
        let named = self
            .globals
            .url
            .clone()
            .or_else(|| process_env("WHEELHOUSE_URL"));
        named.filter(|url| !url.is_empty())
    }

    /// Connects to the server that was named, or to the one of the data directory.
    pub(crate) fn client(&self) -> CliResult<Client> {
        let key = self
            .globals
            .key
            .clone()
            .or_else(|| process_env("WHEELHOUSE_KEY"));
        let key = key.filter(|key| !key.is_empty());
        match self.url() {
            Some(url) => Ok(Client::remote(&url, key.as_deref())?),
            None if self.globals.key.is_some() => Err(CliError::usage("--key needs --url")
                .hint("on this machine no key is needed; elsewhere name the server with --url")),
            None => {
                let config = self.config()?;
                config.check_local_admin()?;
                Ok(Client::local(&config.data_dir.value)?)
            }
        }
    }
}
