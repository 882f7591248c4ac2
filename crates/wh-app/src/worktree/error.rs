//! What callers are told when something cannot be done with a worktree.

use std::path::Path;

use wh_domain::{
    BranchName, ErrorCode, PageLimit, PageRequest, Reach, Repo, RepoState, WorktreeFilter,
};

use crate::{App, AppError, Result, WorktreeReason};

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
                let (branch, at) = (branch.clone(), at.to_owned());
                WorktreeReason::CheckedOutAt { branch, at }.into()
            }
            Ok(false) => {
                let branch = branch.clone();
                WorktreeReason::CheckedOut { branch }.into()
            }
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

/// Tells whether trying again cannot help, so that what was wanted is given up.
pub(crate) fn is_final(error: &AppError) -> bool {
    !matches!(error.code(), ErrorCode::Unavailable | ErrorCode::Internal)
}
