//! The columns of a session that lists show.

use std::borrow::Cow;
use std::fmt::Display;

use jiff::Timestamp;
use newtype_uuid::{GenericUuid, TypedUuid, TypedUuidKind};
use serde::Deserialize;
use uuid::Uuid;
use wh_domain::{
    AgentName, Page, PageRequest, Reach, SessionBrief, SessionFilter, SessionStateName, Title,
    TurnState,
};
use wh_store::{Result, StoreError};

use super::push_filter;
use crate::SqliteStore;
use crate::reach::{Owned, Query, push_owned};
use crate::row::{self, BadRow, Parsed};
use crate::user::push_page;

/// Selects a page as one JSON value. sqlx sends each row to the caller's thread and copies each of its values, which took most of the
/// processor time of a page of 50 rows.
const BEGINNING: &str = "SELECT json_group_array(json_array(hex(t.id), t.title, t.agent, t.state, hex(t.parent_id), hex(t.worktree_id),
    hex(t.board_id), t.last_seq, t.created_at, t.has_queue, t.latest_turn) ORDER BY t.id DESC) AS page FROM (
    SELECT t.id, t.title, t.agent, t.state, t.parent_id, t.worktree_id, t.board_id, t.last_seq, t.created_at,
    t.state = 'idle' AND EXISTS (SELECT 1 FROM turns q WHERE q.session_id = t.id AND q.state = 'queued') AS has_queue,
    CASE WHEN t.state = 'idle' AND t.parent_id IS NOT NULL THEN
        (SELECT u.state FROM turns u WHERE u.session_id = t.id ORDER BY u.number DESC LIMIT 1) END AS latest_turn
    FROM sessions t WHERE ";

/// One element of the page, in the order of [`BEGINNING`]. Ids are hexadecimal, and empty when absent.
#[derive(Deserialize)]
struct BriefRow<'p>(
    #[serde(borrow)] Cow<'p, str>,
    #[serde(borrow)] Cow<'p, str>,
    #[serde(borrow)] Cow<'p, str>,
    #[serde(borrow)] Cow<'p, str>,
    #[serde(borrow)] Cow<'p, str>,
    #[serde(borrow)] Cow<'p, str>,
    #[serde(borrow)] Cow<'p, str>,
    u64,
    i64,
    u8,
    #[serde(borrow)] Option<Cow<'p, str>>,
);

impl SqliteStore {
    pub(super) async fn brief_page(
        &self,
        reach: Reach,
        filter: &SessionFilter,
        page: PageRequest<Uuid>,
    ) -> Result<Page<SessionBrief, Uuid>> {
        let mut query = Query::new(BEGINNING);
        push_owned(&mut query, reach, Owned::Sessions);
        push_filter(&mut query, filter);
        push_page(&mut query, page);
        query.push(") t");
        let found = self.rows(query).await?;
        let unreadable = |message: String| StoreError::Unreadable {
            what: "session",
            message,
        };
        let found = found
            .first()
            .ok_or_else(|| unreadable("no page".to_owned()))?;
        let text: &str = row::direct("session", row::get(found, "page"))?;
        let rows: Vec<BriefRow> =
            serde_json::from_str(text).map_err(|error| unreadable(error.to_string()))?;
        let cursor = |row: &BriefRow| column("id", Uuid::try_parse(&row.0));
        row::page("session", rows, page.limit, cursor, BriefRow::brief)
    }
}

impl BriefRow<'_> {
    fn brief(&self) -> Parsed<SessionBrief> {
        let Self(
            own,
            title,
            agent,
            state,
            parent,
            worktree,
            board,
            last_seq,
            created_at,
            has_queue,
            latest,
        ) = self;
        let latest = latest.as_deref();
        Ok(SessionBrief {
            id: id("id", own)?,
            title: column("title", Title::parse(title))?,
            agent: column("agent", AgentName::parse(agent))?,
            state: known("state", state, SessionStateName::parse)?,
            parent: id_opt("parent_id", parent)?,
            worktree: id_opt("worktree_id", worktree)?,
            board: id_opt("board_id", board)?,
            last_seq: *last_seq,
            created_at: column("created_at", Timestamp::from_microsecond(*created_at))?,
            has_queue: *has_queue != 0,
            latest_turn: latest
                .map(|text| known("latest_turn", text, TurnState::parse))
                .transpose()?,
        })
    }
}

fn column<T, E: Display>(name: &str, parsed: std::result::Result<T, E>) -> Parsed<T> {
    parsed.map_err(|error| BadRow::new(name, error))
}

fn known<T>(name: &str, text: &str, parse: impl Fn(&str) -> Option<T>) -> Parsed<T> {
    parse(text).ok_or_else(|| BadRow::new(name, format!("{text:?} is not known")))
}

fn id<K: TypedUuidKind>(name: &str, hex: &str) -> Parsed<TypedUuid<K>> {
    column(name, Uuid::try_parse(hex)).map(TypedUuid::from_untyped_uuid)
}

fn id_opt<K: TypedUuidKind>(name: &str, hex: &str) -> Parsed<Option<TypedUuid<K>>> {
    (!hex.is_empty()).then(|| id(name, hex)).transpose()
}
