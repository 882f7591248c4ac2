//! The file that says that a removal has begun, and what it covers.

use std::{
    collections::BTreeSet,
    fs::File,
    io::{self, Write},
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use crate::{
    CommitId,
    repo::read_small,
    snapshot::{Entry, entries},
    walk::Found,
};

/// The marker's name in a worktree's git directory.
const NAME: &str = "wheelhouse-removing";

/// The marker: the commit that holds the files, and a digest of each file of the git directory.
pub(crate) struct Marker;

impl Marker {
    pub(crate) fn is(path: &Path) -> bool {
        path.as_os_str() == NAME
    }

    /// Writes the marker so that it is whole or not there. Without a git directory there is nowhere to put it.
    pub(crate) fn write(
        git_dir: &Path,
        commit: &CommitId,
        admin: &[Found],
        sha256: bool,
    ) -> io::Result<()> {
        if !git_dir.exists() {
            return Ok(());
        }
        let mut file = tempfile::NamedTempFile::new_in(git_dir)?;
        writeln!(file, "{commit}")?;
        for entry in entries(git_dir, admin, sha256)? {
            writeln!(file, "{}", line(&entry))?;
        }
        file.as_file().sync_all()?;
        file.persist(path(git_dir))?;
        File::open(git_dir)?.sync_all()
    }

    /// Returns the marker's commit when there is a marker and it covers every file that is left in the git directory.
    pub(crate) fn read_covering(
        git_dir: &Path,
        admin: &[Found],
        sha256: bool,
    ) -> io::Result<Option<CommitId>> {
        let Ok(text) = read_small(&path(git_dir)) else {
            return Ok(None);
        };
        let mut lines = text.lines();
        let commit = lines.next().and_then(|line| CommitId::parse(line).ok());
        let covered: BTreeSet<&str> = lines.collect();
        let left = entries(git_dir, admin, sha256)?;
        let all = left
            .iter()
            .all(|entry| covered.contains(line(entry).as_str()));
        Ok(commit.filter(|_| all))
    }

    pub(crate) fn erase(git_dir: &Path) -> io::Result<()> {
        match std::fs::remove_file(path(git_dir)) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            other => other,
        }
    }
}

fn path(git_dir: &Path) -> PathBuf {
    git_dir.join(NAME)
}

/// One file as a line; the name is written in hex, because it may hold anything.
fn line(entry: &Entry) -> String {
    let name = entry.path.as_os_str().as_bytes();
    let name: String = name.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{} {} {name}", entry.mode, entry.blob)
}
