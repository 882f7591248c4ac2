//! Writing MCP clients' configuration files: which file, which shape, and changing nothing else in it.

mod clients;
mod json;
mod toml;

use std::fs;
use std::io::ErrorKind;
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use crate::exit::{CliError, CliResult};

pub(crate) use clients::{ClientName, Level, file_of, key_in};

/// What the entry is called in every client.
const NAME: &str = "wheelhouse";
/// The most copies that are kept beside a file.
const BACKUPS_MAX: usize = 100;

/// How a client reaches the server.
#[derive(Clone, Debug)]
pub(crate) enum Entry {
    /// It starts this command and speaks on its stdio.
    Stdio { command: Vec<String> },
    /// It calls this address with this key.
    Http { url: String, key: String },
}

/// A change to one file.
#[derive(Debug)]
pub(crate) struct Plan {
    pub(crate) file: PathBuf,
    before: Option<String>,
    /// What the file will be.
    pub(crate) text: String,
}

/// Works out what a client's file must become.
pub(crate) fn plan(client: ClientName, file: PathBuf, entry: &Entry) -> CliResult<Plan> {
    let before = read(&file)?;
    let text = clients::with_entry(client, before.as_deref().unwrap_or_default(), entry);
    let text = text.map_err(|why| {
        CliError::usage(format!("{} cannot be changed: {why}", file.display())).hint(
            "correct the file, or add the entry yourself: see it with --print and another HOME",
        )
    })?;
    Ok(Plan { file, before, text })
}

impl Plan {
    /// Tells whether anything changes.
    pub(crate) fn is_change(&self) -> bool {
        self.before.as_ref() != Some(&self.text)
    }

    /// Writes the file whole or not at all, and returns the copy of what it was.
    pub(crate) fn write(&self) -> CliResult<Option<PathBuf>> {
        if !self.is_change() {
            return Ok(None);
        }
        let failed = |error: std::io::Error| {
            CliError::failed(format!("cannot write {}: {error}", self.file.display()))
        };
        // A link stays a link: what it points to is changed.
        let file = fs::canonicalize(&self.file).unwrap_or_else(|_| self.file.clone());
        let folder = file.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(folder).map_err(failed)?;
        let backup = match self.before {
            Some(_) => Some(back_up(&file).map_err(failed)?),
            None => None,
        };
        replace(&file, &self.text).map_err(failed)?;
        Ok(backup)
    }
}

fn read(file: &Path) -> CliResult<Option<String>> {
    match fs::read_to_string(file) {
        Ok(text) => Ok(Some(text)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(CliError::failed(format!(
            "cannot read {}: {error}",
            file.display()
        ))),
    }
}

/// Copies a file beside itself under a free name.
fn back_up(file: &Path) -> std::io::Result<PathBuf> {
    let named = |number: usize| {
        let mut name = file.as_os_str().to_owned();
        match number {
            0 => name.push(".wheelhouse-backup"),
            n => name.push(format!(".wheelhouse-backup.{n}")),
        }
        PathBuf::from(name)
    };
    let free = (0..BACKUPS_MAX).map(named).find(|path| !path.exists());
    let backup = free.ok_or_else(|| std::io::Error::other("too many copies lie beside it"))?;
    fs::copy(file, &backup)?;
    Ok(backup)
}

/// Puts `text` in the place of a file, with the permissions it had; a new one, which may hold a key, is its owner's only.
fn replace(file: &Path, text: &str) -> std::io::Result<()> {
    let mode = match fs::metadata(file) {
        Ok(meta) => meta.permissions().mode() & 0o777,
        Err(_) => 0o600,
    };
    let mut name = file.as_os_str().to_owned();
    name.push(format!(".new-{}", std::process::id()));
    let temporary = PathBuf::from(name);
    let written = fs::OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(mode)
        .open(&temporary)
        .and_then(|mut new| {
            new.write_all(text.as_bytes())?;
            new.sync_all()
        })
        .and_then(|()| fs::rename(&temporary, file));
    if written.is_err() {
        fs::remove_file(&temporary).ok();
    }
    written
}
