//! Refusals and failures of worktrees and the files in them.

use std::path::PathBuf;

use serde_json::{Value, json};
use wh_domain::{Advice, ArgumentValue, BranchName, ErrorCode, Operation, WorktreeRefusal};
use wh_git::{FileError, Missing, RemoveError, Risk, WorktreeError};

use super::{Details, Explain};
use crate::worktree::risk_fact;

/// Why something about a worktree was refused.
#[derive(Debug, thiserror::Error)]
pub enum WorktreeReason {
    /// Checked out somewhere the caller may not know of.
    #[error("branch \"{branch}\" is checked out in another worktree")]
    CheckedOut { branch: BranchName },
    #[error("branch \"{branch}\" is checked out at {at}")]
    CheckedOutAt { branch: BranchName, at: PathBuf },
    #[error("{}", missing(*.0))]
    Missing(Missing),
    #[error("name or branch is required")]
    NameRequired,
    #[error("the commit at which the worktree began is not known")]
    BaseUnknown,
    #[error("the worktree has no directory")]
    NoDirectory,
    #[error("a session that has not ended works in the worktree")]
    InUse {
        /// The sessions that the caller can access.
        sessions: Vec<String>,
    },
    #[error("session {session} works in {path}, not in a worktree")]
    SessionInPlace { session: String, path: PathBuf },
    #[error("session {session} works in no repository")]
    SessionWithoutRepo { session: String },
}

fn missing(why: Missing) -> &'static str {
    match why {
        Missing::DirectoryGone => "the worktree's directory is gone",
        Missing::Replaced => "the worktree's directory was replaced by something else",
        Missing::GitDirGone => "git no longer knows the worktree",
    }
}

fn detail(name: &str, value: impl Into<Value>) -> Details {
    [(name.to_owned(), value.into())].into_iter().collect()
}

impl Explain for WorktreeReason {
    fn code(&self) -> ErrorCode {
        match self {
            Self::CheckedOut { .. }
            | Self::CheckedOutAt { .. }
            | Self::Missing(_)
            | Self::InUse { .. } => ErrorCode::Conflict,
            Self::NameRequired
            | Self::BaseUnknown
            | Self::NoDirectory
            | Self::SessionInPlace { .. }
            | Self::SessionWithoutRepo { .. } => ErrorCode::InvalidInput,
        }
    }

    fn advice(&self) -> Vec<Advice> {
        let note = |text: &'static str| vec![Advice::note(text)];
        let start = || {
            Advice::call_with(
                Operation::SessionCreate,
                [("repo", ArgumentValue::Placeholder("REPO"))],
                "start a session that has a worktree",
            )
        };
        match self {
            Self::CheckedOut { .. } => note("choose another branch or remove that worktree"),
            Self::CheckedOutAt { .. } => note("work there, or choose another branch"),
            Self::Missing(_) => vec![
                Advice::note("its branch is kept"),
                Advice::call_with(
                    Operation::WorktreeRemove,
                    [("worktree", ArgumentValue::ID)],
                    "remove what is left of it",
                ),
                Advice::note("then create another worktree of the branch"),
            ],
            Self::NameRequired => {
                note("a name says what the worktree is for; its branch is named after it")
            }
            Self::InUse { .. } => vec![
                Advice::note("end or archive its sessions first"),
                Advice::call_with(
                    Operation::WorktreeGet,
                    [("worktree", ArgumentValue::ID)],
                    "see its sessions",
                ),
            ],
            Self::SessionInPlace { path, .. } => vec![
                Advice::note(format!(
                    "see `git -C {} diff`, if that is a git repository",
                    path.display()
                )),
                start(),
            ],
            Self::SessionWithoutRepo { .. } => vec![
                start(),
                Advice::call(Operation::RepoList, "list the repositories you can access"),
            ],
            Self::BaseUnknown | Self::NoDirectory => Vec::new(),
        }
    }

    fn details(&self) -> Details {
        match self {
            Self::CheckedOutAt { at, .. } => detail("at", at.display().to_string()),
            Self::Missing(_) => detail("missing", true),
            Self::InUse { sessions } => detail("sessions", sessions.clone()),
            Self::CheckedOut { .. }
            | Self::NameRequired
            | Self::BaseUnknown
            | Self::NoDirectory
            | Self::SessionInPlace { .. }
            | Self::SessionWithoutRepo { .. } => Details::new(),
        }
    }
}

impl Explain for WorktreeRefusal {
    fn code(&self) -> ErrorCode {
        ErrorCode::Conflict
    }

    fn advice(&self) -> Vec<Advice> {
        vec![Advice::call(
            Operation::WorktreeList,
            "list the worktrees you can access",
        )]
    }

    fn details(&self) -> Details {
        detail("state", self.state.as_str())
    }
}

impl Explain for WorktreeError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Missing { .. }
            | Self::BranchExists { .. }
            | Self::CheckedOut { .. }
            | Self::RootInsideCheckout { .. } => ErrorCode::Conflict,
            Self::NoBranch { .. } | Self::NoCommit => ErrorCode::InvalidInput,
            Self::TooLarge { .. } => ErrorCode::LimitExceeded,
            Self::Git(error) => error.code(),
            Self::Foreign { .. }
            | Self::Taken { .. }
            | Self::Name { .. }
            | Self::Directory { .. } => ErrorCode::Unavailable,
        }
    }

    fn advice(&self) -> Vec<Advice> {
        let note = |text: &'static str| vec![Advice::note(text)];
        match self {
            Self::BranchExists { .. } => vec![
                Advice::omit("base", "work on that branch"),
                Advice::note("or choose another name"),
            ],
            Self::NoBranch { .. } => {
                note("name a branch of the repository, or a commit by its full id")
            }
            Self::NoCommit => note("name a commit of the repository, or commit something first"),
            Self::RootInsideCheckout { .. } => {
                note("start the server with a data directory outside of the repository")
            }
            Self::TooLarge { what, .. } => vec![Advice::config_file(
                "repos",
                format!("checkout_{what}_max"),
                "raise the limit",
            )],
            Self::Git(error) => error.advice(),
            // What callers are told of these is a `WorktreeReason`.
            Self::Missing { .. } | Self::CheckedOut { .. } => Vec::new(),
            Self::Foreign { .. }
            | Self::Taken { .. }
            | Self::Name { .. }
            | Self::Directory { .. } => Vec::new(),
        }
    }
}

/// Returns the message of a removal that was refused or failed.
pub(super) fn removal(error: &RemoveError) -> String {
    match error {
        RemoveError::Risky { .. } => {
            "removing the worktree would lose changes or end processes".to_owned()
        }
        RemoveError::NotSaved => "the saved copy differs from the worktree".to_owned(),
        error => error.to_string(),
    }
}

impl Explain for RemoveError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Risky { .. } | Self::IgnoredTooLarge { .. } | Self::Changed { .. } => {
                ErrorCode::Conflict
            }
            Self::Worktree(error) => error.code(),
            Self::Git(error) => error.code(),
            Self::NotSaved | Self::Files(_) | Self::Fault(_) => ErrorCode::Unavailable,
        }
    }

    fn advice(&self) -> Vec<Advice> {
        let kept = Advice::note("nothing was deleted");
        match self {
            Self::Risky { risks } if risks.iter().any(Risk::stops_rescue) => vec![
                kept,
                Advice::note(
                    "this cannot be saved first: end the processes, unlock the worktree, or move inner repositories out",
                ),
            ],
            Self::Risky { .. } => vec![
                kept,
                Advice::note("commit and merge the changes"),
                Advice::set(
                    "rescue",
                    ArgumentValue::Flag(true),
                    "save everything under a git reference first",
                ),
            ],
            Self::IgnoredTooLarge { .. } => vec![
                kept,
                Advice::note("delete build output"),
                Advice::set(
                    "discard_ignored",
                    ArgumentValue::Flag(true),
                    "delete ignored files without saving them",
                ),
            ],
            Self::Changed { .. } => vec![Advice::note(
                "a process is still writing there; end it and try again",
            )],
            Self::Worktree(error) => error.advice(),
            Self::Git(error) => error.advice(),
            Self::NotSaved | Self::Files(_) | Self::Fault(_) => vec![Advice::note(
                "what was not deleted yet is still there; try again",
            )],
        }
    }

    fn details(&self) -> Details {
        match self {
            Self::Risky { risks } => {
                let named: Vec<Value> = risks.iter().map(risk_fact).collect();
                detail("risks", named)
            }
            Self::IgnoredTooLarge { bytes, bytes_max } => [
                ("bytes".to_owned(), json!(bytes)),
                ("bytes_max".to_owned(), json!(bytes_max)),
            ]
            .into_iter()
            .collect(),
            _ => Details::new(),
        }
    }
}

/// Returns the message of a file that cannot be read.
pub(super) fn file(error: &FileError) -> String {
    match error {
        FileError::Path { .. } => "the path is not inside the worktree".to_owned(),
        FileError::Kind => "the path is neither a file, a link nor a directory".to_owned(),
        error => error.to_string(),
    }
}

impl Explain for FileError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::Path { .. } | Self::Kind | Self::Read(_) => ErrorCode::InvalidInput,
            Self::NotFound => ErrorCode::NotFound,
            Self::Worktree(error) => error.code(),
        }
    }

    fn advice(&self) -> Vec<Advice> {
        match self {
            Self::Path { .. } => vec![Advice::note(
                "give a path relative to the worktree's top, without `..`, links or `.git`",
            )],
            Self::Read(_) => vec![Advice::note("links are shown, not followed")],
            Self::Kind | Self::NotFound => Vec::new(),
            Self::Worktree(error) => error.advice(),
        }
    }
}
