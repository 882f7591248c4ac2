//! The data directory and what lies where in it.

use std::{
    fs::{self, DirBuilder},
    os::unix::fs::{DirBuilderExt, PermissionsExt},
    path::{Path, PathBuf},
};

use anyhow::{Result, bail};

use super::refusal::CannotUseDataDir;

/// The directory that holds the database, the socket and `server.json`.
#[derive(Clone, Debug)]
pub(crate) struct DataDir(PathBuf);

impl DataDir {
    /// Names a data directory that may or may not exist.
    pub(crate) fn new(path: impl Into<PathBuf>) -> Self {
        Self(path.into())
    }

    /// Makes the directory if it is not there, for its owner only.
    pub(super) fn prepare(path: &Path) -> Result<Self> {
        let mut builder = DirBuilder::new();
        builder.recursive(true).mode(0o700);
        let refuse = |source| CannotUseDataDir {
            path: path.to_owned(),
            source,
        };
        builder.create(path).map_err(refuse)?;
        let path = fs::canonicalize(path).map_err(refuse)?;
        let mode = fs::metadata(&path)?.permissions().mode();
        if mode & 0o002 != 0 {
            bail!(
                "{} can be written by everyone on this machine; run `chmod 700 {}`",
                path.display(),
                path.display()
            );
        }
        Ok(Self(path))
    }

    /// Returns the directory itself.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }

    /// Returns the database's path.
    pub(crate) fn database(&self) -> PathBuf {
        self.0.join("wheelhouse.db")
    }

    /// Returns the local socket's path.
    pub(crate) fn socket(&self) -> PathBuf {
        self.0.join("wheelhouse.sock")
    }

    /// Returns the directory that holds one for each run.
    pub(crate) fn runs(&self) -> PathBuf {
        self.0.join("runs")
    }

    /// Returns the directory that holds one for each session that works nowhere else.
    pub(super) fn scratch(&self) -> PathBuf {
        self.0.join("scratch")
    }

    /// Returns the directory that holds one for each contained session: its changes to the home directory and its `/tmp`.
    pub(super) fn homes(&self) -> PathBuf {
        self.0.join("homes")
    }

    /// Returns the directory that holds the files of unpacked container images.
    pub(super) fn images(&self) -> PathBuf {
        self.0.join("images")
    }

    /// Returns the directory that holds private clones of worktrees.
    pub(super) fn clones(&self) -> PathBuf {
        self.0.join("clones")
    }

    /// Returns the path of the file that tells where the server is.
    pub(crate) fn server_file(&self) -> PathBuf {
        self.0.join("server.json")
    }
}
