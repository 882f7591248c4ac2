//! Finishes what a crash or a cut-off call has left of worktrees.

use std::time::Duration;

use async_trait::async_trait;
use jiff::SignedDuration;
use wh_domain::{
    PageLimit, PageRequest, Reach, RepoState, Worktree, WorktreeFilter, WorktreeState,
    WorktreeStateName,
};

use crate::{App, Result, reconcile::Reconciler};

/// How often to look.
const PERIOD: Duration = Duration::from_secs(15);

/// Whoever wanted a worktree makes it, and is told why when it cannot be made; only what is older, or was wanted of a
/// server that is gone, is left over.
const LEFT_OVER_AFTER: SignedDuration = SignedDuration::from_secs(60);

/// How long one of them may take in a round; the next round goes on.
const FINISH_WITHIN: Duration = Duration::from_secs(120);

/// Makes worktrees that are wanted and goes on with removals that were begun.
pub(crate) struct Worktrees;

#[async_trait]
impl Reconciler for Worktrees {
    fn name(&self) -> &'static str {
        "worktrees"
    }

    fn period(&self) -> Duration {
        PERIOD
    }

    async fn reconcile(&self, app: &App) -> Result<()> {
        app.worktrees_finish().await
    }
}

impl App {
    /// Finishes what was left over. One that cannot be finished now does not keep others from it.
    pub async fn worktrees_finish(&self) -> Result<()> {
        let filter = WorktreeFilter {
            states: vec![WorktreeStateName::Making, WorktreeStateName::Removing],
            ..WorktreeFilter::default()
        };
        let page = PageRequest::first(PageLimit::MAX);
        let left = self.store.worktree_list(Reach::All, &filter, page).await?;
        let now = self.clock.now();
        for worktree in left.items {
            let is_recent = now.duration_since(worktree.created_at) < LEFT_OVER_AFTER
                && worktree.created_at >= self.started_at;
            let finished = match worktree.state {
                WorktreeState::Making if is_recent => continue,
                // Cloned by another reconciler: one that hangs must not keep the others waiting.
                WorktreeState::Making if self.is_cloning(&worktree).await? => continue,
                WorktreeState::Making => {
                    let made = self.worktree_ensure(worktree.id);
                    match tokio::time::timeout(FINISH_WITHIN, made).await {
                        Ok(made) => made.map(drop),
                        Err(_) => continue,
                    }
                }
                _ => self.worktree_remove_again(&worktree).await,
            };
            if let Err(error) = finished {
                tracing::warn!(worktree = %worktree.id, %error, "a worktree was not finished");
            }
        }
        Ok(())
    }

    async fn is_cloning(&self, worktree: &Worktree) -> Result<bool> {
        let repo = self.repo_by_id(worktree.repo).await?;
        Ok(repo.state == RepoState::Pending)
    }

    /// Goes on with a removal, if it is still to be done when nobody else is at it.
    async fn worktree_remove_again(&self, worktree: &Worktree) -> Result<()> {
        let _lock = self.repo_locks.take(worktree.repo).await;
        let worktree = self.worktree_by_id(worktree.id).await?;
        self.remove_now(Reach::All, worktree, None).await.map(drop)
    }
}
