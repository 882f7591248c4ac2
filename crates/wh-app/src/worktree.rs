//! Worktrees: checkouts in which agents work.
//!
//! A worktree is recorded before it is made and until it is gone (`make`, `remove`), so that a crash at any step leaves
//! something that the reconciler can finish. Whether it is still there is looked at, never recorded (`look`).

mod count;
mod diff;
mod embedded;
mod error;
mod file;
mod look;
mod make;
mod merge;
mod named;
mod private_clone;
mod reconcile;
mod remove;
mod terms;
mod uncommitted;

use newtype_uuid::GenericUuid;
use uuid::Uuid;
use wh_domain::{
    EventKind, Facts, NewEvent, NewWorktree, Operation, Page, PageRequest, Reach, Reference,
    Worktree, WorktreeFilter, WorktreeId, WorktreeLook, WorktreeStateName,
};
use wh_store::Applied;

use self::look::Look;
pub use self::make::WorktreeWanted;
pub(crate) use self::{count::Counts, error::is_final, make::worktree_event, reconcile::Worktrees};
pub(crate) use self::{merge::FILES_NAMED_MAX, terms::risk_fact};
use crate::{
    App, OpContext, Resource, Result, WorktreeReason,
    context::facts,
    lookup::{id_of, only_one},
};

/// Which worktrees a list holds.
#[derive(Clone, Debug, Default)]
pub struct WorktreeQuery {
    pub repo: Option<Reference>,
    pub board: Option<Reference>,
    pub states: Vec<WorktreeStateName>,
    /// Only those in which no session is at work: what a clean-up would look at.
    pub finished: bool,
}

impl App {
    /// Lists worktrees. Those that are finished are looked at too: what they take and what would be lost with them.
    pub async fn worktree_list(
        &self,
        cx: &OpContext,
        query: WorktreeQuery,
        page: PageRequest<Uuid>,
    ) -> Result<Page<WorktreeLook, Uuid>> {
        let operation = Operation::WorktreeList;
        self.read(cx, operation, Facts::new(), async {
            let reach = cx.authorize(operation)?;
            let filter = self.worktree_filter(reach, query).await?;
            let page = self.store.worktree_list(reach, &filter, page).await?;
            let depth = match filter.finished {
                true => Look::Removal,
                false => Look::Presence,
            };
            let mut items = Vec::with_capacity(page.items.len());
            for worktree in page.items {
                items.push(self.worktree_look(reach, worktree, depth).await?);
            }
            Ok(Page {
                items,
                next: page.next,
                total: page.total,
            })
        })
        .await
    }

    async fn worktree_filter(&self, reach: Reach, query: WorktreeQuery) -> Result<WorktreeFilter> {
        let mut filter = WorktreeFilter {
            states: query.states,
            finished: query.finished,
            ..WorktreeFilter::default()
        };
        if let Some(repo) = &query.repo {
            filter.repo = Some(self.repo_lookup(reach, repo).await?.id);
        }
        if let Some(board) = &query.board {
            filter.board = Some(self.board_lookup(reach, board).await?.id);
        }
        Ok(filter)
    }

    /// Returns a worktree with what lies in it and who works there.
    pub async fn worktree_get(&self, cx: &OpContext, worktree: &Reference) -> Result<WorktreeLook> {
        let operation = Operation::WorktreeGet;
        let facts = facts([("worktree", worktree.as_str())]);
        self.read(cx, operation, facts, async {
            let reach = cx.authorize(operation)?;
            let worktree = self.worktree_lookup(reach, worktree).await?;
            self.worktree_look(reach, worktree, Look::Everything).await
        })
        .await
    }

    /// Makes a worktree: first recorded, then made. When the call is cut off, the reconciler goes on.
    pub async fn worktree_create(&self, cx: &OpContext, new: NewWorktree) -> Result<Worktree> {
        let operation = Operation::WorktreeCreate;
        let branch = new.branch.as_ref().map_or("", |branch| branch.as_str());
        let facts = facts([("repo", new.repo.as_str()), ("branch", branch)]);
        self.change(cx, operation, facts.clone(), async {
            let reach = cx.authorize(operation)?;
            let repo = self.repo_lookup(reach, &new.repo).await?;
            let board = match &new.board {
                Some(board) => {
                    let found = self.store.board_find(reach, &id_of(board)?).await?;
                    Some(only_one(Resource::Board, found, |b| b.id.to_string())?.id)
                }
                None => None,
            };
            let from_branch = || wh_domain::Name::parse(new.branch.as_ref()?.as_str()).ok();
            let name = new.name.clone().or_else(from_branch);
            let name = name.ok_or(WorktreeReason::NameRequired)?;
            let wanted = WorktreeWanted {
                owner: cx.principal.owner(),
                name,
                branch: new.branch,
                base: new.base,
                board,
            };
            let worktree = self.worktree_plan(cx, &repo, wanted)?;
            let events = vec![NewEvent {
                actor: Some(cx.principal.user),
                ..worktree_event(EventKind::Created, &worktree, Facts::new())
            }];
            let commit = cx.commit(operation, worktree.id.into(), facts, events);
            let id = match self.store.worktree_insert(&worktree, commit).await? {
                Applied::Done { .. } => worktree.id,
                Applied::Replayed { subject } => WorktreeId::from_untyped_uuid(subject.id),
            };
            self.worktree_ensure(id).await
        })
        .await
    }
}
