//! Removing what a merge leaves behind: the worktree and its branch.

use std::time::Duration;

use wh_domain::{
    ErrorCode, MergeRemoval, Operation, Reach, Reference, Repo, SessionAction, SessionStateName,
    ShortId, Worktree, WorktreeMerged, WorktreeRemoval,
};

use crate::{App, AppError, OpContext, Result, context::facts};

/// How long a removal waits for the processes of the worktree's sessions to end.
const STOP_WITHIN: Duration = Duration::from_secs(15);

impl App {
    /// Refuses while an agent works in a worktree that is to be removed, or somebody else uses it.
    pub(super) async fn refuse_if_busy(&self, reach: Reach, worktree: &Worktree) -> Result<()> {
        use SessionStateName::{Idle, Interrupted, Stopped};
        let conflict =
            |message: &str, hint: &str| Err(AppError::new(ErrorCode::Conflict, message).hint(hint));
        let all = self.sessions_at_work(Reach::All, worktree).await?;
        let own = self.sessions_at_work(reach, worktree).await?;
        if own.len() < all.len() {
            let message = "a session that you cannot access uses the worktree";
            return conflict(message, "nothing was changed; merge without remove_after");
        }
        let busy = own
            .iter()
            .find(|session| !matches!(session.state.name(), Idle | Interrupted | Stopped));
        match busy {
            None => Ok(()),
            Some(session) => conflict(
                &format!(
                    "session {} is at work in the worktree",
                    session.id.short_id()
                ),
                "nothing was changed; wait for it or stop it, or merge without remove_after",
            ),
        }
    }

    /// Archives the sessions of a merged worktree, removes it and deletes its branch. The merge is done by then, so that what cannot be
    /// removed is part of the answer.
    pub(super) async fn remove_merged(
        &self,
        cx: &OpContext,
        reach: Reach,
        repo: &Repo,
        merged: &WorktreeMerged,
    ) -> MergeRemoval {
        let mut removal = MergeRemoval::default();
        let removed = self.try_remove_merged(cx, reach, repo, merged, &mut removal);
        if let Err(AppError { message, hint, .. }) = removed.await {
            let hint = hint.map(|hint| format!("; {hint}"));
            removal.not_removed = Some(message + hint.as_deref().unwrap_or_default());
        }
        removal
    }

    async fn try_remove_merged(
        &self,
        cx: &OpContext,
        reach: Reach,
        repo: &Repo,
        merged: &WorktreeMerged,
        removal: &mut MergeRemoval,
    ) -> Result<()> {
        let worktree = &merged.worktree;
        // The merge has taken the idempotency key.
        let cx = &OpContext {
            idempotency: None,
            ..cx.clone()
        };
        let mut archived = Vec::new();
        for session in self.sessions_at_work(reach, worktree).await? {
            let reference = Reference::from(session.id);
            self.session_manage(cx, &reference, SessionAction::Archive)
                .await?;
            archived.push(session.id);
        }
        self.session_stop_wait(&archived, STOP_WITHIN).await?;
        let reference = Reference::from(worktree.id);
        let gone = self
            .worktree_remove(cx, &reference, WorktreeRemoval::Rescue)
            .await?;
        removal.is_worktree_removed = true;
        removal.rescue = gone.rescue;
        let _lock = self.repo_locks.take(repo.id).await;
        let (branch, into) = (&worktree.branch, &merged.into);
        let repo = self.repo_handle(repo)?;
        if !repo.branch_delete_merged(branch, into).await? {
            let message = format!(
                "branch \"{branch}\" is checked out elsewhere or has commits that were not merged"
            );
            return Err(AppError::new(ErrorCode::Conflict, message));
        }
        removal.is_branch_deleted = true;
        let facts = facts([("deleted_branch", branch.as_str())]);
        let record = cx.commit(Operation::WorktreeMerge, worktree.id.into(), facts, vec![]);
        let _applied = self.store.record(record).await?;
        Ok(())
    }
}
