//! Merging a worktree's branch.

use std::sync::Arc;

use newtype_uuid::GenericUuid;
use wh_domain::{
    BranchName, ErrorCode, EventKind, IdRef, MergeOutcome, NewEvent, Operation, PageLimit,
    PageRequest, Reach, Repo, UserId, Worktree, WorktreeFilter, WorktreeMerge, WorktreeMerged,
    WorktreeStateName,
};
use wh_git::{Identity, Merge, MergeError, Merged, WorktreeHandle};
use wh_store::Commit;

use super::{look::status, make::worktree_event};
use crate::{App, AppError, OpContext, Result, context::facts};

/// The most files that a refusal names.
const FILES_NAMED_MAX: usize = 50;

impl App {
    /// Merges a worktree's branch into another, or changes nothing at all.
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
            let into = into.ok_or_else(|| {
                AppError::invalid("the repository has no default branch")
                    .hint("name the branch to merge into")
            })?;
            let lock = self.repo_locks.take(repo.id).await;
            let handle = self.worktree_handle_fetched(&repo, &worktree).await?;
            if let Some(claim) = cx.claim(operation, worktree.id.into())
                && self.store.replayed(&claim, cx.now).await?.is_some()
            {
                let commit = handle.repo().branch_tip(&into).await?;
                let merged = WorktreeMerged {
                    worktree,
                    into,
                    outcome: MergeOutcome::Repeated,
                    commit: commit.map(|commit| commit.to_string()),
                };
                let _applied = self.store.record(record_of(cx, &merged)).await?;
                return Ok(merged);
            }
            if !merge.leave_uncommitted {
                refuse_uncommitted(&handle, &worktree).await?;
            }
            let who = self.identity(cx.principal.user).await?;
            let worktrees = self.checkouts_of(reach, &repo).await?;
            let (store, cx) = (Arc::clone(&self.store), cx.clone());
            // A branch that moved and a checkout that did not follow would be half a merge.
            self.to_the_end(async move {
                let message = match &merge.message {
                    Some(message) => message.to_string(),
                    None => format!("Merge branch '{}' into {into}", worktree.branch),
                };
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
            })
            .await
        })
        .await
        .inspect(|_| self.count_wanted.notify_one())
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
        let user = user.ok_or_else(|| AppError::not_found("user"))?;
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

/// Refuses to merge less than what lies in the worktree.
async fn refuse_uncommitted(handle: &WorktreeHandle, worktree: &Worktree) -> Result<()> {
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
    Err(AppError::new(
        ErrorCode::Conflict,
        "the worktree has changes that are not committed and would not be merged",
    )
    .hint("commit them first, or set leave_uncommitted to merge without them")
    .detail("files", files))
}

impl From<MergeError> for AppError {
    fn from(error: MergeError) -> Self {
        let conflict = |hint: &str| Self::new(ErrorCode::Conflict, error.to_string()).hint(hint);
        match error {
            MergeError::Conflicts { ref files } => {
                let shown = files.iter().take(FILES_NAMED_MAX);
                let shown: Vec<_> = shown.map(|path| path.display().to_string()).collect();
                conflict("nothing was changed; merge the target into the branch there, solve it, commit, try again")
                    .detail("conflicts", shown)
            }
            MergeError::Dirty { ref at } => {
                let at = at.display().to_string();
                conflict("nothing was changed; commit or put away what lies there").detail("at", at)
            }
            // A checkout that the caller does not see: where it is stays untold.
            MergeError::CheckedOut { .. } => {
                let message = "the branch is checked out in another worktree";
                Self::new(ErrorCode::Conflict, message)
                    .hint("nothing was changed; merge into another branch, or there by hand")
            }
            MergeError::Moved => conflict("nothing was changed; try again"),
            MergeError::NoBranch { .. } => {
                Self::invalid(error.to_string()).hint("name a branch that the repository has")
            }
            MergeError::Commit(_) => Self::invalid(error.to_string()),
            MergeError::Worktree(error) => error.into(),
            MergeError::Git(error) => error.into(),
        }
    }
}
