//! The marked block that the server keeps in `info/exclude`.

use std::{
    fs, io,
    io::Write,
    path::{Path, PathBuf},
};

use crate::{RepoHandle, beneath::hold, block::HASH, repo::read_small};

impl RepoHandle {
    /// Replaces the block of `key` in `info/exclude`, or takes it away when `patterns` is empty.
    ///
    /// The rest of the file is the user's and stays as it is. The file is shared by all worktrees of the repository,
    /// therefore the key, which says whose patterns they are. Written beside and renamed, so that a crash leaves the old or
    /// the new text. Two writers at the same moment can lose one block; the caller serialises them.
    pub fn exclude_set(&self, key: &str, patterns: &[&str]) -> io::Result<()> {
        let plain = |text: &str| !text.is_empty() && !text.chars().any(char::is_control);
        if !plain(key) || !patterns.iter().all(|pattern| plain(pattern)) {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        let old = match read_exclude(self.common_dir()) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            other => other?,
        };
        let new = HASH.with_block(&old, key, &patterns.join("\n"));
        if new == old {
            return Ok(());
        }
        let info = self.common_dir().join("info");
        fs::create_dir_all(&info)?;
        // An agent may have put a link in its place, and the server would write elsewhere.
        drop(hold(&info)?);
        let mut file = tempfile::NamedTempFile::new_in(&info)?;
        file.write_all(new.as_bytes())?;
        file.as_file().sync_all()?;
        let readable = std::os::unix::fs::PermissionsExt::from_mode(0o644);
        file.as_file().set_permissions(readable)?;
        file.persist(exclude_path(self.common_dir()))?;
        Ok(())
    }
}

fn exclude_path(common_dir: &Path) -> PathBuf {
    common_dir.join("info/exclude")
}

/// Reads the excludes of a repository; a link in their place is not followed.
pub(crate) fn read_exclude(common_dir: &Path) -> io::Result<String> {
    let info = common_dir.join("info");
    if fs::symlink_metadata(&info)?.is_symlink() {
        return Err(io::ErrorKind::NotFound.into());
    }
    read_small(&exclude_path(common_dir))
}
