//! Worktrees as they are on disk, and what came of changing them, in plain terms.
//!
//! Paths are text here: they are shown, and never used again.

use crate::{BranchName, Name, Session, Worktree};

/// A worktree as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorktreeLook {
    pub worktree: Worktree,
    /// What its repository is called.
    pub repo: Name,
    /// How it was taken away behind our back, if it was.
    pub missing: Option<WorktreeMissing>,
    pub status: Option<WorktreeStatus>,
    pub disk: Option<WorktreeDisk>,
    /// What speaks against removing it as it is.
    pub risks: Option<Vec<WorktreeRisk>>,
    /// The sessions that work or worked in it, newest first, as far as the caller sees them.
    pub sessions: Vec<Session>,
}

/// How a worktree is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WorktreeMissing {
    /// There is nothing at its path.
    DirectoryGone,
    /// There is a link or a file at its path.
    Replaced,
    /// Git's own directory for it is gone, as after `git worktree remove` or `prune`.
    GitDirGone,
}

/// What has changed in a worktree since its head, and how far the head is from where it began.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorktreeStatus {
    pub head: Option<String>,
    /// The branch it has now, unless its head is detached.
    pub branch: Option<BranchName>,
    pub staged: Vec<String>,
    pub unstaged: Vec<String>,
    pub untracked: Vec<String>,
    pub conflicted: Vec<String>,
    pub ahead: u64,
    pub behind: u64,
}

/// How much room a worktree takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WorktreeDisk {
    pub bytes: u64,
    pub files: u64,
}

/// One reason not to delete a worktree as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorktreeRisk {
    /// One word, such as `dirty`, `untracked`, `unpushed`, `processes`.
    pub kind: &'static str,
    /// How many files, commits or processes it is about.
    pub count: u64,
    pub bytes: Option<u64>,
    /// Some of them, or what it is.
    pub names: Vec<String>,
    /// Whether it stops a removal also when everything else can be saved first.
    pub stops_rescue: bool,
}

/// What a worktree changed, committed or not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorktreeDiff {
    pub worktree: Worktree,
    /// The commit it is compared with.
    pub base: String,
    pub files: Vec<FileChange>,
    /// How many changed files come after these.
    pub files_left: u64,
    /// Added and deleted lines of all changed files.
    pub added: u64,
    pub deleted: u64,
    /// How many files to skip for the rest, if there is more.
    pub next: Option<u64>,
}

/// One changed file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileChange {
    pub path: String,
    /// The path before, when the file was renamed or copied.
    pub old_path: Option<String>,
    /// One word, such as `added`, `modified`, `renamed`.
    pub change: &'static str,
    /// One word: `file`, `executable`, `link` or `submodule`.
    pub kind: &'static str,
    /// Added and deleted lines; none for a binary file.
    pub lines: Option<(u64, u64)>,
    pub patch: Option<String>,
    /// Whether the text is only the beginning of the change.
    pub cut: bool,
}

/// How a merge went.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorktreeMerged {
    pub worktree: Worktree,
    pub into: BranchName,
    pub outcome: MergeOutcome,
    /// What the target is at now, if it moved.
    pub commit: Option<String>,
    /// The commit of changes that were not committed before.
    pub committed: Option<String>,
    /// What was removed afterwards, if that was asked for.
    pub removal: Option<MergeRemoval>,
}

/// What was removed after a merge.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MergeRemoval {
    pub is_worktree_removed: bool,
    pub is_branch_deleted: bool,
    /// The reference that holds what only the worktree had.
    pub rescue: Option<String>,
    /// Why something was not removed.
    pub not_removed: Option<String>,
}

/// What a merge did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MergeOutcome {
    /// The target had everything already.
    UpToDate,
    /// The target moved forward to the source's commit.
    FastForward,
    /// There is a new commit.
    Merged,
    /// An earlier request with the same mark did it; nothing was done now.
    Repeated,
}

/// A worktree that is gone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorktreeGone {
    pub worktree: Worktree,
    /// The reference that holds what was saved, if there was anything that nothing else held.
    pub rescue: Option<String>,
    /// Ignored files that were deleted without being saved.
    pub discarded: Vec<String>,
}

/// What lies at a path of a worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorktreeFile {
    /// A file's bytes, possibly only the first.
    File {
        bytes: Vec<u8>,
        size: u64,
        truncated: bool,
    },
    /// A link, which is shown and not followed.
    Link { target: String },
    /// A directory, and the names in it.
    Directory { names: Vec<String>, truncated: bool },
}

impl WorktreeMissing {
    /// Returns the reason as shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::DirectoryGone => "directory_gone",
            Self::Replaced => "replaced",
            Self::GitDirGone => "git_dir_gone",
        }
    }
}

impl MergeOutcome {
    /// Returns the outcome as shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::UpToDate => "up_to_date",
            Self::FastForward => "fast_forward",
            Self::Merged => "merged",
            Self::Repeated => "repeated",
        }
    }
}

impl WorktreeStatus {
    /// Tells whether there is something that is not committed, ignored files aside.
    pub fn is_dirty(&self) -> bool {
        let lists = [
            &self.staged,
            &self.unstaged,
            &self.untracked,
            &self.conflicted,
        ];
        lists.iter().any(|list| !list.is_empty())
    }
}
