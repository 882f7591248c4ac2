//! Checkouts in which agents work, and the states they pass through.

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
    /// Where the branch is to begin if it is not there yet; at the repository's own head unless given.
    pub base: Option<WorktreeBase>,
    /// The commit the branch was made from; known once the worktree is made.
    pub base_sha: Option<String>,
    pub path: PathBuf,
    pub board: Option<BoardId>,
    pub state: WorktreeState,
    /// What was in it when it was last counted: after a turn, or a merge.
    pub changes: Option<WorktreeChanges>,
    pub created_at: Timestamp,
}

/// What a worktree has to show, in numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorktreeChanges {
    /// Lines that differ from where it began, committed or not.
    pub added: u64,
    pub deleted: u64,
    /// Commits since it began.
    pub ahead: u64,
    /// Commits that are neither in the branch it began at nor in the repository's default branch.
    pub unmerged: u64,
    /// Whether everything is committed.
    pub is_clean: bool,
}

impl WorktreeChanges {
    /// Tells whether there is something to merge, and nothing that a merge would leave behind.
    pub fn can_merge(&self) -> bool {
        self.is_clean && self.unmerged > 0
    }

    /// Tells whether all that was done in it is merged.
    pub fn is_merged(&self) -> bool {
        self.is_clean && self.ahead > 0 && self.unmerged == 0
    }
}

/// Where a new branch begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorktreeBase {
    /// The tip of a branch.
    Branch(BranchName),
    /// A commit by its full name.
    Commit(String),
}

/// Where a worktree is, recorded when it was made.
///
/// The `.git` file inside the worktree belongs to the agent and is never asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorktreePaths {
    /// The directory with the files.
    pub path: PathBuf,
    /// Git's own directory for this worktree, `<common>/worktrees/<id>`.
    pub git_dir: PathBuf,
}

/// What is recorded of a worktree. Whether it is still there is looked at, not recorded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorktreeState {
    /// It is wanted; something of it may be there.
    Making,
    /// It was made.
    Ready { git_dir: PathBuf },
    /// Its removal was begun and goes on after a crash.
    Removing {
        git_dir: PathBuf,
        how: WorktreeRemoval,
    },
    /// It is gone; its branch is not.
    Removed { at: Timestamp },
}

/// How to treat what the removal of a worktree would lose.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WorktreeRemoval {
    /// Refuse when there is any risk.
    #[default]
    Refuse,
    /// Save everything under a reference first, and refuse when ignored files are too large to be saved.
    Rescue,
    /// Save everything first but the largest ignored files, which are deleted for good.
    RescueButIgnored,
}

/// What happens to a worktree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WorktreeStep {
    /// It was made.
    Made { git_dir: PathBuf, base_sha: String },
    /// Its removal begins.
    Remove { how: WorktreeRemoval },
    /// Its removal was refused; all of it is still there.
    Kept,
    /// It is gone, or could never be made.
    Gone { at: Timestamp },
}

/// A worktree in this state cannot take this step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the worktree is {}", state.as_str())]
pub struct WorktreeRefusal {
    pub state: WorktreeStateName,
}

/// A state without its details, for filters and columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WorktreeStateName {
    Making,
    Ready,
    Removing,
    Removed,
}

impl Worktree {
    /// Moves the worktree on. The only way its state changes.
    pub fn apply(&mut self, step: WorktreeStep) -> Result<(), WorktreeRefusal> {
        let next = match (&self.state, step) {
            (WorktreeState::Making, WorktreeStep::Made { git_dir, base_sha }) => {
                self.base_sha = Some(base_sha);
                WorktreeState::Ready { git_dir }
            }
            (
                WorktreeState::Ready { git_dir } | WorktreeState::Removing { git_dir, .. },
                WorktreeStep::Remove { how },
            ) => WorktreeState::Removing {
                git_dir: git_dir.clone(),
                how,
            },
            (WorktreeState::Removing { git_dir, .. }, WorktreeStep::Kept) => WorktreeState::Ready {
                git_dir: git_dir.clone(),
            },
            (WorktreeState::Making | WorktreeState::Removing { .. }, WorktreeStep::Gone { at }) => {
                WorktreeState::Removed { at }
            }
            (state, _) => {
                let state = state.name();
                return Err(WorktreeRefusal { state });
            }
        };
        self.state = next;
        Ok(())
    }

    /// Returns where it is, once it was made and until it is gone.
    pub fn paths(&self) -> Option<WorktreePaths> {
        let git_dir = self.state.git_dir()?.clone();
        let path = self.path.clone();
        Some(WorktreePaths { path, git_dir })
    }
}

impl WorktreeState {
    /// Returns the state without its details.
    pub fn name(&self) -> WorktreeStateName {
        match self {
            Self::Making => WorktreeStateName::Making,
            Self::Ready { .. } => WorktreeStateName::Ready,
            Self::Removing { .. } => WorktreeStateName::Removing,
            Self::Removed { .. } => WorktreeStateName::Removed,
        }
    }

    /// Returns git's own directory for the worktree, once it was made and until it is gone.
    pub fn git_dir(&self) -> Option<&PathBuf> {
        match self {
            Self::Ready { git_dir } | Self::Removing { git_dir, .. } => Some(git_dir),
            Self::Making | Self::Removed { .. } => None,
        }
    }
}

impl WorktreeStateName {
    /// Every state.
    pub const ALL: [Self; 4] = [Self::Making, Self::Ready, Self::Removing, Self::Removed];

    /// Returns the name in the database and in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Making => "making",
            Self::Ready => "ready",
            Self::Removing => "removing",
            Self::Removed => "removed",
        }
    }

    /// Reads a name back from its text.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|name| name.as_str() == text)
    }
}

impl WorktreeRemoval {
    /// Every way.
    pub const ALL: [Self; 3] = [Self::Refuse, Self::Rescue, Self::RescueButIgnored];

    /// Returns the way as stored.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Refuse => "refuse",
            Self::Rescue => "rescue",
            Self::RescueButIgnored => "rescue_but_ignored",
        }
    }

    /// Reads a way back from its text.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|how| how.as_str() == text)
    }
}

/// Which worktrees a list holds. Everything left open matches; without states, those that are not removed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WorktreeFilter {
    pub repo: Option<RepoId>,
    pub board: Option<BoardId>,
    /// Those that belong to a board or lie on it.
    pub on_board: Option<BoardId>,
    pub states: Vec<WorktreeStateName>,
    /// Only those in which no session is at work that could go on.
    pub finished: bool,
}

#[cfg(test)]
#[path = "worktree_tests.rs"]
mod tests;
