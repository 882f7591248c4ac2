//! Removing worktrees without losing anything.

use wh_domain::{
    EventKind, Facts, NewEvent, Operation, Reach, Reference, ShortId, Worktree, WorktreeGone,
    WorktreeRemoval, WorktreeState, WorktreeStep,
};
use wh_git::{IgnoredFiles, Removal, Removed, RescueLabel, RescueOf};
use wh_store::IdempotencyClaim;

use super::{error::is_final, make::worktree_event, terms::texts};
use crate::{App, AppError, OpContext, Result, WorktreeReason, context::facts};

/// The most bytes of ignored files, such as build output, that a rescue saves.
const IGNORED_BYTES_MAX: u64 = 100 << 20;

impl App {
    /// Removes a worktree; its branch stays. Refuses when something would be lost, unless it is to be saved first.
    pub async fn worktree_remove(
        &self,
        cx: &OpContext,
        worktree: &Reference,
        how: WorktreeRemoval,
    ) -> Result<WorktreeGone> {
        let operation = Operation::WorktreeRemove;
        let facts = facts([("worktree", worktree.as_str()), ("how", how.as_str())]);
        self.change(cx, operation, facts.clone(), async {
            let reach = cx.authorize(operation)?;
            let worktree = self.worktree_lookup(reach, worktree).await?;
            self.refuse_if_used(reach, &worktree).await?;
            if worktree.state == WorktreeState::Making {
                // What is half made is finished first: then it is known what there is to delete.
                let made = self.worktree_ensure(worktree.id).await;
                made.map(drop).or_else(only_if_final)?;
            }
            let _lock = self.repo_locks.take(worktree.repo).await;
            // A repeat goes by what became of the worktree; only another request with the same mark is refused. The mark
            // is taken when the worktree is gone, so that a refusal does not use it up.
            let claim = cx.claim(operation, worktree.id.into());
            let mut is_replay = false;
            if let Some(claim) = &claim {
                is_replay = self.store.replayed(claim, cx.now).await?.is_some();
            }
            let before = self.worktree_by_id(worktree.id).await?;
            if let WorktreeState::Removed { .. } = before.state {
                if is_replay {
                    let record = cx.commit(operation, worktree.id.into(), facts, vec![]);
                    let _applied = self.store.record(record).await?;
                }
                return self.remove_now(reach, before, None).await;
            }
            let mut worktree = before.clone();
            worktree.apply(WorktreeStep::Remove { how })?;
            let events = vec![NewEvent {
                actor: Some(cx.principal.user),
                ..worktree_event(EventKind::StateChanged, &worktree, Facts::new())
            }];
            let mut commit = cx.commit(operation, worktree.id.into(), facts, events);
            commit.idempotency = None;
            let _applied = self.store.worktree_move(&before, &worktree, commit).await?;
            self.remove_now(reach, worktree, claim).await
        })
        .await
    }

    /// Goes on with a removal that is recorded; the caller has the repository's lock.
    pub(super) async fn remove_now(
        &self,
        reach: Reach,
        worktree: Worktree,
        claim: Option<IdempotencyClaim>,
    ) -> Result<WorktreeGone> {
        let WorktreeState::Removing { how, .. } = worktree.state else {
            return Ok(gone(worktree, Removed::default()));
        };
        let removed = match self.try_remove(reach, &worktree, how).await {
            Ok(removed) => removed,
            Err(error) => {
                // What was begun and cannot be finished now is gone on with later; what was refused is kept.
                if is_final(&error) {
                    let facts = facts([("reason", &error.to_string())]);
                    self.worktree_step(&worktree, WorktreeStep::Kept, facts, None)
                        .await?;
                }
                return Err(error);
            }
        };
        let saved = removed.rescue.as_ref().map_or("", |r| &r.reference);
        let at = self.clock.now();
        let facts = facts([("rescue", saved)]);
        let worktree = self
            .worktree_step(&worktree, WorktreeStep::Gone { at }, facts, claim)
            .await?;
        Ok(gone(worktree, removed))
    }

    async fn try_remove(
        &self,
        reach: Reach,
        worktree: &Worktree,
        how: WorktreeRemoval,
    ) -> Result<Removed> {
        // A session may have begun here between the first look and the record.
        self.refuse_if_used(reach, worktree).await?;
        let repo = self.repo_by_id(worktree.repo).await?;
        // Whoever looks at its files now is waited for: git would be taken for somebody's work, or find half of them.
        let _alone = self.worktree_locks.take(worktree.id).await;
        let handle = self.worktree_handle(&repo, worktree)?;
        let is_fetched = match how {
            WorktreeRemoval::Refuse => {
                self.worktree_handle_fetched(&repo, worktree).await?;
                true
            }
            WorktreeRemoval::Rescue | WorktreeRemoval::RescueButIgnored => {
                self.private_clone_empty(&handle, worktree).await
            }
        };
        let last = self.sessions_in(Reach::All, worktree).await?;
        let of = match last.first() {
            Some(session) => RescueOf::Session(session.id),
            None => RescueOf::Worktree(worktree.id),
        };
        let at = self.clock.now();
        let bytes_max = IGNORED_BYTES_MAX;
        let removal = match how {
            WorktreeRemoval::Refuse => Removal::RefuseIfAnyRisk,
            WorktreeRemoval::Rescue => Removal::RescueFirst {
                ignored: IgnoredFiles::SaveOrRefuse { bytes_max },
            },
            WorktreeRemoval::RescueButIgnored => Removal::RescueFirst {
                ignored: IgnoredFiles::SaveOrDiscard { bytes_max },
            },
        };
        let removed = handle.remove(&RescueLabel { of, at }, removal).await?;
        if is_fetched {
            self.private_clone_remove(worktree).await;
        }
        Ok(removed)
    }

    /// Refuses while a session that has not ended works in the worktree.
    async fn refuse_if_used(&self, reach: Reach, worktree: &Worktree) -> Result<()> {
        if self
            .sessions_at_work(Reach::All, worktree)
            .await?
            .is_empty()
        {
            return Ok(());
        }
        let seen = self.sessions_at_work(reach, worktree).await?;
        let sessions = seen.iter().map(|s| s.id.short_id()).collect();
        Err(WorktreeReason::InUse { sessions }.into())
    }
}

fn gone(worktree: Worktree, removed: Removed) -> WorktreeGone {
    WorktreeGone {
        worktree,
        rescue: removed.rescue.map(|rescue| rescue.reference),
        discarded: texts(&removed.discarded),
    }
}

/// What can never be made is gone already, which is what was asked for.
fn only_if_final(error: AppError) -> Result<()> {
    if is_final(&error) { Ok(()) } else { Err(error) }
}
