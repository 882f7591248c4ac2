//! Saves the uncommitted files of a worktree under a git reference, and restores them in another worktree.
//!
//! It is kept as a commit on top of the head, under a reference that no branch, push or clone of an agent includes. The worktree, its
//! index and its branch stay as they are.

use std::{fs, path::PathBuf};

use jiff::Timestamp;

use crate::{
    CommitId, GitError, Identity, RepoHandle, WorktreeError, WorktreeHandle,
    command::text_despite_locks, status::status_in,
};

/// Prefix of the references that hold saved files.
const KEPT: &str = "refs/wheelhouse/uncommitted";

impl WorktreeHandle {
    /// Keeps changed and untracked files, ignored ones not, as `group/name`. Without any, or with more than `bytes_max` bytes of them,
    /// nothing is kept.
    pub async fn uncommitted_keep(
        &self,
        group: &str,
        name: &str,
        bytes_max: u64,
    ) -> Result<Option<CommitId>, WorktreeError> {
        let Some(head) = self.head().await? else {
            return Ok(None);
        };
        let view = self.view_of_copy().await?;
        let status = status_in(&view).await?;
        if status.is_clean() || self.bytes_of(&status.unstaged, &status.untracked) > bytes_max {
            return Ok(None);
        }
        let git = view.git().args(["add", "--all", "--ignore-errors", "--"]);
        git.arg(".").long().said().await?;
        let tree = view.git().arg("write-tree").long().text().await?;
        let who = Identity {
            name: "Wheelhouse".to_owned(),
            email: "wheelhouse@localhost".to_owned(),
        };
        // The same files always make the same commit.
        let git = who.on(view.git(), Timestamp::UNIX_EPOCH);
        let git = git.args(["commit-tree", tree.as_str(), "-p", head.as_str()]);
        let kept = CommitId::said(&git.stdin("uncommitted files\n").text().await?)?;
        let name = reference(group, name);
        let old = self.repo.resolve_in(self.repo.common_dir(), &name).await?;
        if old.as_ref() != Some(&kept) {
            self.repo.ref_set(&name, &kept, old.as_ref()).await?;
        }
        Ok(Some(kept))
    }

    /// Returns how large these files are; those that are gone take nothing.
    fn bytes_of(&self, changed: &[PathBuf], untracked: &[PathBuf]) -> u64 {
        let size = |path: &PathBuf| fs::symlink_metadata(self.path().join(path)).ok();
        let files = changed.iter().chain(untracked).filter_map(size);
        files.filter(fs::Metadata::is_file).map(|it| it.len()).sum()
    }

    /// Changes the files of a worktree that nobody works in yet to what is kept as `group/name`, without committing them. Does nothing
    /// when the kept files do not belong to its head. Safe to repeat.
    pub async fn uncommitted_apply(&self, group: &str, name: &str) -> Result<bool, WorktreeError> {
        let (Some(head), Some(kept)) = (
            self.head().await?,
            self.repo.uncommitted_kept(group, name).await?,
        ) else {
            return Ok(false);
        };
        let view = self.view().await?;
        let parent = view.git().args(["rev-parse", "--verify", "-q"]);
        let parent = parent.arg(format!("{kept}^1")).text().await?;
        if parent != head.as_str() {
            return Ok(false);
        }
        self.repo.check_checkout(&view, &kept).await?;
        let files = ["read-tree", "--reset", "-u", kept.as_str()];
        text_despite_locks(|| view.git().args(files).long()).await?;
        let index = ["read-tree", "--reset", head.as_str()];
        text_despite_locks(|| view.git().args(index).long()).await?;
        let refresh = view.git().args(["update-index", "-q", "--refresh"]);
        refresh.long().said().await?;
        Ok(true)
    }
}

impl RepoHandle {
    /// Returns the commit saved as `group/name`.
    pub async fn uncommitted_kept(
        &self,
        group: &str,
        name: &str,
    ) -> Result<Option<CommitId>, GitError> {
        self.resolve_in(self.common_dir(), &reference(group, name))
            .await
    }

    /// Lets `to` be kept as what `from` is, each a group and a name.
    pub async fn uncommitted_copy(
        &self,
        from: (&str, &str),
        to: (&str, &str),
    ) -> Result<bool, GitError> {
        let Some(kept) = self.uncommitted_kept(from.0, from.1).await? else {
            return Ok(false);
        };
        self.ref_set(&reference(to.0, to.1), &kept, None).await?;
        Ok(true)
    }

    /// Deletes the saved commits of a group except for the last `but` names.
    pub async fn uncommitted_forget(&self, group: &str, but: usize) -> Result<(), GitError> {
        let prefix = format!("{KEPT}/{group}/");
        let mut kept = self.refs_under(&[&prefix]).await?;
        kept.sort();
        kept.truncate(kept.len().saturating_sub(but));
        for (name, id) in kept {
            text_despite_locks(|| {
                self.refs_git()
                    .args(["update-ref", "--no-deref", "-d", "--"])
                    .args([name.as_str(), id.as_str()])
            })
            .await?;
        }
        Ok(())
    }
}

fn reference(group: &str, name: &str) -> String {
    format!("{KEPT}/{group}/{name}")
}
