//! Merging one branch into another without anybody's checkout.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use wh_domain::BranchName;

use crate::{
    CommitError, CommitId, GitError, Identity, RepoHandle, WorktreeError, WorktreeHandle,
    command::text_despite_locks, status::status_in, view::View, worktree::path_of,
};

/// What is to be merged.
#[derive(Clone, Debug)]
pub struct Merge<'a> {
    pub source: &'a BranchName,
    pub into: &'a BranchName,
    pub message: &'a str,
    pub who: &'a Identity,
    pub at: Timestamp,
    /// Worktrees of ours that may have the target branch; they and the user's checkout are brought along when clean.
    /// Where other checkouts are is told by files that an agent can write, so those are not touched.
    pub worktrees: &'a [WorktreeHandle],
}

/// How a merge went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Merged {
    /// The target had everything already.
    UpToDate,
    /// The target moved forward to the source's commit.
    FastForward { commit: CommitId },
    /// There is a new commit.
    Commit { commit: CommitId },
}

/// Why nothing was merged; the target branch is where it was.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    #[error("there is no branch {}", branch.as_str())]
    NoBranch { branch: BranchName },
    #[error("both sides changed {} file(s)", files.len())]
    Conflicts { files: Vec<PathBuf> },
    #[error("the branch is checked out at {at} with changes that are not committed")]
    Dirty { at: PathBuf },
    #[error("the branch is checked out at {at}, which is not known here")]
    CheckedOut { at: PathBuf },
    #[error("the branch moved meanwhile")]
    Moved,
    #[error(transparent)]
    Commit(#[from] CommitError),
    #[error(transparent)]
    Worktree(#[from] WorktreeError),
    #[error(transparent)]
    Git(#[from] GitError),
}

impl RepoHandle {
    /// Merges `source` into `into`: made as objects first, then the branch moves if it is still where it was.
    pub async fn merge(&self, merge: &Merge<'_>) -> Result<Merged, MergeError> {
        merge.who.check()?;
        let tip = async |branch: &BranchName| {
            let none = MergeError::NoBranch {
                branch: branch.clone(),
            };
            self.branch_tip(branch).await?.ok_or(none)
        };
        let (theirs, ours) = (tip(merge.source).await?, tip(merge.into).await?);
        let base = self.merge_base(&ours, &theirs).await?;
        if base.as_ref() == Some(&theirs) {
            return Ok(Merged::UpToDate);
        }
        let checkouts = self.clean_checkouts(merge, &ours).await?;
        let forward = base.as_ref() == Some(&ours);
        let commit = if forward {
            theirs
        } else {
            self.merge_commit(merge, &ours, &theirs).await?
        };
        self.move_branch(merge.into, &ours, &commit, &checkouts)
            .await?;
        Ok(if forward {
            Merged::FastForward { commit }
        } else {
            Merged::Commit { commit }
        })
    }

    /// Deletes a branch when `into` has all its commits. Returns `false` and deletes nothing when `into` lacks some, when the branch is
    /// checked out or the repository's own, or when it is `into` itself.
    pub async fn branch_delete_merged(
        &self,
        branch: &BranchName,
        into: &BranchName,
    ) -> Result<bool, WorktreeError> {
        let Some(tip) = self.branch_tip(branch).await? else {
            return Ok(true);
        };
        let Some(target) = self.branch_tip(into).await? else {
            return Ok(false);
        };
        let is_merged = self.merge_base(&tip, &target).await?.as_ref() == Some(&tip);
        let is_own = branch == into || self.default_branch().await?.as_ref() == Some(branch);
        if !is_merged || is_own || self.checkout_of(branch).await?.is_some() {
            return Ok(false);
        }
        let name = format!("refs/heads/{}", branch.as_str());
        text_despite_locks(|| {
            self.refs_git()
                .args(["-c", "core.fsync=all", "update-ref", "--no-deref"])
                .args(["-d", "--", &name, tip.as_str()])
        })
        .await?;
        Ok(true)
    }

    /// Makes the merge commit in a view, where no merge driver is configured.
    async fn merge_commit(
        &self,
        merge: &Merge<'_>,
        ours: &CommitId,
        theirs: &CommitId,
    ) -> Result<CommitId, MergeError> {
        let view = View::of(self)?;
        let git = view.git().args(["merge-tree", "--write-tree", "-z"]);
        let said = git
            .args(["--name-only", "--no-messages"])
            .args([ours.as_str(), theirs.as_str()])
            .long()
            .said()
            .await?;
        let mut fields = said.stdout.split(|b| *b == 0).filter(|f| !f.is_empty());
        let tree = String::from_utf8_lossy(fields.next().unwrap_or_default()).into_owned();
        match said.code {
            0 => {}
            1 => {
                let mut files: Vec<PathBuf> = fields.map(path_of).collect();
                files.dedup();
                return Err(MergeError::Conflicts { files });
            }
            _ => return Err(said.into_error().into()),
        }
        let git = merge.who.on(view.git(), merge.at);
        let said = git
            .args(["commit-tree", tree.trim()])
            .args(["-p", ours.as_str(), "-p", theirs.as_str()])
            .stdin(merge.message)
            .text()
            .await?;
        Ok(CommitId::said(&said)?)
    }

    /// Finds the checkouts that have the target branch; each must be known and clean.
    async fn clean_checkouts(
        &self,
        merge: &Merge<'_>,
        at: &CommitId,
    ) -> Result<Vec<View>, MergeError> {
        let mut views = Vec::new();
        for checkout in self.checkouts().await? {
            if checkout.branch.as_ref() != Some(merge.into) {
                continue;
            }
            let path = checkout.path;
            let Some(index) = self.index_of(&path, merge.worktrees) else {
                return Err(MergeError::CheckedOut { at: path });
            };
            let view = View::of(self)?.over(&path, &index).at(Some(at))?;
            let busy = crate::risk::IN_PROGRESS
                .iter()
                .any(|(file, _)| index.with_file_name(file).exists());
            if busy || status_in(&view).await?.is_dirty() {
                return Err(MergeError::Dirty { at: path });
            }
            views.push(view);
        }
        Ok(views)
    }

    /// Returns the index of a checkout by what was recorded, not by what git's files say.
    fn index_of(&self, path: &Path, worktrees: &[WorktreeHandle]) -> Option<PathBuf> {
        if self.paths().work_tree.as_deref() == Some(path) {
            return Some(self.paths().git_dir.join("index"));
        }
        let ours = worktrees
            .iter()
            .find(|w| w.path() == path && w.repo == *self);
        ours.filter(|w| w.missing().is_none())
            .map(WorktreeHandle::index)
    }

    /// Moves the branch and brings clean checkouts along; takes the branch back when one of them cannot follow.
    async fn move_branch(
        &self,
        branch: &BranchName,
        old: &CommitId,
        new: &CommitId,
        checkouts: &[View],
    ) -> Result<(), MergeError> {
        for view in checkouts {
            self.check_checkout(view, new).await?;
            // Files that were only touched would count as changed.
            let refresh = view.git().args(["update-index", "-q", "--refresh"]);
            refresh.long().said().await?;
            two_way(view, old, new, &["-n"]).await?;
        }
        let name = format!("refs/heads/{}", branch.as_str());
        if let Err(error) = self.ref_set(&name, new, Some(old)).await {
            let moved = self.branch_tip(branch).await?.as_ref() != Some(old);
            return Err(if moved {
                MergeError::Moved
            } else {
                error.into()
            });
        }
        for view in checkouts {
            if let Err(error) = two_way(view, old, new, &[]).await {
                self.ref_set(&name, old, Some(new)).await?;
                return Err(error.into());
            }
        }
        Ok(())
    }
}

/// Moves a checkout from one commit to another; git refuses to overwrite anything that is not committed.
async fn two_way(
    view: &View,
    old: &CommitId,
    new: &CommitId,
    options: &[&str],
) -> Result<(), GitError> {
    text_despite_locks(|| {
        view.git()
            .args(["read-tree", "-m", "-u"])
            .args(options)
            .args([old.as_str(), new.as_str()])
            .long()
    })
    .await
    .map(drop)
}
