//! What a merge does with changes that are not committed.

use std::sync::Arc;

use wh_domain::{Description, EventKind, NewEvent, Operation, Repo, Worktree};
use wh_git::{CommitError, Identity, PrivateClone, What, WorktreeHandle};

use super::{super::look::status, FILES_NAMED_MAX, worktree_event};
use crate::{App, MergeReason, OpContext, Result, context::facts};

impl App {
    /// Commits everything that is not committed in a worktree, without hooks and filters of the repository. Returns the new commit,
    /// or nothing when there was nothing to commit.
    pub(super) async fn commit_all(
        &self,
        cx: &OpContext,
        repo: &Repo,
        worktree: &Worktree,
        handle: &WorktreeHandle,
        message: &Description,
        who: &Identity,
    ) -> Result<Option<String>> {
        self.refuse_other_branch(handle, worktree).await?;
        let (store, cx) = (Arc::clone(&self.store), cx.clone());
        let (handle, message, who) = (handle.clone(), message.to_string(), who.clone());
        let of = worktree.clone();
        // Without an audit entry nobody would be recorded as the author.
        let committed = self.to_the_end(async move {
            let made = match handle.commit(&What::All, &message, &who, cx.now).await {
                Err(CommitError::Nothing) => return Ok(None),
                made => made?.to_string(),
            };
            let facts = facts([("committed", &made)]);
            let event = NewEvent {
                actor: Some(cx.principal.user),
                ..worktree_event(EventKind::Updated, &of, facts.clone())
            };
            let operation = Operation::WorktreeMerge;
            let mut record = cx.commit(operation, of.id.into(), facts, vec![event]);
            // The merge takes the idempotency key: a retry has to go on from here.
            record.idempotency = None;
            let _applied = store.worktree_touch(of.id, record).await?;
            Ok(Some(made))
        });
        let committed = committed.await?;
        if committed.is_some() && self.runs.containment.clone_dir(worktree.id).exists() {
            // The agent would take what is committed now for its own uncommitted changes.
            self.private_clone(repo, worktree).await?;
        }
        Ok(committed)
    }

    /// Refuses to commit to a branch that is not the one to be merged.
    async fn refuse_other_branch(
        &self,
        handle: &WorktreeHandle,
        worktree: &Worktree,
    ) -> Result<()> {
        let dir = self.runs.containment.clone_dir(worktree.id);
        let branch = match PrivateClone::open(handle, &dir)? {
            Some(clone) => clone.worktree().branch().await?,
            None => handle.branch().await?,
        };
        if branch.as_ref() == Some(&worktree.branch) {
            return Ok(());
        }
        let found = match branch {
            Some(branch) => format!("branch \"{branch}\""),
            None => "a detached HEAD".to_owned(),
        };
        let branch = worktree.branch.clone();
        Err(MergeReason::OtherBranch { found, branch }.into())
    }
}

/// Refuses to merge less than what lies in the worktree.
pub(super) async fn refuse_uncommitted(handle: &WorktreeHandle, worktree: &Worktree) -> Result<()> {
    let status = status(handle, worktree).await?;
    if status.is_clean() {
        return Ok(());
    }
    let lists = [&status.staged, &status.unstaged, &status.untracked];
    let mut files: Vec<_> = lists
        .into_iter()
        .flatten()
        .map(|p| p.display().to_string())
        .collect();
    files.sort();
    files.dedup();
    files.truncate(FILES_NAMED_MAX);
    Err(MergeReason::Uncommitted { files }.into())
}
