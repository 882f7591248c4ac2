//! Sessions that are laid into a zone of their board as they begin.

use wh_domain::{
    Board, BoardId, BoardItem, BoardPatch, EventKind, NewEvent, Placement, Position, Reach,
    Reference, Session, Worktree, Zone, ZoneId,
};
use wh_store::Laid;

use crate::{
    App, AppError, BoardReason, OpContext, Resource, Result,
    board::{board_event, zone_lookup},
    zone::zone_event,
};

/// How far from each other, and from the edge of the zone, things are laid.
const GAP: f64 = 20.0;

/// A zone of a board.
#[derive(Clone, Copy)]
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
        let board = board.ok_or(BoardReason::ZoneWithoutBoard)?;
        // Whoever may begin the session may see the board it is on.
        let on = Reference::from(board);
        let zone = zone_lookup(&*self.board_lookup(Reach::All, &on).await?, zone)?;
        Ok(Some(Spot { board, zone }))
    }

    /// Returns the board with the session where it is to lie and what its zone prompts, for whoever begins the session.
    pub(crate) async fn lay_down(
        &self,
        cx: &OpContext,
        session: &Session,
        worktree: Option<&Worktree>,
        spot: Spot,
    ) -> Result<(Laid, Vec<NewEvent>)> {
        let on = Reference::from(spot.board);
        let board = self.board_lookup(Reach::All, &on).await?;
        let zone = board.zones.iter().find(|zone| zone.id == spot.zone);
        let zone = zone.ok_or_else(|| AppError::not_found(Resource::Zone))?;
        let patch = BoardPatch {
            placements: vec![Placement {
                item: BoardItem::Session(session.id),
                position: free_position(&board, zone),
                zone: Some(zone.id),
            }],
            ..BoardPatch::default()
        };
        let next = board.apply(patch, cx.now)?;
        let mut events = vec![board_event(cx, EventKind::Updated, &next)];
        let turn = match zone.prompt_template {
            Some(_) => Some(self.zone_turn(cx, &board, zone, session, worktree).await?),
            None => None,
        };
        events.extend(turn.iter().map(|turn| zone_event(cx, session, zone, turn)));
        Ok((Laid { board: next, turn }, events))
    }
}

/// Returns where the next thing is laid in a zone.
fn free_position(board: &Board, zone: &Zone) -> Position {
    let lying = board.placements.iter();
    let lying = lying.filter(|it| it.zone == Some(zone.id)).count() + 1;
    Position {
        x: zone.rect.x + GAP,
        y: zone.rect.y + GAP * lying as f64,
    }
}
