//! Files of prompts in a run's directory, which the agent can change: nothing is written or read through a link.

use std::{
    io,
    path::{Path, PathBuf},
};

use crate::{
    RunDir,
    beneath::{Access, read_plain, write_beneath},
};

impl RunDir {
    /// Writes a file of a prompt below the run's directory of files and returns where it lies. One that is there already
    /// with these bytes is left alone: the agent may be reading it.
    pub fn write_file(&self, path: &Path, bytes: &[u8]) -> io::Result<PathBuf> {
        let files = self.files();
        let whole = files.join(path);
        if read_plain(&whole, bytes.len() as u64).is_some_and(|there| there == bytes) {
            return Ok(whole);
        }
        let name = files.file_name().unwrap_or_default();
        let written = write_beneath(
            self.path(),
            &Path::new(name).join(path),
            bytes,
            Access::Owner,
        );
        written.map(|_| whole).map_err(io::Error::other)
    }
}
