//! Sessions that are laid into a zone of their board as they begin.

use wh_domain::{
    BoardId, BoardItem, BoardPatch, EventKind, Facts, Operation, Placement, Position, Reach,
    Reference, SessionId, ZoneId,
};
use wh_store::StoreError;

use crate::{
    App, AppError, OpContext, Result,
    board::{SAVE_TRIES_MAX, board_event, zone_lookup},
};

/// How far from each other, and from the edge of the zone, things are laid.
const GAP: f64 = 20.0;

/// A zone of a board.
pub(crate) struct Spot {
    board: BoardId,
    zone: ZoneId,
}

impl App {
    /// Finds the zone that a session is to lie in, before the session is begun.
    pub(crate) async fn spot(
        &self,
        board: Option<BoardId>,
        zone: Option<&Reference>,
    ) -> Result<Option<Spot>> {
        let Some(zone) = zone else { return Ok(None) };
        let board = board.ok_or_else(|| {
            AppError::invalid("there is no board, so there is no zone to lie in")
                .hint("leave the zone out, or begin the session on a board")
        })?;
        // Whoever may begin the session may see the board it is on.
        let on = Reference::from(board);
        let zone = zone_lookup(&*self.board_lookup(Reach::All, &on).await?, zone)?;
        Ok(Some(Spot { board, zone }))
    }

    /// Lays a session that was begun where it is to lie. It stays begun if the zone is gone by now.
    pub(crate) async fn lay_down(
        &self,
        cx: &OpContext,
        operation: Operation,
        session: SessionId,
        spot: Option<Spot>,
    ) -> Result<()> {
        let Some(spot) = spot else { return Ok(()) };
        let on = Reference::from(spot.board);
        for _ in 0..SAVE_TRIES_MAX {
            let board = self.board_lookup(Reach::All, &on).await?;
            let Some(zone) = board.zones.iter().find(|zone| zone.id == spot.zone) else {
                return Ok(());
            };
            let lying = board.placements.iter();
            let lying = lying.filter(|it| it.zone == Some(zone.id)).count() + 1;
            let patch = BoardPatch {
                placements: vec![Placement {
                    item: BoardItem::Session(session),
                    position: Position {
                        x: zone.rect.x + GAP,
                        y: zone.rect.y + GAP * lying as f64,
                    },
                    zone: Some(zone.id),
                }],
                ..BoardPatch::default()
            };
            let next = board.apply(patch, cx.now)?;
            let events = vec![board_event(cx, EventKind::Updated, &next)];
            let mut commit = cx.commit(operation, next.id.into(), Facts::new(), events);
            // The mark of the request is the session's, which is there already.
            commit.idempotency = None;
            match self.store.board_save(&next, commit).await {
                Ok(_applied) => return Ok(()),
                Err(StoreError::Stale { .. }) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Err(StoreError::Stale { what: "board" }.into())
    }
}
