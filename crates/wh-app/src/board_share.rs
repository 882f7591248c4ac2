//! Sharing boards with others, and through them the sessions on them.

use std::sync::Arc;

use uuid::Uuid;
use wh_domain::{
    Board, BoardShareChange, EventKind, Facts, NewEvent, Operation, Owner, Page, PageRequest,
    Reach, Session, ShareWith,
};
use wh_store::{Applied, StoreError};

use crate::{
    App, OpContext, Result, SessionReason,
    board::{SAVE_TRIES_MAX, board_event},
    context::facts,
};

impl App {
    /// Shares a board with everyone or with somebody, changes how much is given, or takes it back.
    pub async fn board_share(
        &self,
        cx: &OpContext,
        change: BoardShareChange,
    ) -> Result<Arc<Board>> {
        let operation = Operation::BoardShare;
        let with = change.with.as_ref().map_or("everyone", |it| it.as_str());
        let level = change.level.map_or("none", |level| level.as_str());
        let facts = facts([
            ("board", change.board.as_str()),
            ("with", with),
            ("level", level),
        ]);
        self.change(cx, operation, facts.clone(), async {
            let reach = cx.authorize(operation)?;
            self.board_lookup(reach, &change.board).await?;
            let with = match &change.with {
                // Whoever has something to share may learn that a name is somebody's.
                Some(user) => ShareWith::from(self.user_lookup(Reach::All, user).await?),
                None => ShareWith::Everyone,
            };
            for _ in 0..SAVE_TRIES_MAX {
                let board = self.board_lookup(reach, &change.board).await?;
                let next = Arc::new(board.share(with.clone(), change.level, cx.now)?);
                let mut events = vec![board_event(cx, EventKind::Updated, &next)];
                if let ShareWith::User { id: user, .. } = with
                    && board.level_for(user).is_some()
                    && next.level_for(user).is_none()
                {
                    // Whoever is told nothing of it any more is told this.
                    events.push(NewEvent {
                        owner: Owner { user, key: None },
                        facts: Facts::new(),
                        ..board_event(cx, EventKind::Updated, &next)
                    });
                }
                let commit = cx.commit(operation, next.id.into(), facts.clone(), events);
                match self.store.board_save(&next, commit).await {
                    Ok(Applied::Done { .. }) => return Ok(next),
                    Ok(Applied::Replayed { .. }) => return Ok(board),
                    Err(StoreError::Stale { .. }) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            Err(StoreError::Stale { what: "board" }.into())
        })
        .await
    }

    /// Lists boards that others share with the caller.
    pub async fn board_list_shared(
        &self,
        cx: &OpContext,
        page: PageRequest<Uuid>,
    ) -> Result<Page<Board, Uuid>> {
        let operation = Operation::BoardList;
        self.read(cx, operation, Facts::new(), async {
            let reach = Self::list_reach(cx, operation, true)?;
            let mut page = self
                .store
                .board_list(reach, wh_domain::BoardFilter::default(), page)
                .await?;
            for board in &mut page.items {
                *board = board.for_guest(cx.principal.user);
            }
            Ok(page)
        })
        .await
    }

    /// Returns what a list of things looks at: the caller's own or, if asked, what others share with them.
    pub(crate) fn list_reach(cx: &OpContext, operation: Operation, shared: bool) -> Result<Reach> {
        let reach = cx.authorize(operation)?;
        let level = operation.rule().shared;
        match (shared, level) {
            (false, _) => Ok(reach.own()),
            (true, Some(level)) => cx
                .principal
                .guest_reach(level)
                .ok_or_else(|| SessionReason::NothingShared.into()),
            (true, None) => Err(SessionReason::NotShareable.into()),
        }
    }
}

/// Returns the board as the caller sees it.
pub(crate) fn as_seen(cx: &OpContext, board: Arc<Board>) -> Arc<Board> {
    match cx.principal.reach().covers_owner(board.owner) || cx.principal.user == board.owner.user {
        true => board,
        false => Arc::new(board.for_guest(cx.principal.user)),
    }
}

/// Refuses to end somebody else's turn for a prompt of one's own: what is shared is the prompting.
pub(crate) fn refuse_steering(cx: &OpContext, session: &Session) -> Result<()> {
    if cx.principal.user == session.owner.user || cx.principal.reach() == Reach::All {
        return Ok(());
    }
    Err(SessionReason::SteeredByGuest.into())
}
