//! Checkouts in which agents work.

use std::path::PathBuf;

use jiff::Timestamp;

use crate::{BoardId, BranchName, Name, Owner, RepoId, WorktreeId};

/// A checkout of one branch where an agent works.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Worktree {
    pub id: WorktreeId,
    pub owner: Owner,
    pub repo: RepoId,
    pub name: Name,
    pub branch: BranchName,
    /// The commit the branch was made from.
    pub base_sha: Option<String>,
    pub path: PathBuf,
    pub board: Option<BoardId>,
    pub created_at: Timestamp,
    pub removed_at: Option<Timestamp>,
}
