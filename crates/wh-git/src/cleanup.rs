//! What a clean-up of finished worktrees would do, without doing it.

use crate::{DiskUse, Risk, WorktreeError, WorktreeHandle, WorktreePaths};

/// One worktree that a clean-up would look at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CleanUp {
    pub paths: WorktreePaths,
    /// How much room it takes.
    pub disk: DiskUse,
    /// What speaks against removing it as it is; empty when it can simply go.
    pub risks: Vec<Risk>,
}

/// Lists what would be removed. Worktrees that are missing already are left out; nothing is changed.
pub async fn clean_up_list(finished: &[WorktreeHandle]) -> Result<Vec<CleanUp>, WorktreeError> {
    let mut list = Vec::with_capacity(finished.len());
    for worktree in finished {
        if worktree.missing().is_some() {
            continue;
        }
        list.push(CleanUp {
            paths: worktree.paths().clone(),
            disk: worktree.disk_use().await?,
            risks: worktree.removal_risks().await?,
        });
    }
    Ok(list)
}
