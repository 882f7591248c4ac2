//! Making worktrees: first the row, then the checkout.

use newtype_uuid::GenericUuid;
use wh_domain::{
    BoardId, BranchName, EventKind, Facts, Name, NewEvent, Operation, Owner, Repo, ShortId,
    Worktree, WorktreeBase, WorktreeId, WorktreeState, WorktreeStep,
};
use wh_git::{CommitId, RepoHandle, WorktreeError, WorktreeHandle};
use wh_store::{IdempotencyClaim, StoreError};

use super::{diff::base_of, error::is_final};
use crate::{App, OpContext, Result, WorktreeReason, context::facts};

/// What a new worktree is to have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorktreeWanted {
    pub owner: Owner,
    pub name: Name,
    /// Made from the name unless given. One that exists is checked out; another is made.
    pub branch: Option<BranchName>,
    /// Where a new branch begins; at the repository's own head unless given.
    pub base: Option<WorktreeBase>,
    pub board: Option<BoardId>,
}

/// The most bytes of a name that go into a branch's name.
const SLUG_BYTES_MAX: usize = 40;

impl App {
    /// Makes the row of a worktree that is to be made; the caller inserts it, [`App::worktree_ensure`] makes it real.
    pub fn worktree_plan(
        &self,
        cx: &OpContext,
        repo: &Repo,
        wanted: WorktreeWanted,
    ) -> Result<Worktree> {
        let id = WorktreeId::from_untyped_uuid(self.ids.next());
        let branch = match wanted.branch {
            Some(branch) => branch,
            None => {
                let slug = slug(wanted.name.as_str());
                BranchName::parse(&format!("wh/{slug}-{}", id.short_id()))?
            }
        };
        wanted.base.as_ref().map(base_of).transpose()?;
        let root = self.data_dir.join("worktrees").join(repo.id.short_id());
        Ok(Worktree {
            id,
            owner: wanted.owner,
            repo: repo.id,
            name: wanted.name,
            branch,
            base: wanted.base,
            base_sha: None,
            path: root.join(id.to_string()),
            board: wanted.board,
            state: WorktreeState::Making,
            changes: None,
            created_at: cx.now,
        })
    }

    /// Makes a worktree real if it is not yet, and returns it ready.
    ///
    /// Safe to repeat after a crash at any step. What can never be made is recorded as removed; what may be possible
    /// later stays wanted, and the reconciler tries again. A worktree that was taken away behind our back is an error.
    pub async fn worktree_ensure(&self, id: WorktreeId) -> Result<Worktree> {
        let worktree = self.worktree_by_id(id).await?;
        if worktree.state != WorktreeState::Making {
            return self.check_ready(worktree).await;
        }
        let repo = self.repo_by_id(worktree.repo).await?;
        let repo = self.repo_ensure(&repo).await;
        let _lock = self.repo_locks.take(worktree.repo).await;
        // Somebody else may have done it meanwhile.
        let worktree = self.worktree_by_id(id).await?;
        if worktree.state != WorktreeState::Making {
            return self.check_ready(worktree).await;
        }
        let made = match repo {
            Ok(repo) => self.make(&repo, &worktree).await,
            Err(error) => Err(error),
        };
        match made {
            Ok((handle, base, facts)) => {
                let step = WorktreeStep::Made {
                    git_dir: handle.paths().git_dir.clone(),
                    base_sha: base.to_string(),
                };
                self.worktree_step(&worktree, step, facts, None).await
            }
            Err(error) => {
                if is_final(&error) {
                    let at = self.clock.now();
                    let facts = facts([("reason", &error.to_string())]);
                    self.worktree_step(&worktree, WorktreeStep::Gone { at }, facts, None)
                        .await?;
                }
                Err(error)
            }
        }
    }

    /// Makes the checkout, and tells what else there is to say about it.
    async fn make(
        &self,
        repo: &Repo,
        worktree: &Worktree,
    ) -> Result<(WorktreeHandle, CommitId, Facts)> {
        self.recheck_repository(repo).await?;
        let handle = self.repo_handle(repo)?;
        let not_fetched = self.repo_refresh(repo, &handle).await;
        let base = worktree.base.as_ref().map(base_of).transpose()?;
        let root = worktree.path.parent();
        let root = root.ok_or(WorktreeReason::NoDirectory)?;
        let name = worktree.id.to_string();
        let made = handle.worktree_ensure(root, &name, &worktree.branch, base.as_ref());
        let (made, base) = match made.await {
            Err(WorktreeError::CheckedOut { branch, at }) => {
                let reach = worktree.owner.reach();
                return Err(self.checked_out(reach, repo, &branch, &at).await);
            }
            made => made?,
        };
        self.uncommitted_apply(worktree, &made).await?;
        let told = not_fetched.map(|why| facts([("not_fetched", &why)]));
        Ok((made, base, told.unwrap_or_default()))
    }

    /// Returns a worktree that is there, and says what is wrong with another.
    async fn check_ready(&self, worktree: Worktree) -> Result<Worktree> {
        let repo = self.repo_by_id(worktree.repo).await?;
        let handle = self.worktree_handle(&repo, &worktree)?;
        match handle.missing() {
            None => Ok(worktree),
            Some(why) => Err(WorktreeReason::Missing(why).into()),
        }
    }

    /// Returns the checkout of a worktree that was made; it may be missing.
    pub(crate) fn worktree_handle(
        &self,
        repo: &Repo,
        worktree: &Worktree,
    ) -> Result<WorktreeHandle> {
        let Some(paths) = worktree.paths() else {
            let state = worktree.state.name();
            return Err(wh_domain::WorktreeRefusal { state }.into());
        };
        let repo: RepoHandle = self.repo_handle(repo)?;
        Ok(WorktreeHandle::open(&repo, paths)?)
    }

    /// Records a step that the server takes, and returns what the worktree became.
    pub(crate) async fn worktree_step(
        &self,
        before: &Worktree,
        step: WorktreeStep,
        facts: Facts,
        claim: Option<IdempotencyClaim>,
    ) -> Result<Worktree> {
        let operation = match step {
            WorktreeStep::Made { .. } => Operation::WorktreeCreate,
            _ if before.state == WorktreeState::Making => Operation::WorktreeCreate,
            _ => Operation::WorktreeRemove,
        };
        let mut after = before.clone();
        after.apply(step)?;
        let event = worktree_event(EventKind::StateChanged, &after, facts.clone());
        let subject = after.id.into();
        let mut commit = self.server_commit(operation, after.owner, subject, facts, vec![event]);
        commit.idempotency = claim;
        let _applied = self.store.worktree_move(before, &after, commit).await?;
        Ok(after)
    }

    pub(crate) async fn worktree_by_id(&self, id: WorktreeId) -> Result<Worktree> {
        let none = StoreError::NotFound { what: "worktree" };
        let found = self.store.worktree_by_id(id).await?;
        Ok(found.ok_or(none)?)
    }
}

/// Says what became of a worktree; the actor is added by whoever has one.
pub(crate) fn worktree_event(kind: EventKind, worktree: &Worktree, more: Facts) -> NewEvent {
    let mut facts = facts([
        ("name", worktree.name.as_str()),
        ("branch", worktree.branch.as_str()),
        ("state", worktree.state.name().as_str()),
    ]);
    facts.extend(more);
    NewEvent {
        kind,
        subject: worktree.id.into(),
        owner: worktree.owner,
        session: None,
        actor: None,
        facts,
    }
}

/// Makes a part of a branch's name out of anything.
fn slug(name: &str) -> String {
    let mut slug = String::new();
    for c in name.chars() {
        match c.to_ascii_lowercase() {
            c if c.is_ascii_alphanumeric() => slug.push(c),
            _ if slug.ends_with('-') || slug.is_empty() => {}
            _ => slug.push('-'),
        }
        if slug.len() >= SLUG_BYTES_MAX {
            break;
        }
    }
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { "work" } else { slug }.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slugs_are_parts_of_branch_names() {
        for (name, slug_of) in [
            ("Fix the login page!", "fix-the-login-page"),
            ("  --weird//..name~^: ", "weird-name"),
            ("日本語", "work"),
            ("a.lock", "a-lock"),
        ] {
            assert_eq!(slug(name), slug_of);
            BranchName::parse(&format!("wh/{}-0a1b2c3d", slug(name))).unwrap();
        }
        assert_eq!(slug(&"x".repeat(500)).len(), SLUG_BYTES_MAX);
    }
}
