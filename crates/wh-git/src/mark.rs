//! Tells whether anything has changed in a worktree.

use std::collections::BTreeSet;

use sha2::{Digest, Sha256};

use crate::{
    WorktreeError, WorktreeHandle,
    snapshot::{Snapshot, entries},
    status::status_in,
    walk::blocking,
};

impl WorktreeHandle {
    /// Returns a mark of the worktree: two are equal when no commit was made and no file has changed in between. Ignored
    /// files do not count.
    pub async fn mark(&self) -> Result<String, WorktreeError> {
        let view = self.view().await?;
        let status = status_in(&view).await?;
        let head = self.head().await?;
        let changed = [
            &status.staged,
            &status.unstaged,
            &status.untracked,
            &status.conflicted,
        ];
        let changed: BTreeSet<_> = changed.into_iter().flatten().cloned().collect();
        let mut mark = Sha256::new();
        mark.update(head.as_ref().map_or("", |head| head.as_str()));
        for path in &changed {
            mark.update([0]);
            mark.update(path.as_os_str().as_encoded_bytes());
        }
        let root = self.paths.path.clone();
        let files = blocking(move || {
            let mut all = Snapshot::of(&root)?;
            all.files.retain(|found| changed.contains(&found.path));
            entries(&root, &all.files, true)
        });
        let files = files.await.map_err(|source| WorktreeError::Directory {
            path: self.paths.path.clone(),
            source,
        })?;
        for file in files {
            mark.update([0]);
            mark.update(file.mode);
            mark.update(file.blob);
        }
        let digits = mark.finalize();
        Ok(digits.iter().map(|byte| format!("{byte:02x}")).collect())
    }
}
