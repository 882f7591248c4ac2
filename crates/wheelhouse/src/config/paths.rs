//! Where things are on this machine.

use std::path::{Path, PathBuf};

use super::{Source, Sourced};
use crate::exit::{CliError, CliResult};

/// Looks a variable up.
pub(crate) type Env<'a> = &'a dyn Fn(&str) -> Option<String>;

/// Looks a variable of this process up. One that is not text counts as unset.
pub(crate) fn process_env(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

/// Returns the configuration file: named, or in the XDG configuration directory.
pub(super) fn config_file(flag: Option<PathBuf>, env: Env<'_>) -> CliResult<Sourced<PathBuf>> {
    if let Some(path) = flag {
        return Ok(Sourced {
            value: absolute(path)?,
            source: Source::Flag("--config"),
        });
    }
    if let Some(path) = env("WHEELHOUSE_CONFIG").filter(|text| !text.is_empty()) {
        return Ok(Sourced {
            value: absolute(path.into())?,
            source: Source::Env("WHEELHOUSE_CONFIG"),
        });
    }
    let directory = xdg(env, "XDG_CONFIG_HOME", ".config")?;
    Ok(Sourced {
        value: directory.join("wheelhouse/wheelhouse.toml"),
        source: Source::Default,
    })
}

/// Returns the data directory unless somebody names one.
pub(super) fn data_dir(env: Env<'_>) -> CliResult<PathBuf> {
    Ok(xdg(env, "XDG_DATA_HOME", ".local/share")?.join("wheelhouse"))
}

/// Makes a path absolute, from where we are.
pub(super) fn absolute(path: PathBuf) -> CliResult<PathBuf> {
    std::path::absolute(&path).map_err(|error| {
        CliError::usage(format!(
            "{:?} cannot be used as a path: {error}",
            path.display()
        ))
    })
}

/// Makes a path of a file's text absolute: `~/` is the home directory, other paths begin beside the file.
pub(super) fn beside(file: &Path, text: &str) -> CliResult<PathBuf> {
    if let Some(rest) = text.strip_prefix("~/") {
        return Ok(home(&process_env)?.join(rest));
    }
    let folder = file.parent().unwrap_or(Path::new("/"));
    absolute(folder.join(text))
}

fn xdg(env: Env<'_>, variable: &str, below_home: &str) -> CliResult<PathBuf> {
    // The specification says to ignore relative paths.
    let named = env(variable).map(PathBuf::from).filter(|p| p.is_absolute());
    match named {
        Some(path) => Ok(path),
        None => Ok(home(env)?.join(below_home)),
    }
}

fn home(env: Env<'_>) -> CliResult<PathBuf> {
    let home = env("HOME").map(PathBuf::from).filter(|p| p.is_absolute());
    home.ok_or_else(|| {
        CliError::usage("there is no home directory: HOME is not set")
            .hint("set HOME, or name the places with --data-dir and --config")
    })
}
