//! Merging a worktree's branch.

mod commit;
mod removal;

use std::sync::Arc;

use newtype_uuid::GenericUuid;
use tokio::sync::OwnedSemaphorePermit;
use wh_domain::{
    BranchName, EventKind, IdRef, MergeOutcome, NewEvent, Operation, PageLimit, PageRequest, Reach,
    Repo, Uncommitted, UserId, Worktree, WorktreeFilter, WorktreeMerge, WorktreeMerged,
    WorktreeStateName,
};
use wh_git::{Identity, Merge, MergeError, Merged, WorktreeHandle};
use wh_store::Commit;

use super::make::worktree_event;
use crate::{App, AppError, MergeReason, OpContext, Resource, Result, context::facts};

/// The most files that a refusal names.
pub(crate) const FILES_NAMED_MAX: usize = 50;

impl App {
    /// Merges a worktree's branch into another, or leaves that one as it is. What is asked for besides happens before and after: a
    /// commit of what is not committed, and the removal of the worktree and its branch.
    pub async fn worktree_merge(
        &self,
        cx: &OpContext,
        merge: WorktreeMerge,
    ) -> Result<WorktreeMerged> {
        let operation = Operation::WorktreeMerge;
        let asked = facts([("worktree", merge.worktree.as_str())]);
        self.change(cx, operation, asked, async {
            let reach = cx.authorize(operation)?;
            let worktree = self.worktree_lookup(reach, &merge.worktree).await?;
            let repo = self.repo_by_id(worktree.repo).await?;
            let into = merge.into.clone().or(repo.default_branch.clone());
            let into = into.ok_or(MergeReason::NoDefaultBranch)?;
            let lock = self.repo_locks.take(repo.id).await;
            let mut merged = match self.merged_before(cx, &repo, &worktree, &into).await? {
                Some(merged) => {
                    drop(lock);
                    merged
                }
                None => {
                    self.merge_now(cx, reach, &repo, worktree, into, &merge, lock)
                        .await?
                }
            };
            if merge.remove_after {
                merged.removal = Some(self.remove_merged(cx, reach, &repo, &merged).await);
            }
            Ok(merged)
        })
        .await
        .inspect(|_| self.count_wanted.notify_one())
    }

    /// Returns what a repeat of a merge is told: the target as it is now. Nothing when this is the first request.
    async fn merged_before(
        &self,
        cx: &OpContext,
        repo: &Repo,
        worktree: &Worktree,
        into: &BranchName,
    ) -> Result<Option<WorktreeMerged>> {
        let Some(claim) = cx.claim(Operation::WorktreeMerge, worktree.id.into()) else {
            return Ok(None);
        };
        if self.store.replayed(&claim, cx.now).await?.is_none() {
            return Ok(None);
        }
        let commit = self.repo_handle(repo)?.branch_tip(into).await?;
        let merged = WorktreeMerged {
            worktree: worktree.clone(),
            into: into.clone(),
            outcome: MergeOutcome::Repeated,
            commit: commit.map(|commit| commit.to_string()),
            committed: None,
            removal: None,
        };
        let _applied = self.store.record(record_of(cx, &merged)).await?;
        Ok(Some(merged))
    }

    #[expect(clippy::too_many_arguments, reason = "all parts of one merge")]
    async fn merge_now(
        &self,
        cx: &OpContext,
        reach: Reach,
        repo: &Repo,
        worktree: Worktree,
        into: BranchName,
        merge: &WorktreeMerge,
        lock: OwnedSemaphorePermit,
    ) -> Result<WorktreeMerged> {
        let handle = self.worktree_handle_fetched(repo, &worktree).await?;
        if merge.remove_after {
            self.refuse_if_busy(reach, &worktree).await?;
        }
        if handle.repo().branch_tip(&into).await?.is_none() {
            return Err(MergeError::NoBranch { branch: into }.into());
        }
        let who = self.identity(cx.principal.user).await?;
        let committed = match &merge.uncommitted {
            Uncommitted::Refuse => {
                commit::refuse_uncommitted(&handle, &worktree).await?;
                None
            }
            Uncommitted::Commit(message) => {
                self.commit_all(cx, repo, &worktree, &handle, message, &who)
                    .await?
            }
            Uncommitted::Leave => None,
        };
        let worktrees = self.checkouts_of(reach, repo).await?;
        let (store, cx) = (Arc::clone(&self.store), cx.clone());
        let message = match &merge.message {
            Some(message) => message.to_string(),
            None => format!("Merge branch '{}' into {into}", worktree.branch),
        };
        // A branch that moved and a checkout that did not follow would be half a merge.
        let merging = self.to_the_end(async move {
            let merged = handle
                .repo()
                .merge(&Merge {
                    source: &worktree.branch,
                    into: &into,
                    message: &message,
                    who: &who,
                    at: cx.now,
                    worktrees: &worktrees,
                })
                .await?;
            let merged = merged_of(worktree, into, merged);
            let record = record_of(&cx, &merged);
            let _applied = store.worktree_touch(merged.worktree.id, record).await?;
            drop(lock);
            Ok(merged)
        });
        match (merging.await, committed) {
            (Ok(merged), committed) => Ok(WorktreeMerged {
                committed,
                ..merged
            }),
            (Err(error), Some(committed)) => Err(error.detail("committed", committed)),
            (Err(error), None) => Err(error),
        }
    }

    /// Returns the worktrees of a repository that the caller reaches; only those are brought along.
    async fn checkouts_of(&self, reach: Reach, repo: &Repo) -> Result<Vec<WorktreeHandle>> {
        let filter = WorktreeFilter {
            repo: Some(repo.id),
            states: vec![WorktreeStateName::Ready],
            ..WorktreeFilter::default()
        };
        let mut page = PageRequest::first(PageLimit::MAX);
        let mut handles = Vec::new();
        loop {
            let found = self.store.worktree_list(reach, &filter, page).await?;
            for worktree in &found.items {
                handles.push(self.worktree_handle_fetched(repo, worktree).await?);
            }
            match found.next {
                Some(after) => page.after = Some(after),
                None => return Ok(handles),
            }
        }
    }

    /// Returns in whose name commits are made.
    async fn identity(&self, user: UserId) -> Result<Identity> {
        let id = IdRef::Whole(user.into_untyped_uuid());
        let found = self.store.user_find(Reach::All, &id).await?;
        let user = found.into_iter().next();
        let user = user.ok_or_else(|| AppError::not_found(Resource::User))?;
        let name = user.name.to_string();
        let email = user.email.unwrap_or_else(|| format!("{name}@localhost"));
        Ok(Identity { name, email })
    }
}

fn merged_of(worktree: Worktree, into: BranchName, merged: Merged) -> WorktreeMerged {
    let (outcome, commit) = match merged {
        Merged::UpToDate => (MergeOutcome::UpToDate, None),
        Merged::FastForward { commit } => (MergeOutcome::FastForward, Some(commit)),
        Merged::Commit { commit } => (MergeOutcome::Merged, Some(commit)),
    };
    WorktreeMerged {
        worktree,
        into,
        outcome,
        commit: commit.map(|commit| commit.to_string()),
        committed: None,
        removal: None,
    }
}

/// Makes what is recorded of a merge.
fn record_of(cx: &OpContext, merged: &WorktreeMerged) -> Commit {
    let (worktree, into) = (&merged.worktree, merged.into.as_str());
    let commit = merged.commit.as_deref().unwrap_or_default();
    let facts = facts([("merged_into", into), ("commit", commit)]);
    let events = match merged.outcome {
        MergeOutcome::UpToDate | MergeOutcome::Repeated => vec![],
        MergeOutcome::FastForward | MergeOutcome::Merged => vec![NewEvent {
            actor: Some(cx.principal.user),
            ..worktree_event(EventKind::Updated, worktree, facts.clone())
        }],
    };
    cx.commit(Operation::WorktreeMerge, worktree.id.into(), facts, events)
}
