//! The columns of a session that lists show.

use sqlx::sqlite::SqliteRow;
use uuid::Uuid;
use wh_domain::{
    AgentName, Page, PageRequest, Reach, SessionBrief, SessionFilter, SessionStateName, Title,
    TurnState,
};
use wh_store::Result;

use super::push_filter;
use crate::SqliteStore;
use crate::reach::{Owned, Query, push_owned};
use crate::row::{self, Parsed};
use crate::user::push_page;

/// sqlx copies every value of a row, so a list reads only the columns that it shows.
const SELECT: &str = "SELECT t.id, t.title, t.agent, t.state, t.parent_id, t.worktree_id, t.board_id, t.last_seq, t.created_at,
    t.state = 'idle' AND EXISTS (SELECT 1 FROM turns q WHERE q.session_id = t.id AND q.state = 'queued') AS has_queue,
    CASE WHEN t.state = 'idle' AND t.parent_id IS NOT NULL THEN
        (SELECT u.state FROM turns u WHERE u.session_id = t.id ORDER BY u.number DESC LIMIT 1) END AS latest_turn
    FROM sessions t WHERE ";

impl SqliteStore {
    pub(super) async fn brief_page(
        &self,
        reach: Reach,
        filter: &SessionFilter,
        page: PageRequest<Uuid>,
    ) -> Result<Page<SessionBrief, Uuid>> {
        let mut query = Query::new(SELECT);
        push_owned(&mut query, reach, Owned::Sessions);
        push_filter(&mut query, filter);
        push_page(&mut query, page);
        let rows = self.rows(query).await?;
        row::page("session", rows, page.limit, row::id_cursor, brief_row)
    }
}

fn brief_row(row: &SqliteRow) -> Parsed<SessionBrief> {
    Ok(SessionBrief {
        id: row::id(row, "id")?,
        title: row::parse(row, "title", Title::parse)?,
        agent: row::parse(row, "agent", AgentName::parse)?,
        state: row::parse_enum(row, "state", SessionStateName::parse)?,
        parent: row::id_opt(row, "parent_id")?,
        worktree: row::id_opt(row, "worktree_id")?,
        board: row::id_opt(row, "board_id")?,
        last_seq: row::count(row, "last_seq")?,
        created_at: row::time(row, "created_at")?,
        has_queue: row::get(row, "has_queue")?,
        latest_turn: row::parse_enum_opt(row, "latest_turn", TurnState::parse)?,
    })
}
