//! Related sessions that an agent cannot open: only their titles and states are visible.

use std::collections::HashSet;

use newtype_uuid::GenericUuid;
use wh_domain::{
    IdRef, PageLimit, PageRequest, Reach, Relation, Session, SessionFilter, SessionId,
    SessionOutline, ShareLevel,
};

use crate::{App, Result};

/// The most ancestors that are shown; no tree is as deep.
const ANCESTORS_MAX: usize = 64;

impl App {
    /// Returns the ancestors and siblings of a session and the latest of the other sessions on its board, without those in `seen`;
    /// and how many there are on the board, if that is not all.
    ///
    /// On the board are those that the session's owner sees there: their own, and what others share with them.
    pub(super) async fn outlines(
        &self,
        own: SessionId,
        seen: &[Session],
    ) -> Result<(Vec<SessionOutline>, Option<u64>)> {
        let Some(own) = self.session_by_id(own).await? else {
            return Ok((Vec::new(), None));
        };
        let mut told: HashSet<SessionId> = seen.iter().map(|it| it.id).collect();
        told.insert(own.id);
        let mut outlines = Vec::new();
        let mut tell = |session: &Session, relation| {
            if told.insert(session.id) {
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
            // The number of sessions in a tree is limited, so that of siblings is.
            let mut next = Some(page);
            while let Some(page) = next {
                let siblings = self.store.session_list(Reach::All, &filter, page).await?;
                let found = siblings.items.iter();
                found.for_each(|it| tell(it, Relation::Sibling));
                next = siblings.next.map(|last| page.after(Some(last)));
            }
        }
        let mut board_total = None;
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
            let (mut is_cut, mut total) = (false, 0);
            for reach in [Some(own.owner.reach()), shared].into_iter().flatten() {
                let on_board = self.store.session_list(reach, &filter, page).await?;
                let found = on_board.items.iter();
                found.for_each(|it| tell(it, Relation::Board));
                total += match on_board.next {
                    Some(_) => self.store.session_count(reach, &filter).await?,
                    None => on_board.items.len() as u64,
                };
                is_cut |= on_board.next.is_some();
            }
            board_total = is_cut.then_some(total);
        }
        Ok((outlines, board_total))
    }

    async fn session_by_id(&self, id: SessionId) -> Result<Option<Session>> {
        let whole = IdRef::Whole(id.into_untyped_uuid());
        Ok(self.store.session_find(Reach::All, &whole).await?.pop())
    }
}
