//! Refusals and failures of committing and merging.

use serde_json::Value;
use wh_domain::{Advice, ArgumentValue, BranchName, ErrorCode};
use wh_git::{CommitError, MergeError};

use super::{Details, Explain};
use crate::worktree::FILES_NAMED_MAX;

/// Why a worktree was not committed or merged.
#[derive(Debug, thiserror::Error)]
pub enum MergeReason {
    #[error("the repository has no default branch")]
    NoDefaultBranch,
    /// Checked out somewhere the caller may not know of.
    #[error("the target branch is checked out in another worktree")]
    CheckedOut,
    #[error("the worktree has {found} checked out instead of branch \"{branch}\"")]
    OtherBranch { found: String, branch: BranchName },
    #[error("the worktree has uncommitted changes, which would not be merged")]
    Uncommitted { files: Vec<String> },
    #[error("a session that you cannot access uses the worktree")]
    UsedByOthers,
    #[error("session {session} is working in the worktree")]
    SessionAtWork { session: String },
    #[error("branch \"{branch}\" is checked out elsewhere or has commits that were not merged")]
    BranchKept { branch: BranchName },
}

impl Explain for MergeReason {
    fn code(&self) -> ErrorCode {
        match self {
            Self::NoDefaultBranch => ErrorCode::InvalidInput,
            Self::CheckedOut
            | Self::OtherBranch { .. }
            | Self::Uncommitted { .. }
            | Self::UsedByOthers
            | Self::SessionAtWork { .. }
            | Self::BranchKept { .. } => ErrorCode::Conflict,
        }
    }

    fn advice(&self) -> Vec<Advice> {
        let unchanged = Advice::note("nothing was changed");
        let keep = Advice::omit("remove_after", "merge and keep the worktree");
        match self {
            Self::NoDefaultBranch => vec![Advice::set(
                "into",
                ArgumentValue::Placeholder("BRANCH"),
                "name the branch to merge into",
            )],
            Self::CheckedOut => vec![
                Advice::note("the target branch was not changed"),
                Advice::note("merge into another branch, or in that worktree"),
            ],
            Self::OtherBranch { .. } => vec![
                Advice::note("nothing was committed"),
                Advice::note("check out its branch there, or commit there yourself"),
            ],
            Self::Uncommitted { .. } => vec![
                Advice::set(
                    "commit",
                    ArgumentValue::Placeholder("MESSAGE"),
                    "commit the changes first",
                ),
                Advice::set(
                    "leave_uncommitted",
                    ArgumentValue::Flag(true),
                    "merge without these files",
                ),
            ],
            Self::UsedByOthers => vec![unchanged, keep],
            Self::SessionAtWork { .. } => {
                vec![unchanged, Advice::note("wait for it or stop it"), keep]
            }
            Self::BranchKept { .. } => Vec::new(),
        }
    }

    fn details(&self) -> Details {
        match self {
            Self::Uncommitted { files } => [("files".to_owned(), Value::from(files.clone()))]
                .into_iter()
                .collect(),
            _ => Details::new(),
        }
    }
}

impl Explain for CommitError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Nothing | Self::NoMessage | Self::Identity => ErrorCode::InvalidInput,
            Self::InProgress { .. } => ErrorCode::Conflict,
            Self::Path(error) => error.code(),
            Self::Worktree(error) => error.code(),
            Self::Git(error) => error.code(),
        }
    }

    fn advice(&self) -> Vec<Advice> {
        match self {
            Self::InProgress { .. } => vec![
                Advice::note("nothing was committed"),
                Advice::note("finish or abort it in the worktree"),
            ],
            Self::Nothing | Self::NoMessage | Self::Identity => Vec::new(),
            Self::Path(error) => error.advice(),
            Self::Worktree(error) => error.advice(),
            Self::Git(error) => error.advice(),
        }
    }
}

impl Explain for MergeError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Conflicts { .. } | Self::Dirty { .. } | Self::CheckedOut { .. } | Self::Moved => {
                ErrorCode::Conflict
            }
            Self::NoBranch { .. } => ErrorCode::InvalidInput,
            // A merge has a message and an author, so git refuses nothing else.
            Self::Commit(_) => ErrorCode::InvalidInput,
            Self::Worktree(error) => error.code(),
            Self::Git(error) => error.code(),
        }
    }

    fn advice(&self) -> Vec<Advice> {
        let unchanged = |text: &'static str| {
            vec![
                Advice::note("the target branch was not changed"),
                Advice::note(text),
            ]
        };
        match self {
            Self::Conflicts { .. } => unchanged(
                "merge it into the worktree's branch, resolve the conflicts, commit, and try again",
            ),
            Self::Dirty { .. } => unchanged("commit or stash the changes there"),
            Self::Moved => unchanged("try again"),
            Self::NoBranch { .. } => vec![Advice::note("name a branch of the repository")],
            Self::CheckedOut { .. } => Vec::new(),
            Self::Commit(error) => error.advice(),
            Self::Worktree(error) => error.advice(),
            Self::Git(error) => error.advice(),
        }
    }

    fn details(&self) -> Details {
        let (name, value) = match self {
            Self::Conflicts { files } => {
                let shown = files.iter().take(FILES_NAMED_MAX);
                let shown: Vec<_> = shown.map(|path| path.display().to_string()).collect();
                ("conflicts", Value::from(shown))
            }
            Self::Dirty { at } => ("at", Value::from(at.display().to_string())),
            _ => return Details::new(),
        };
        [(name.to_owned(), value)].into_iter().collect()
    }
}
