//! Counts what a worktree has to show, for lists: a few numbers and no files.

use crate::{
    CommitId, DiffLimits, GitError, Patches, WorktreeError, WorktreeHandle, diff::diff_in,
    status::status_in, view::View,
};

/// What a worktree has to show, in numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Changes {
    /// Lines that differ from the base, committed or not, untracked files included.
    pub added: u64,
    pub deleted: u64,
    /// Commits since the base.
    pub ahead: u64,
    /// Commits that no target has.
    pub unmerged: u64,
    /// Whether everything is committed, ignored files aside.
    pub is_clean: bool,
}

impl WorktreeHandle {
    /// Counts what changed since `base`, and which commits are in none of `targets`.
    pub async fn count(
        &self,
        base: &CommitId,
        targets: &[CommitId],
    ) -> Result<Changes, WorktreeError> {
        let head = self.head().await?.ok_or(WorktreeError::NoCommit)?;
        let view = self.view_of_copy().await?;
        let status = status_in(&view).await?;
        let ahead = commits(&view, &head, std::slice::from_ref(base)).await?;
        let mut changes = Changes {
            ahead,
            unmerged: match ahead {
                0 => 0,
                _ => commits(&view, &head, targets).await?,
            },
            is_clean: status.is_clean(),
            ..Changes::default()
        };
        if changes.is_clean && head == *base {
            return Ok(changes);
        }
        if !status.untracked.is_empty() {
            self.announce_untracked(&view).await?;
        }
        let none = DiffLimits {
            files_max: 0,
            ..DiffLimits::default()
        };
        let diff = diff_in(&view, &[base.as_str()], Patches::Leave, none).await?;
        (changes.added, changes.deleted) = (diff.added, diff.deleted);
        Ok(changes)
    }
}

/// Counts the commits of a history that are in none of the others.
async fn commits(view: &View, head: &CommitId, others: &[CommitId]) -> Result<u64, GitError> {
    let said = view
        .git()
        .args(["rev-list", "--count", head.as_str(), "--not"])
        .args(others.iter().map(CommitId::as_str))
        .arg("--")
        .text()
        .await?;
    let count = said.trim().parse();
    count.map_err(|_| GitError::failed("git printed no count"))
}
