//! What callers are told when something cannot be done with a worktree.

use wh_domain::{ErrorCode, WorktreeRefusal};
use wh_git::{Missing, WorktreeError};

use crate::AppError;

impl From<WorktreeError> for AppError {
    fn from(error: WorktreeError) -> Self {
        let message = error.to_string();
        let conflict = |hint: &str| Self::new(ErrorCode::Conflict, message.clone()).hint(hint);
        let invalid = |hint: &str| Self::invalid(message.clone()).hint(hint);
        match error {
            WorktreeError::Missing { why, .. } => missing(why),
            WorktreeError::BranchExists { .. } => {
                conflict("leave the base out to work on that branch, or choose another name")
            }
            WorktreeError::NoBranch { .. } => {
                invalid("name a branch of the repository, or a commit by all its digits")
            }
            WorktreeError::NoCommit => {
                invalid("name a commit that the repository has, or commit something first")
            }
            WorktreeError::CheckedOut { .. } => {
                conflict("work there, or choose another branch: git checks a branch out once")
            }
            WorktreeError::RootInsideCheckout { .. } => {
                conflict("start the server with a --data-dir outside of the repository")
            }
            WorktreeError::Git(error) => error.into(),
            WorktreeError::Foreign { .. }
            | WorktreeError::Taken { .. }
            | WorktreeError::Name { .. }
            | WorktreeError::Directory { .. } => {
                Self::new(ErrorCode::Unavailable, message).caused_by(error)
            }
        }
    }
}

/// The answer for a worktree that was taken away behind our back.
pub(crate) fn missing(why: Missing) -> AppError {
    let what = match why {
        Missing::DirectoryGone => "the worktree's directory is gone",
        Missing::Replaced => "something else lies where the worktree's directory was",
        Missing::GitDirGone => "git does not know the worktree any more",
    };
    AppError::new(ErrorCode::Conflict, what)
        .hint("its branch is kept: worktree_remove tidies up, then make another worktree of the branch")
        .detail("missing", true)
}

impl From<WorktreeRefusal> for AppError {
    fn from(refusal: WorktreeRefusal) -> Self {
        Self::new(ErrorCode::Conflict, refusal.to_string())
            .hint("worktree_list shows the worktrees there are")
            .detail("state", refusal.state.as_str())
    }
}

/// Tells whether trying again cannot help, so that what was wanted is given up.
pub(crate) fn is_final(error: &AppError) -> bool {
    !matches!(error.code, ErrorCode::Unavailable | ErrorCode::Internal)
}
