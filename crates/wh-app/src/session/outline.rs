//! Related sessions that an agent cannot open: only their titles and states are visible.

use newtype_uuid::GenericUuid;
use wh_domain::{
    IdRef, PageLimit, PageRequest, Reach, Relation, Session, SessionFilter, SessionId,
    SessionOutline, ShareLevel,
};

use crate::{App, Result};

/// The most ancestors that are shown; no tree is as deep.
const ANCESTORS_MAX: usize = 64;

impl App {
    /// Returns the ancestors and siblings of a session and the other sessions on its board, without those in `seen`.
    ///
    /// On the board are those that the session's owner sees there: their own, and what others share with them.
    pub(super) async fn outlines(
        &self,
        own: SessionId,
        seen: &[Session],
    ) -> Result<Vec<SessionOutline>> {
        let Some(own) = self.session_by_id(own).await? else {
            return Ok(Vec::new());
        };
        let mut told: Vec<SessionId> = seen.iter().map(|it| it.id).collect();
        told.push(own.id);
        let mut outlines = Vec::new();
        let mut tell = |session: &Session, relation| {
            if !told.contains(&session.id) {
                told.push(session.id);
                outlines.push(session.outline(relation));
            }
        };
        let mut above = own.parent;
        for _ in 0..ANCESTORS_MAX {
            let Some(id) = above else { break };
            let Some(ancestor) = self.session_by_id(id).await? else {
                break;
            };
            tell(&ancestor, Relation::Ancestor);
            above = ancestor.parent;
        }
        let page = PageRequest::first(PageLimit::MAX);
        if let Some(parent) = own.parent {
            let filter = SessionFilter {
                parent: Some(parent),
                ..SessionFilter::default()
            };
            let siblings = self.store.session_list(Reach::All, &filter, page).await?;
            siblings
                .items
                .iter()
                .for_each(|it| tell(it, Relation::Sibling));
        }
        if let Some(board) = own.board {
            let filter = SessionFilter {
                on_board: Some(board),
                ..SessionFilter::default()
            };
            let (user, level) = (own.owner.user, ShareLevel::Read);
            let shared = own
                .owner
                .key
                .is_none()
                .then_some(Reach::Guest { user, level });
            for reach in [Some(own.owner.reach()), shared].into_iter().flatten() {
                let on_board = self.store.session_list(reach, &filter, page).await?;
                on_board
                    .items
                    .iter()
                    .for_each(|it| tell(it, Relation::Board));
            }
        }
        Ok(outlines)
    }

    async fn session_by_id(&self, id: SessionId) -> Result<Option<Session>> {
        let whole = IdRef::Whole(id.into_untyped_uuid());
        Ok(self.store.session_find(Reach::All, &whole).await?.pop())
    }
}
