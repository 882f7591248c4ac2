//! Sessions as people's lists and boards show them: with what their worktrees have to show.

use std::collections::HashMap;

use uuid::Uuid;
use wh_domain::{
    BoardCards, BoardId, Operation, Page, PageLimit, PageRequest, Reach, Reference, Session,
    SessionCard, SessionFilter, SessionQuery, WorktreeCard, WorktreeFilter, WorktreeId,
};

use crate::{App, OpContext, Result, context::facts};

/// The most sessions, and the most worktrees, that a board is shown with; the newest are.
const CARDS_MAX: usize = 1_000;

impl App {
    /// Lists sessions as [`Self::session_list`] does, each with its worktree.
    pub async fn session_cards(
        &self,
        cx: &OpContext,
        query: SessionQuery,
        page: PageRequest<Uuid>,
    ) -> Result<Page<SessionCard, Uuid>> {
        let page = self.session_list(cx, query, page).await?;
        Ok(Page {
            items: self.with_worktrees(page.items).await?,
            next: page.next,
            total: page.total,
        })
    }

    /// Returns what is to be seen on a board, as far as the caller reaches it.
    pub async fn board_cards(&self, cx: &OpContext, board: &Reference) -> Result<BoardCards> {
        let operation = Operation::BoardGet;
        self.read(cx, operation, facts([("board", board.as_str())]), async {
            let reach = cx.authorize(operation)?;
            let board = self.board_lookup(reach, board).await?;
            let sessions = self.sessions_on(reach, board.id).await?;
            // A guest sees the cards of the owner's worktrees. A worktree by itself is not shared, and nobody else's is shown.
            let reach = match reach {
                Reach::UserAndGuest { .. } if !reach.covers_owner(board.owner) => {
                    Reach::User(board.owner.user)
                }
                reach => reach,
            };
            Ok(BoardCards {
                sessions: self.with_worktrees(sessions).await?,
                worktrees: self.worktrees_on(reach, board.id).await?,
            })
        })
        .await
    }

    async fn with_worktrees(&self, sessions: Vec<Session>) -> Result<Vec<SessionCard>> {
        let mut ids: Vec<_> = sessions.iter().filter_map(|it| it.worktree).collect();
        ids.sort_unstable();
        ids.dedup();
        let found = self.store.worktree_many(&ids).await?;
        let found: HashMap<WorktreeId, _> = found.into_iter().map(|it| (it.id, it)).collect();
        let card = |session: Session| {
            let worktree = session.worktree.and_then(|id| found.get(&id)).cloned();
            SessionCard { session, worktree }
        };
        Ok(sessions.into_iter().map(card).collect())
    }

    async fn sessions_on(&self, reach: Reach, board: BoardId) -> Result<Vec<Session>> {
        let filter = SessionFilter {
            on_board: Some(board),
            ..SessionFilter::default()
        };
        let mut sessions = Vec::new();
        let mut page = PageRequest::first(PageLimit::MAX);
        loop {
            let read = self.store.session_list(reach, &filter, page).await?;
            sessions.extend(read.items);
            match read.next {
                Some(after) if sessions.len() < CARDS_MAX => page.after = Some(after),
                _ => return Ok(sessions),
            }
        }
    }

    async fn worktrees_on(&self, reach: Reach, board: BoardId) -> Result<Vec<WorktreeCard>> {
        let filter = WorktreeFilter {
            on_board: Some(board),
            ..WorktreeFilter::default()
        };
        let mut cards = Vec::new();
        let mut page = PageRequest::first(PageLimit::MAX);
        loop {
            let read = self.store.worktree_list(reach, &filter, page).await?;
            for worktree in read.items {
                let repo = self.repo_by_id(worktree.repo).await?.name;
                cards.push(WorktreeCard { worktree, repo });
            }
            match read.next {
                Some(after) if cards.len() < CARDS_MAX => page.after = Some(after),
                _ => return Ok(cards),
            }
        }
    }
}
