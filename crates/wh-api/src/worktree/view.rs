//! What callers are told about worktrees.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wh_domain::{
    FileChange, ShortId, Worktree, WorktreeDiff, WorktreeGone, WorktreeLook, WorktreeMerged,
    WorktreeRisk, WorktreeState, WorktreeStatus,
};

use crate::{SessionSummaryView, common::time};

/// The most files of one kind that a status names.
const FILES_NAMED_MAX: usize = 100;

/// A checkout of one branch where an agent works.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorktreeView {
    pub id: String,
    pub short_id: String,
    pub name: String,
    pub repo_id: String,
    pub branch: String,
    /// The commit it began at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base_sha: Option<String>,
    /// The directory on the server's machine.
    pub path: String,
    /// making, ready, removing, removed or, when it was taken away behind our back, missing
    pub state: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub board_id: Option<String>,
    pub owner_id: String,
    pub created_at: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub removed_at: Option<String>,
    /// What is missing, if something is: directory_gone, replaced, git_dir_gone
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub missing: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<WorktreeStatusView>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_bytes: Option<u64>,
    /// What speaks against removing it as it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risks: Option<Vec<RiskView>>,
    /// Sessions that work or worked in it, newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub sessions: Vec<SessionSummaryView>,
}

impl From<Worktree> for WorktreeView {
    fn from(worktree: Worktree) -> Self {
        let removed_at = match worktree.state {
            WorktreeState::Removed { at } => Some(time(at)),
            _ => None,
        };
        Self {
            id: worktree.id.to_string(),
            short_id: worktree.id.short_id(),
            name: worktree.name.to_string(),
            repo_id: worktree.repo.to_string(),
            branch: worktree.branch.to_string(),
            base_sha: worktree.base_sha,
            path: worktree.path.display().to_string(),
            state: worktree.state.name().as_str().to_owned(),
            board_id: worktree.board.map(|id| id.to_string()),
            owner_id: worktree.owner.user.to_string(),
            created_at: time(worktree.created_at),
            removed_at,
            missing: None,
            status: None,
            disk_bytes: None,
            risks: None,
            sessions: vec![],
        }
    }
}

impl From<WorktreeLook> for WorktreeView {
    fn from(look: WorktreeLook) -> Self {
        let mut view = Self::from(look.worktree);
        if let Some(missing) = look.missing {
            view.state = "missing".to_owned();
            view.missing = Some(missing.as_str().to_owned());
        }
        view.status = look.status.map(Into::into);
        view.disk_bytes = look.disk.map(|disk| disk.bytes);
        let risks = |risks: Vec<WorktreeRisk>| risks.into_iter().map(Into::into).collect();
        view.risks = look.risks.map(risks);
        view.sessions = look.sessions.iter().map(Into::into).collect();
        view
    }
}

/// What is in a worktree.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorktreeStatusView {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
    /// The branch it has now; absent when its head is detached.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// Commits since it began.
    pub ahead: u64,
    pub behind: u64,
    /// Whether something is not committed.
    pub dirty: bool,
    /// How many files are not committed in each way; at most 100 of each are named.
    pub staged_count: usize,
    pub unstaged_count: usize,
    pub untracked_count: usize,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub staged: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unstaged: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub untracked: Vec<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicted: Vec<String>,
}

impl From<WorktreeStatus> for WorktreeStatusView {
    fn from(status: WorktreeStatus) -> Self {
        let named = |mut files: Vec<String>| {
            files.truncate(FILES_NAMED_MAX);
            files
        };
        Self {
            dirty: status.is_dirty(),
            head: status.head,
            branch: status.branch.map(|branch| branch.to_string()),
            ahead: status.ahead,
            behind: status.behind,
            staged_count: status.staged.len(),
            unstaged_count: status.unstaged.len(),
            untracked_count: status.untracked.len(),
            staged: named(status.staged),
            unstaged: named(status.unstaged),
            untracked: named(status.untracked),
            conflicted: named(status.conflicted),
        }
    }
}

/// One reason not to delete a worktree as it is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RiskView {
    /// dirty, untracked, ignored, stashed, unpushed, detached, in_progress, nested, processes, locked or unreadable
    pub kind: String,
    pub count: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// Whether a rescue refuses too.
    pub stops_rescue: bool,
}

impl From<WorktreeRisk> for RiskView {
    fn from(risk: WorktreeRisk) -> Self {
        Self {
            kind: risk.kind.to_owned(),
            count: risk.count,
            bytes: risk.bytes,
            names: risk.names,
            stops_rescue: risk.stops_rescue,
        }
    }
}

/// A worktree in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorktreeSummaryView {
    /// The last 8 digits of the worktree's id, accepted wherever an id is.
    pub id: String,
    pub name: String,
    pub repo: String,
    /// The last 8 digits of the repository's id.
    pub repo_id: String,
    pub branch: String,
    pub state: String,
    pub path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub disk_bytes: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub risks: Option<Vec<RiskView>>,
}

impl From<WorktreeLook> for WorktreeSummaryView {
    fn from(look: WorktreeLook) -> Self {
        let (repo, repo_id) = (look.repo.to_string(), look.worktree.repo.short_id());
        let view = WorktreeView::from(look);
        Self {
            id: view.short_id,
            name: view.name,
            repo,
            repo_id,
            branch: view.branch,
            state: view.state,
            path: view.path,
            disk_bytes: view.disk_bytes,
            risks: view.risks,
        }
    }
}

/// Some worktrees, newest first.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct WorktreeListView {
    pub worktrees: Vec<WorktreeSummaryView>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// Total number of results, counted up to 100000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
}

/// What a worktree changed, committed or not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorktreeDiffView {
    pub worktree_id: String,
    pub branch: String,
    /// The commit it is compared with.
    pub base: String,
    /// Added and deleted lines of all changed files.
    pub added: u64,
    pub deleted: u64,
    pub files: Vec<FileChangeView>,
    /// How many changed files come after these.
    pub files_left: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

impl From<WorktreeDiff> for WorktreeDiffView {
    fn from(diff: WorktreeDiff) -> Self {
        Self {
            worktree_id: diff.worktree.id.to_string(),
            branch: diff.worktree.branch.to_string(),
            base: diff.base,
            added: diff.added,
            deleted: diff.deleted,
            files: diff.files.into_iter().map(Into::into).collect(),
            files_left: diff.files_left,
            next_cursor: crate::cursor_of(diff.next),
        }
    }
}

/// One changed file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FileChangeView {
    pub path: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub old_path: Option<String>,
    /// added, deleted, modified, renamed, copied, type_changed or unmerged
    pub change: String,
    /// file, executable, link or submodule
    pub kind: String,
    /// Absent for a binary file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub added: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deleted: Option<u64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patch: Option<String>,
    /// Whether the patch is only its beginning.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut: bool,
}

impl From<FileChange> for FileChangeView {
    fn from(file: FileChange) -> Self {
        Self {
            path: file.path,
            old_path: file.old_path,
            change: file.change.to_owned(),
            kind: file.kind.to_owned(),
            added: file.lines.map(|(added, _)| added),
            deleted: file.lines.map(|(_, deleted)| deleted),
            patch: file.patch,
            cut: file.cut,
        }
    }
}

/// How a merge went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorktreeMergedView {
    pub worktree_id: String,
    /// The branch that was merged.
    pub branch: String,
    /// The branch that it was merged into.
    pub into: String,
    /// up_to_date, fast_forward, merged, or repeated when an earlier request with the same mark did it
    pub outcome: String,
    /// What the target is at now, if it moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// The commit of the changes that were not committed, if there were any and `commit` was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub committed: Option<String>,
    /// Whether the worktree was removed; only with remove_after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree_removed: Option<bool>,
    /// Whether the branch was deleted; only with remove_after.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch_deleted: Option<bool>,
    /// The git reference that holds what only the removed worktree had, such as ignored files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rescue: Option<String>,
    /// Why something was not removed after the merge, which was done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_removed: Option<String>,
}

impl From<WorktreeMerged> for WorktreeMergedView {
    fn from(merged: WorktreeMerged) -> Self {
        let removal = merged.removal.as_ref();
        Self {
            worktree_removed: removal.map(|removal| removal.is_worktree_removed),
            branch_deleted: removal.map(|removal| removal.is_branch_deleted),
            rescue: removal.and_then(|removal| removal.rescue.clone()),
            not_removed: removal.and_then(|removal| removal.not_removed.clone()),
            committed: merged.committed,
            worktree_id: merged.worktree.id.to_string(),
            branch: merged.worktree.branch.to_string(),
            into: merged.into.to_string(),
            outcome: merged.outcome.as_str().to_owned(),
            commit: merged.commit,
        }
    }
}

/// A worktree that is gone. Its branch is not.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorktreeRemovedView {
    pub worktree_id: String,
    pub branch: String,
    pub state: String,
    /// The git reference that holds what was saved; `git switch -c NAME REFERENCE` brings it back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rescue: Option<String>,
    /// Ignored files that were deleted without being saved.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub discarded: Vec<String>,
}

impl From<WorktreeGone> for WorktreeRemovedView {
    fn from(gone: WorktreeGone) -> Self {
        Self {
            worktree_id: gone.worktree.id.to_string(),
            branch: gone.worktree.branch.to_string(),
            state: gone.worktree.state.name().as_str().to_owned(),
            rescue: gone.rescue,
            discarded: gone.discarded,
        }
    }
}
