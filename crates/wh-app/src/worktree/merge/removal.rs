//! Removing what a merge leaves behind: the worktree and its branch.

use std::time::Duration;

use wh_domain::{
    MergeRemoval, Operation, Reach, Reference, Repo, SessionAction, SessionStateName, ShortId,
    Worktree, WorktreeMerged, WorktreeRemoval,
};

use crate::{App, MergeReason, OpContext, Result, context::facts};

/// How long a removal waits for the processes of the worktree's sessions to end.
const STOP_WITHIN: Duration = Duration::from_secs(15);

impl App {
    /// Refuses while an agent works in a worktree that is to be removed, or somebody else uses it.
    pub(super) async fn refuse_if_busy(&self, reach: Reach, worktree: &Worktree) -> Result<()> {
        use SessionStateName::{Idle, Interrupted, Stopped};
        let all = self.sessions_at_work(Reach::All, worktree).await?;
        let own = self.sessions_at_work(reach, worktree).await?;
        if own.len() < all.len() {
            return Err(MergeReason::UsedByOthers.into());
        }
        let busy = own
            .iter()
            .find(|session| !matches!(session.state.name(), Idle | Interrupted | Stopped));
        match busy {
            None => Ok(()),
            Some(session) => {
                let session = session.id.short_id();
                Err(MergeReason::SessionAtWork { session }.into())
            }
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
        if let Err(error) = removed.await {
            removal.not_removed = Some(error.fitted_to(&cx.principal).in_words());
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
            let branch = branch.clone();
            return Err(MergeReason::BranchKept { branch }.into());
        }
        removal.is_branch_deleted = true;
        let facts = facts([("deleted_branch", branch.as_str())]);
        let record = cx.commit(Operation::WorktreeMerge, worktree.id.into(), facts, vec![]);
        let _applied = self.store.record(record).await?;
        Ok(())
    }
}
