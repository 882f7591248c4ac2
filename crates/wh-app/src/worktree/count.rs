//! Counts what worktrees have to show, so that lists and boards need not ask git.
//!
//! The end of a turn, and a merge, note in the worktree's row that something has happened. The reconciler counts those,
//! one at a time, and stores the numbers. A crash in between costs nothing: what is not counted is counted next.

use std::time::Duration;

use async_trait::async_trait;
use wh_domain::{EventKind, Facts, NewEvent, Worktree, WorktreeBase, WorktreeChanges};
use wh_store::{Counted, Uncounted};

use super::{diff::recorded_base, make::worktree_event};
use crate::{App, Result, reconcile::Reconciler};

/// How often to look when nobody says that there is something to count.
const PERIOD: Duration = Duration::from_secs(60);

/// How many are read at a time.
const BATCH_MAX: u32 = 50;

/// Counts worktrees that something has happened in.
pub(crate) struct Counts;

#[async_trait]
impl Reconciler for Counts {
    fn name(&self) -> &'static str {
        "worktree counts"
    }

    fn period(&self) -> Duration {
        PERIOD
    }

    async fn woken(&self, app: &App) {
        app.count_wanted.notified().await;
    }

    async fn reconcile(&self, app: &App) -> Result<()> {
        app.worktrees_count().await
    }
}

impl App {
    /// Counts every worktree that something has happened in since it was counted.
    pub async fn worktrees_count(&self) -> Result<()> {
        loop {
            let left = self.store.worktree_uncounted(BATCH_MAX).await?;
            if left.is_empty() {
                return Ok(());
            }
            for uncounted in left {
                self.worktree_count_again(uncounted).await?;
            }
        }
    }

    async fn worktree_count_again(&self, uncounted: Uncounted) -> Result<()> {
        let Uncounted { worktree, touched } = uncounted;
        // One that is gone, or was taken away behind our back, has nothing to show; what was known of it stays.
        let changes = self.worktree_changes(&worktree).await.map_err(
            |error| tracing::debug!(worktree = %worktree.id, %error, "a worktree could not be counted"),
        );
        let changes = changes.ok();
        let counted = Counted {
            worktree: worktree.id,
            touched,
            changes,
            at: self.clock.now(),
            event: counted_event(&worktree, changes),
        };
        self.store.worktree_counted(counted).await?;
        Ok(())
    }

    async fn worktree_changes(&self, worktree: &Worktree) -> Result<WorktreeChanges> {
        let repo = self.repo_by_id(worktree.repo).await?;
        let _look = self.worktree_locks.look(worktree.id).await;
        let handle = self.worktree_handle_fetched(&repo, worktree).await?;
        let base = recorded_base(worktree)?;
        let mut targets = Vec::new();
        let began_at = match &worktree.base {
            Some(WorktreeBase::Branch(branch)) => Some(branch),
            _ => None,
        };
        for branch in began_at.into_iter().chain(&repo.default_branch) {
            targets.extend(handle.repo().branch_tip(branch).await?);
        }
        if targets.is_empty() {
            targets.push(base.clone());
        }
        let changes = handle.count(&base, &targets).await?;
        Ok(WorktreeChanges {
            added: changes.added,
            deleted: changes.deleted,
            ahead: changes.ahead,
            unmerged: changes.unmerged,
            is_clean: changes.is_clean,
        })
    }
}

fn counted_event(worktree: &Worktree, changes: Option<WorktreeChanges>) -> NewEvent {
    let facts = changes.map(|changes| {
        let numbers = [
            ("added", changes.added),
            ("deleted", changes.deleted),
            ("unmerged", changes.unmerged),
        ];
        let facts = numbers.map(|(name, number)| (name.to_owned(), number.to_string()));
        Facts::from(facts)
    });
    worktree_event(EventKind::Updated, worktree, facts.unwrap_or_default())
}
