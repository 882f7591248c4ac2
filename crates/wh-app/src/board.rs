//! Boards.

use std::sync::Arc;

use newtype_uuid::GenericUuid;
use uuid::Uuid;
use wh_domain::{
    Board, BoardChange, BoardCopy, BoardDuplicate, BoardFilter, BoardId, BoardItem, BoardPatch,
    ErrorCode, EventKind, Facts, ItemReference, NewBoard, NewEvent, Operation, Page, PageRequest,
    Placement, Reach, Reference, Zone, ZoneChange, ZoneId, ZoneInput,
};
use wh_store::{Applied, StoreError};

use crate::{
    App, AppError, OpContext, Resource, Result,
    board_share::as_seen,
    context::facts,
    lookup::{id_of, only_one},
};

/// How often a change is tried again that met another change of the same board.
pub(crate) const SAVE_TRIES_MAX: u32 = 20;

impl App {
    /// Makes a board.
    pub async fn board_create(&self, cx: &OpContext, new: NewBoard) -> Result<Arc<Board>> {
        let operation = Operation::BoardCreate;
        let facts = facts([("name", new.name.as_str())]);
        self.change(cx, operation, facts.clone(), async {
            let reach = cx.authorize(operation)?;
            self.zones_check(&new.zones)?;
            let empty = Board {
                id: BoardId::from_untyped_uuid(self.ids.next()),
                owner: self.owner_of(cx, reach, new.owner.as_ref()).await?,
                name: new.name,
                description: new.description,
                zones: vec![],
                placements: vec![],
                shares: vec![],
                revision: 0,
                created_at: cx.now,
                updated_at: cx.now,
            };
            let zones = self.zone_changes(&empty, new.zones)?;
            let patch = BoardPatch {
                zones,
                ..BoardPatch::default()
            };
            let board = empty.apply(patch, cx.now)?;
            self.board_insert(cx, operation, reach, board, facts).await
        })
        .await
    }

    /// Copies a board: its zones and, if asked, its worktrees.
    pub async fn board_duplicate(
        &self,
        cx: &OpContext,
        copy: BoardDuplicate,
    ) -> Result<Arc<Board>> {
        let operation = Operation::BoardDuplicate;
        let facts = facts([("board", copy.board.as_str()), ("name", copy.name.as_str())]);
        self.change(cx, operation, facts.clone(), async {
            let reach = cx.authorize(operation)?;
            let original = self.board_lookup(reach, &copy.board).await?;
            let target = BoardCopy {
                id: BoardId::from_untyped_uuid(self.ids.next()),
                owner: cx.principal.owner(),
                name: copy.name,
                with_worktrees: copy.with_worktrees,
                now: cx.now,
            };
            let board = original.duplicate(target, || ZoneId::from_untyped_uuid(self.ids.next()));
            self.board_insert(cx, operation, reach, board, facts).await
        })
        .await
    }

    /// Returns a board with its zones and what lies on it.
    pub async fn board_get(&self, cx: &OpContext, board: &Reference) -> Result<Arc<Board>> {
        let operation = Operation::BoardGet;
        self.read(cx, operation, facts([("board", board.as_str())]), async {
            let reach = cx.authorize(operation)?;
            Ok(as_seen(cx, self.board_lookup(reach, board).await?))
        })
        .await
    }

    /// Lists boards: the caller's own, or those of one owner.
    pub async fn board_list(
        &self,
        cx: &OpContext,
        owner: Option<&Reference>,
        page: PageRequest<Uuid>,
    ) -> Result<Page<Board, Uuid>> {
        let operation = Operation::BoardList;
        self.read(cx, operation, Facts::new(), async {
            let reach = Self::list_reach(cx, operation, false)?;
            let filter = self.board_filter(cx, reach, owner).await?;
            Ok(self.store.board_list(reach, filter, page).await?)
        })
        .await
    }

    async fn board_filter(
        &self,
        cx: &OpContext,
        reach: Reach,
        owner: Option<&Reference>,
    ) -> Result<BoardFilter> {
        let owner = match owner {
            Some(_) => Some(self.owner_of(cx, reach, owner).await?.user),
            None => None,
        };
        Ok(BoardFilter { owner })
    }

    /// Changes a board: its name, its zones, what lies where.
    ///
    /// Two changes at the same time both happen, one after the other, each on what the other left.
    pub async fn board_update(&self, cx: &OpContext, change: BoardChange) -> Result<Arc<Board>> {
        let operation = Operation::BoardUpdate;
        let facts = facts([("board", change.board.as_str())]);
        self.change(cx, operation, facts.clone(), async {
            let reach = cx.authorize(operation)?;
            self.zones_check(&change.zones)?;
            for _ in 0..SAVE_TRIES_MAX {
                let board = self.board_lookup(reach, &change.board).await?;
                let patch = self.board_patch(reach, &board, change.clone()).await?;
                let next = Arc::new(board.apply(patch, cx.now)?);
                Self::check_places(cx, &board, &next)?;
                let firing = self.zones_fire(cx, &board, &next).await?;
                let mut events = vec![board_event(cx, EventKind::Updated, &next)];
                events.extend(firing.events);
                let commit = cx.commit(operation, next.id.into(), facts.clone(), events);
                match self.store.board_place(&next, &firing.fired, commit).await {
                    Ok(Applied::Done { .. }) => {
                        self.wake_fired(&firing.fired);
                        return Ok(next);
                    }
                    Ok(Applied::Replayed { .. }) => return Ok(board),
                    Err(StoreError::Stale { .. }) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            Err(StoreError::Stale { what: "board" }.into())
        })
        .await
    }

    async fn board_insert(
        &self,
        cx: &OpContext,
        operation: Operation,
        reach: Reach,
        board: Board,
        facts: Facts,
    ) -> Result<Arc<Board>> {
        let events = vec![board_event(cx, EventKind::Created, &board)];
        let commit = cx.commit(operation, board.id.into(), facts, events);
        match self.store.board_insert(&board, commit).await? {
            Applied::Done { .. } => Ok(Arc::new(board)),
            Applied::Replayed { subject } => {
                let first = Reference::from(BoardId::from_untyped_uuid(subject.id));
                self.board_lookup(reach, &first).await
            }
        }
    }

    pub(crate) async fn board_lookup(
        &self,
        reach: Reach,
        reference: &Reference,
    ) -> Result<Arc<Board>> {
        let found = self.store.board_find(reach, &id_of(reference)?).await?;
        only_one(Resource::Board, found, |board| {
            format!("{} {}", board.id, board.name)
        })
    }

    /// Turns what the caller wrote into a patch: references become ids of things that exist and are within reach.
    async fn board_patch(
        &self,
        reach: Reach,
        board: &Board,
        change: BoardChange,
    ) -> Result<BoardPatch> {
        let mut patch = BoardPatch {
            name: change.name,
            description: change.description,
            zones: self.zone_changes(board, change.zones)?,
            ..BoardPatch::default()
        };
        for zone in &change.zones_removed {
            patch.zones_removed.push(zone_lookup(board, zone)?);
        }
        for item in &change.items_removed {
            let placed = self.placed_item(reach, board, item).await?;
            patch.items_removed.push(placed);
        }
        for placement in change.placements {
            let zone = placement.zone.as_ref().map(|zone| zone_lookup(board, zone));
            patch.placements.push(Placement {
                item: self.item_lookup(reach, &placement.item).await?,
                position: placement.position,
                zone: zone.transpose()?,
            });
        }
        Ok(patch)
    }

    fn zone_changes(&self, board: &Board, zones: Vec<ZoneInput>) -> Result<Vec<ZoneChange>> {
        let change = |zone: ZoneInput| {
            let (id, is_new) = match &zone.zone {
                Some(reference) => (zone_lookup(board, reference)?, false),
                None => (ZoneId::from_untyped_uuid(self.ids.next()), true),
            };
            Ok(ZoneChange {
                id,
                is_new,
                name: zone.name,
                color: zone.color,
                rect: zone.rect,
                prompt_template: zone.prompt_template,
                no_prompt: zone.no_prompt,
                agent: zone.agent,
            })
        };
        zones.into_iter().map(change).collect()
    }

    /// Finds something that lies on the board. What is named by its own id need not be within reach to be taken off.
    async fn placed_item(
        &self,
        reach: Reach,
        board: &Board,
        item: &ItemReference,
    ) -> Result<BoardItem> {
        let placed = placed_by_id(board, item);
        let is_unknown = |error: &AppError| error.code() == ErrorCode::NotFound;
        match item {
            ItemReference::Worktree(_) if placed.as_ref().is_err_and(is_unknown) => {
                let meant = self.item_lookup(reach, item).await?;
                let mut items = board.placements.iter().map(|placement| placement.item);
                items.find(|item| *item == meant).map_or(placed, Ok)
            }
            _ => placed,
        }
    }

    async fn item_lookup(&self, reach: Reach, item: &ItemReference) -> Result<BoardItem> {
        match item {
            ItemReference::Session(reference) => {
                let session = self.session_lookup(reach, reference).await?;
                Ok(BoardItem::Session(session.id))
            }
            ItemReference::Worktree(reference) => {
                let worktree = self.worktree_lookup(reach, reference).await?;
                Ok(BoardItem::Worktree(worktree.id))
            }
        }
    }
}

/// Finds a zone of the board by id or by name.
pub(crate) fn zone_lookup(board: &Board, reference: &Reference) -> Result<ZoneId> {
    let by_name = |zone: &&Zone| zone.name.as_str() == reference.as_str();
    if let Some(zone) = board.zones.iter().find(by_name) {
        return Ok(zone.id);
    }
    let Ok(id) = id_of(reference) else {
        return Err(AppError::not_found(Resource::Zone));
    };
    let ids = board.zones.iter().map(|zone| zone.id);
    let found = ids
        .filter(|zone| id.matches(zone.into_untyped_uuid()))
        .collect();
    only_one(Resource::Zone, found, ToString::to_string)
}

/// Finds something that lies on the board by its own id.
fn placed_by_id(board: &Board, item: &ItemReference) -> Result<BoardItem> {
    let (resource, reference) = match item {
        ItemReference::Worktree(reference) => (Resource::Worktree, reference),
        ItemReference::Session(reference) => (Resource::Session, reference),
    };
    let id = id_of(reference)?;
    let means = |placed: &BoardItem| match (placed, item) {
        (BoardItem::Worktree(w), ItemReference::Worktree(_)) => id.matches(w.into_untyped_uuid()),
        (BoardItem::Session(s), ItemReference::Session(_)) => id.matches(s.into_untyped_uuid()),
        _ => false,
    };
    let placed = board.placements.iter().map(|placement| placement.item);
    only_one(resource, placed.filter(means).collect(), |item| {
        format!("{item:?}")
    })
}

pub(crate) fn board_event(cx: &OpContext, kind: EventKind, board: &Board) -> NewEvent {
    NewEvent {
        kind,
        subject: board.id.into(),
        owner: board.owner,
        session: None,
        actor: Some(cx.principal.user),
        facts: facts([
            ("name", board.name.as_str()),
            ("revision", &board.revision.to_string()),
        ]),
    }
}
