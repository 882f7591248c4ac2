//! What callers are told when something cannot be done with a worktree.

use std::path::Path;

use wh_domain::{
    BranchName, ErrorCode, PageLimit, PageRequest, Reach, Repo, RepoState, WorktreeFilter,
    WorktreeRefusal,
};
use wh_git::{Missing, WorktreeError};

use crate::{App, AppError, Result};

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
            WorktreeError::CheckedOut { branch, .. } => checked_out_elsewhere(&branch),
            WorktreeError::RootInsideCheckout { .. } => {
                conflict("start the server with a --data-dir outside of the repository")
            }
            WorktreeError::TooLarge { what, .. } => {
                Self::new(ErrorCode::LimitExceeded, message).hint(format!(
                    "an administrator can raise checkout_{what}_max of [repos] in the configuration file"
                ))
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

/// The answer for a branch that is checked out somewhere the caller may not know of: it names no path.
pub(crate) fn checked_out_elsewhere(branch: &BranchName) -> AppError {
    let message = format!("branch \"{branch}\" is checked out in another worktree");
    AppError::new(ErrorCode::Conflict, message)
        .hint("choose another branch, or remove that worktree: git checks a branch out once")
}

impl App {
    /// The answer for a branch that is checked out elsewhere. It names where only if the caller can see that checkout.
    pub(crate) async fn checked_out(
        &self,
        reach: Reach,
        repo: &Repo,
        branch: &BranchName,
        at: &Path,
    ) -> AppError {
        match self.sees_checkout(reach, repo, at).await {
            Ok(true) => {
                let at = at.display().to_string();
                let message = format!("branch \"{branch}\" is checked out at {at}");
                AppError::new(ErrorCode::Conflict, message)
                    .hint("work there, or choose another branch: git checks a branch out once")
                    .detail("at", at)
            }
            Ok(false) => checked_out_elsewhere(branch),
            Err(error) => error,
        }
    }

    /// Tells whether a caller can see a checkout: that of the repository itself, or a worktree within reach.
    pub(crate) async fn sees_checkout(&self, reach: Reach, repo: &Repo, at: &Path) -> Result<bool> {
        if let RepoState::Ready(paths) = &repo.state
            && paths.work_tree.as_deref() == Some(at)
        {
            return Ok(true);
        }
        let filter = WorktreeFilter {
            repo: Some(repo.id),
            ..WorktreeFilter::default()
        };
        let mut page = PageRequest::first(PageLimit::MAX);
        loop {
            let found = self.store.worktree_list(reach, &filter, page).await?;
            if found.items.iter().any(|worktree| worktree.path == at) {
                return Ok(true);
            }
            match found.next {
                Some(after) => page.after = Some(after),
                None => return Ok(false),
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
