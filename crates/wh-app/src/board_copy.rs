//! Boards that are copied with worktrees of their own.

use std::{collections::BTreeMap, sync::Arc};

use wh_domain::{
    Board, BoardChange, BoardDuplicate, BoardItem, ItemReference, NewWorktree, Operation,
    PageLimit, PageRequest, PlacementInput, Position, Reference, WorktreeBase, WorktreeId,
};

use crate::{App, OpContext, Result, WorktreeQuery};

impl App {
    /// Copies a board and makes a new worktree for each of its worktrees, on a branch of its own that begins at the original's. What
    /// lies on the board lies at the same position on the copy.
    ///
    /// These are several changes: the copy, and its parts. Each has an idempotency key of its own, so a retry goes on where the first
    /// call broke off.
    pub async fn board_duplicate_apart(
        &self,
        cx: &OpContext,
        copy: BoardDuplicate,
    ) -> Result<Arc<Board>> {
        let originals = self.worktrees_of(cx, &copy.board).await?;
        let copy = BoardDuplicate {
            with_worktrees: false,
            ..copy
        };
        let board = self.board_duplicate(cx, copy).await?;
        let own = Reference::from(board.id);
        let part = |n| cx.part(Operation::BoardDuplicate, n);
        let mut placements = Vec::new();
        for (n, (original, position)) in (1..).zip(originals) {
            let original = self.worktree_by_id(original).await?;
            let new = NewWorktree {
                repo: Reference::from(original.repo),
                name: Some(original.name),
                branch: None,
                base: Some(WorktreeBase::Branch(original.branch)),
                board: Some(own.clone()),
            };
            let made = self.worktree_create(&part(n), new).await?;
            placements.extend(position.map(|position| PlacementInput {
                item: ItemReference::Worktree(Reference::from(made.id)),
                position,
                zone: None,
            }));
        }
        if placements.is_empty() {
            return Ok(board);
        }
        let change = BoardChange {
            board: own,
            name: None,
            description: None,
            zones: Vec::new(),
            zones_removed: Vec::new(),
            placements,
            items_removed: Vec::new(),
        };
        self.board_update(&part(usize::MAX), change).await
    }

    /// Returns the worktrees of a board that the caller may see, with the positions of those that lie on it.
    async fn worktrees_of(
        &self,
        cx: &OpContext,
        board: &Reference,
    ) -> Result<BTreeMap<WorktreeId, Option<Position>>> {
        let found = self.board_get(cx, board).await?;
        let query = WorktreeQuery {
            board: Some(Reference::from(found.id)),
            ..WorktreeQuery::default()
        };
        let page = PageRequest::first(PageLimit::MAX);
        let made_for_it = self.worktree_list(cx, query, page).await?.items;
        let made_for_it = made_for_it.into_iter().map(|look| (look.worktree.id, None));
        let mut all: BTreeMap<_, _> = made_for_it.collect();
        for placement in &found.placements {
            if let BoardItem::Worktree(id) = placement.item {
                all.insert(id, Some(placement.position));
            }
        }
        Ok(all)
    }
}
