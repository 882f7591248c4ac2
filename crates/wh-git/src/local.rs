//! A file in a worktree in which the server tells agents something, and which the repository never sees.

use std::{
    fs,
    io::{self, Write},
    path::Path,
};

use crate::{WorktreeError, WorktreeHandle, block::MARKDOWN, repo::read_small, walk::blocking};

/// Whose patterns in `info/exclude` these are.
const EXCLUDE_KEY: &str = "session-context";

impl WorktreeHandle {
    /// Puts `text` into the block of `key` at the end of the file `name`, and has git ignore the file.
    ///
    /// What else stands in the file stays. Returns false, having changed nothing, if the repository itself has such a file.
    /// A link in its place is replaced and not followed. The caller serialises writers of one repository.
    pub async fn local_block_set(
        &self,
        name: &str,
        key: &str,
        text: &str,
    ) -> Result<bool, WorktreeError> {
        let view = self.view().await?;
        let tracked = view.git().args(["ls-files", "-z", "--"]);
        if !tracked.arg(name).bytes().await?.is_empty() {
            return Ok(false);
        }
        let repo = self.repo().clone();
        let pattern = format!("/{name}");
        let excluded = blocking(move || repo.exclude_set(EXCLUDE_KEY, &[&pattern])).await;
        self.in_directory(excluded)?;
        self.local_block_write(name, key, text).await?;
        Ok(true)
    }

    /// Takes the block of `key` out of the file `name`, and the file away when nothing else stands in it.
    pub async fn local_block_remove(&self, name: &str, key: &str) -> Result<(), WorktreeError> {
        self.check()?;
        self.local_block_write(name, key, "").await
    }

    async fn local_block_write(
        &self,
        name: &str,
        key: &str,
        text: &str,
    ) -> Result<(), WorktreeError> {
        let (dir, name) = (self.path().to_owned(), name.to_owned());
        let (key, text) = (key.to_owned(), text.to_owned());
        self.in_directory(blocking(move || write_block(&dir, &name, &key, &text)).await)
    }

    fn in_directory<T>(&self, result: io::Result<T>) -> Result<T, WorktreeError> {
        result.map_err(|source| WorktreeError::Directory {
            path: self.path().to_owned(),
            source,
        })
    }
}

fn write_block(dir: &Path, name: &str, key: &str, text: &str) -> io::Result<()> {
    let path = dir.join(name);
    let is_link = fs::symlink_metadata(&path).is_ok_and(|found| found.is_symlink());
    let old = match read_small(&path) {
        Err(error) if is_link || error.kind() == io::ErrorKind::NotFound => String::new(),
        other => other?,
    };
    let new = MARKDOWN.with_block(&old, key, text);
    if new == old {
        return Ok(());
    }
    if new.is_empty() {
        return fs::remove_file(path);
    }
    // The name begins with the file's own, so that a crash in between leaves nothing unheard of.
    let mut file = tempfile::Builder::new().prefix(name).tempfile_in(dir)?;
    file.write_all(new.as_bytes())?;
    file.persist(path)?;
    Ok(())
}
