//! Sessions.

mod brief;
mod tally;
mod total;

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use sqlx::SqliteConnection;
use uuid::Uuid;
use wh_domain::{
    Archived, BoardId, EventKind, Facts, IdRef, NewEvent, Page, PageRequest, Reach, Session,
    SessionBrief, SessionEvent, SessionFilter, SessionId, SessionPatch, SessionStateName,
    SessionTally, SettingKey, SpawnLimits, TitleWords, TurnState,
};
use wh_store::{Applied, Commit, NewSession, Result, SessionStore, StoreError};

use crate::SqliteStore;
use crate::batch::{Batch, KEEP};
use crate::change::Change;
use crate::error::{insert_error, store_error};
use crate::reach::{Owned, Query, counted, push_candidates, push_owned, push_tree};
use crate::row::{self, int, micros, uuid, uuid_opt};
use crate::run::session_in_txn;
use crate::session_row::{SHOWN, insert_query, push_update, shown_session_row};
use crate::user::push_page;
use crate::{board, fork, turn, worktree};

#[async_trait]
impl SessionStore for SqliteStore {
    async fn session_insert(&self, session: &Session, commit: Commit) -> Result<Applied> {
        let change = Change::SessionInsert(Box::new(session.clone()));
        self.commit(change, commit).await
    }

    async fn session_begin(&self, new: &NewSession, commit: Commit) -> Result<Applied> {
        let change = Change::SessionBegin(Box::new(new.clone()));
        self.commit(change, commit).await
    }

    async fn session_move(
        &self,
        id: SessionId,
        event: &SessionEvent,
        commit: Commit,
    ) -> Result<Applied> {
        let change = Change::SessionMove(id, event.clone(), commit.audit.at);
        self.commit(change, commit).await
    }

    async fn session_archive(
        &self,
        id: SessionId,
        archived: bool,
        stop: Option<&SessionEvent>,
        commit: Commit,
    ) -> Result<Applied> {
        let change = Change::SessionArchive(id, archived, stop.cloned(), commit.audit.at);
        self.commit(change, commit).await
    }

    async fn session_delete(&self, id: SessionId, commit: Commit) -> Result<Applied> {
        self.commit(Change::SessionDelete(id), commit).await
    }

    async fn session_patch(
        &self,
        id: SessionId,
        patch: &SessionPatch,
        commit: Commit,
    ) -> Result<Applied> {
        let change = Change::SessionPatch(id, patch.clone(), commit.audit.at);
        self.commit(change, commit).await
    }

    async fn session_find(&self, reach: Reach, id: &IdRef) -> Result<Vec<Session>> {
        let mut query = Query::new(format!("SELECT {SHOWN} FROM sessions t WHERE "));
        push_candidates(&mut query, reach, Owned::Sessions, id);
        let rows = self.rows(query).await?;
        rows.iter()
            .map(|r| row::direct("session", shown_session_row(r)))
            .collect()
    }

    async fn session_list(
        &self,
        reach: Reach,
        filter: &SessionFilter,
        page: PageRequest<Uuid>,
    ) -> Result<Page<Session, Uuid>> {
        let mut query = Query::new(format!("SELECT {SHOWN} FROM sessions t WHERE "));
        push_owned(&mut query, reach, Owned::Sessions);
        push_filter(&mut query, filter);
        push_page(&mut query, page);
        let rows = self.rows(query).await?;
        row::page(
            "session",
            rows,
            page.limit,
            row::id_cursor,
            shown_session_row,
        )
    }

    async fn session_brief_list(
        &self,
        reach: Reach,
        filter: &SessionFilter,
        page: PageRequest<Uuid>,
    ) -> Result<Page<SessionBrief, Uuid>> {
        self.brief_page(reach, filter, page).await
    }

    async fn session_count(&self, reach: Reach, filter: &SessionFilter) -> Result<u64> {
        self.count_sessions(reach, filter).await
    }

    async fn session_tally(
        &self,
        reach: Reach,
        filter: &SessionFilter,
    ) -> Result<Vec<SessionTally>> {
        self.tally(reach, filter).await
    }

    async fn session_forks_count(&self, source: SessionId) -> Result<u64> {
        let mut query = counted("sessions t");
        query.push("t.forked_from_id = ").push_bind(uuid(source));
        self.count(query).await
    }

    async fn session_tree(
        &self,
        reach: Reach,
        root: SessionId,
        limit: u32,
    ) -> Result<Vec<Session>> {
        let mut query = Query::new(format!("SELECT {SHOWN} FROM sessions t WHERE t.id IN "));
        push_tree(&mut query, root, Owned::Sessions);
        query.push(" AND ");
        push_owned(&mut query, reach, Owned::Sessions);
        query.push(format_args!(" ORDER BY t.depth, t.id LIMIT {limit}"));
        let rows = self.rows(query).await?;
        Ok(row::listed("session", &rows, shown_session_row))
    }

    async fn session_is_within(&self, session: SessionId, ancestor: SessionId) -> Result<bool> {
        let mut query = Query::new("SELECT 1 WHERE ");
        query.push_bind(uuid(session)).push(" IN ");
        push_tree(&mut query, ancestor, Owned::Sessions);
        Ok(!self.rows(query).await?.is_empty())
    }
}

/// Whether prompts wait for the session `t`. An idle session for which prompts wait is shown as running.
const HAS_QUEUE: &str =
    "EXISTS (SELECT 1 FROM turns q WHERE q.session_id = t.id AND q.state = 'queued')";

/// Adds the condition that the stored state of `t` is one of these.
fn push_stored(query: &mut Query, states: impl IntoIterator<Item = SessionStateName>) {
    query.push("t.state IN (");
    let mut list = query.separated(", ");
    for state in states {
        list.push_bind(state.as_str());
    }
    query.push(")");
}

/// Adds the condition that a session is shown in one of the states. Queues are looked at only if running and idle sessions are told
/// apart.
fn push_states(query: &mut Query, filter: &SessionFilter) {
    let states = &filter.states;
    let has = |state| states.contains(&state);
    match (has(SessionStateName::Running), has(SessionStateName::Idle)) {
        (true, false) => {
            let (live, resting): (Vec<_>, Vec<_>) =
                states.iter().copied().partition(|it| is_live(*it));
            // Few sessions are live and few queues hold anything, so both are read first: idle sessions are not searched.
            query.push("(t.id IN (SELECT t.id FROM sessions t WHERE ");
            push_stored(query, live);
            query.push(
                " UNION ALL SELECT t.id FROM turns q CROSS JOIN sessions t ON t.id = q.session_id
                 WHERE q.state = 'queued' AND t.state = 'idle')",
            );
            if !resting.is_empty() {
                push_stored(query.push(" OR "), resting);
            }
            query.push(")");
        }
        (false, true) => {
            push_stored(query.push("("), states.iter().copied());
            query.push(format_args!(" AND NOT (t.state = 'idle' AND {HAS_QUEUE}))"));
        }
        _ => push_stored(query, states.iter().copied()),
    }
}

/// Returns whether sessions in this state have a process or are about to have one.
fn is_live(state: SessionStateName) -> bool {
    use SessionStateName as State;
    matches!(
        state,
        State::Creating | State::Running | State::Waiting | State::Reviewing | State::Stopping
    )
}

/// Adds the condition that a session is shown in one of the states or, when it was spawned and is shown as idle, its latest turn is.
fn push_states_or_turns(query: &mut Query, filter: &SessionFilter, turns: &[Option<TurnState>]) {
    query.push(format_args!(
        " AND CASE WHEN t.state = 'idle' AND t.parent_id IS NOT NULL AND NOT {HAS_QUEUE} THEN COALESCE("
    ));
    query.push("(SELECT u.state FROM turns u WHERE u.session_id = t.id ORDER BY u.number DESC LIMIT 1), '') IN (");
    let mut states = query.separated(", ");
    for turn in turns {
        states.push_bind(turn.map_or("", TurnState::as_str));
    }
    query.push(") ELSE ");
    push_states(query, filter);
    query.push(" END");
}

/// Whether part of a session's budget is used up.
const IS_SPENT: &str = "COALESCE(
     t.used_input_tokens + t.used_cached_tokens + t.used_output_tokens
         + t.below_input_tokens + t.below_cached_tokens + t.below_output_tokens >= t.budget_tokens
     OR t.used_cost_micros + t.below_cost_micros >= t.budget_cost_micros
     OR t.used_wall_seconds + t.below_wall_seconds >= t.budget_wall_seconds
     OR t.used_turns + t.below_turns >= t.budget_turns, 0)";

/// Adds [`wh_domain::Stage::NeedsYou`] as a condition.
fn push_needs_you(query: &mut Query) {
    query.push(
        " AND t.state IN ('waiting', 'failed', 'interrupted', 'idle') AND (t.state <> 'idle' OR ",
    );
    query.push(format_args!("{IS_SPENT} AND NOT {HAS_QUEUE})"));
}

/// Adds the condition that a title contains every word, or that the only word is part of the id.
fn push_title(query: &mut Query, title: &TitleWords) {
    query.push(" AND ((TRUE");
    for word in title.words() {
        query.push(" AND instr(lower(t.title), ");
        query.push_bind(word.to_owned()).push(") > 0");
    }
    query.push(")");
    if let Some(digits) = title.id_digits() {
        query.push(" OR instr(lower(hex(t.id)), ");
        query.push_bind(digits).push(") > 0");
    }
    query.push(")");
}

fn push_filter(query: &mut Query, filter: &SessionFilter) {
    match &filter.spawned {
        Some(turns) => push_states_or_turns(query, filter, turns),
        None if filter.states.is_empty() => {}
        None => push_states(query.push(" AND "), filter),
    }
    if filter.needs_you {
        push_needs_you(query);
    }
    if let Some(title) = &filter.title {
        push_title(query, title);
    }
    if let Some(board) = filter.board {
        query.push(" AND t.board_id = ").push_bind(uuid(board));
    }
    if let Some(board) = filter.on_board {
        push_on_board(query, board);
    }
    if let Some(worktree) = filter.worktree {
        query
            .push(" AND t.worktree_id = ")
            .push_bind(uuid(worktree));
    }
    if let Some(parent) = filter.parent {
        query.push(" AND t.parent_id = ").push_bind(uuid(parent));
    }
    push_archived(query, filter.archived);
}

/// Adds the filter on archived rows to a query of a table with an `archived` column.
fn push_archived(query: &mut Query, archived: Archived) {
    match archived.value() {
        Some(false) => query.push(" AND t.archived = 0"),
        Some(true) => query.push(" AND t.archived = 1"),
        None => query,
    };
}

/// Adds the condition that a session belongs to a board, lies on it, or works in a worktree that does.
fn push_on_board(query: &mut Query, board: BoardId) {
    let parts = [
        " AND t.id IN (SELECT s.id FROM sessions s WHERE s.board_id = ",
        " UNION SELECT p.item_id FROM placements p WHERE p.item_kind = 'session' AND p.board_id = ",
        " UNION SELECT s.id FROM placements p CROSS JOIN sessions s ON s.worktree_id = p.item_id
             WHERE p.item_kind = 'worktree' AND p.board_id = ",
    ];
    for part in parts {
        query.push(part).push_bind(uuid(board));
    }
    query.push(")");
}

pub(crate) async fn insert_in_txn(batch: &mut Batch<'_>, session: &Session) -> Result<()> {
    let mut insert = insert_query(session);
    insert.push(KEEP);
    let inserted = insert.build().execute(&mut *batch.conn).await;
    inserted.map_err(|e| insert_error(e, &[]))?;
    batch.kept();
    Ok(())
}

/// Begins a session with its first prompt, if its owner may have one more under way.
pub(crate) async fn begin_in_txn(batch: &mut Batch<'_>, new: &NewSession) -> Result<()> {
    let live: i64 = sqlx::query_scalar(
        "SELECT count(*) FROM sessions s WHERE owner_user_id = ? AND archived = 0
             AND (state IN ('creating', 'running', 'waiting', 'reviewing', 'stopping')
                 OR EXISTS (SELECT 1 FROM runs r WHERE r.session_id = s.id AND r.ended_at IS NULL))",
    )
    .bind(uuid(new.session.owner.user))
    .fetch_one(&mut *batch.conn)
    .await
    .map_err(store_error)?;
    if live >= i64::from(new.live_max) {
        let max = new.live_max;
        return Err(StoreError::Limit {
            what: "sessions under way",
            max,
            setting: Some(SettingKey::SessionLivePerUserMax),
        });
    }
    if let Some(limits) = new.spawn {
        check_tree_in_txn(batch.conn, &new.session, limits).await?;
    }
    if let Some(worktree) = &new.worktree {
        worktree::insert_in_txn(batch.conn, worktree).await?;
    }
    let mut insert = insert_query(&new.session);
    let inserted = insert.build().execute(&mut *batch.conn).await;
    inserted.map_err(|e| insert_error(e, &[]))?;
    if let Some(fork) = new.session.fork {
        fork::copy_in_txn(batch.conn, new.session.id, fork).await?;
    }
    if let Some(turn) = &new.turn {
        turn::insert_in_txn(batch.conn, turn).await?;
    }
    if let Some(laid) = &new.laid {
        board::save_in_txn(batch, &laid.board).await?;
        if let Some(turn) = &laid.turn {
            turn::insert_in_txn(batch.conn, turn).await?;
        }
    }
    Ok(())
}

/// Refuses a session that would make its tree larger than it may be.
async fn check_tree_in_txn(
    conn: &mut SqliteConnection,
    child: &Session,
    limits: SpawnLimits,
) -> Result<()> {
    if child.depth > limits.depth_max {
        return Err(StoreError::Limit {
            what: "levels below a root session",
            max: limits.depth_max,
            setting: Some(SettingKey::SpawnDepthMax),
        });
    }
    let a_minute_ago = child.created_at - SignedDuration::from_mins(1);
    let (children, tree, recent): (i64, i64, i64) = sqlx::query_as(
        "SELECT (SELECT count(*) FROM sessions s WHERE parent_id = ?1 AND archived = 0
                 AND (state IN ('creating', 'running', 'waiting', 'reviewing', 'stopping')
                     OR EXISTS (SELECT 1 FROM runs r WHERE r.session_id = s.id AND r.ended_at IS NULL))),
             (SELECT count(*) FROM sessions WHERE root_id = ?2),
             (SELECT count(*) FROM sessions WHERE root_id = ?2 AND created_at > ?3 AND parent_id IS NOT NULL)",
    )
    .bind(uuid_opt(child.parent))
    .bind(uuid(child.root))
    .bind(micros(a_minute_ago))
    .fetch_one(conn)
    .await
    .map_err(store_error)?;
    for (count, max, what, setting) in [
        (
            children,
            limits.children_max,
            "children under way",
            SettingKey::SpawnChildrenMax,
        ),
        (
            tree,
            limits.tree_max,
            "sessions in a tree",
            SettingKey::SpawnTreeMax,
        ),
        (
            recent,
            limits.per_minute_max,
            "spawns in a tree within a minute",
            SettingKey::SpawnPerMinuteMax,
        ),
    ] {
        if count >= i64::from(max) {
            let setting = Some(setting);
            return Err(StoreError::Limit { what, max, setting });
        }
    }
    Ok(())
}

/// Moves a session to the state that follows.
pub(crate) async fn move_in_txn(
    batch: &mut Batch<'_>,
    id: SessionId,
    event: &SessionEvent,
    at: Timestamp,
) -> Result<()> {
    let mut session = session_in_txn(batch.conn, id).await?;
    let before = session.state.name();
    session.state = session.state.next(event.clone())?;
    session.updated_at = session.updated_at.max(at);
    let mut update = Query::new("");
    push_update(&mut update, &session);
    let updated = update.build().execute(&mut *batch.conn).await;
    updated.map_err(store_error)?;
    if matches!(event, SessionEvent::StopRequested { .. }) {
        let reason = "the session was stopped";
        turn::cancel_queue_in_txn(batch.conn, id, reason, at).await?;
    }
    if session.state.name() != before {
        batch.announce(at, state_changed(&session));
    }
    Ok(())
}

pub(crate) async fn archive_in_txn(
    conn: &mut SqliteConnection,
    id: SessionId,
    archived: bool,
    at: Timestamp,
) -> Result<()> {
    let sql = "UPDATE sessions SET archived = ?, updated_at = max(updated_at, ?) WHERE id = ?";
    let updated = sqlx::query(sql)
        .bind(archived)
        .bind(micros(at))
        .bind(uuid(id))
        .execute(conn)
        .await
        .map_err(store_error)?;
    match updated.rows_affected() {
        0 => Err(StoreError::NotFound { what: "session" }),
        _ => Ok(()),
    }
}

pub(crate) async fn delete_in_txn(conn: &mut SqliteConnection, id: SessionId) -> Result<()> {
    let sql = "SELECT (SELECT count(*) FROM sessions WHERE parent_id = ?1),
         (SELECT count(*) FROM runs WHERE session_id = ?1 AND ended_at IS NULL)";
    let (children, runs): (i64, i64) = sqlx::query_as(sql)
        .bind(uuid(id))
        .fetch_one(&mut *conn)
        .await
        .map_err(store_error)?;
    if children > 0 {
        return Err(StoreError::InUse {
            what: "other sessions",
        });
    }
    if runs > 0 {
        return Err(StoreError::InUse { what: "processes" });
    }
    crate::task_change::release_in_txn(conn, id, None).await?;
    let deleted = sqlx::query("DELETE FROM sessions WHERE id = ?")
        .bind(uuid(id))
        .execute(conn)
        .await
        .map_err(store_error)?;
    match deleted.rows_affected() {
        0 => Err(StoreError::NotFound { what: "session" }),
        _ => Ok(()),
    }
}

fn state_changed(session: &Session) -> NewEvent {
    let state = session.state.name().as_str().to_owned();
    NewEvent {
        kind: EventKind::StateChanged,
        subject: session.id.into(),
        owner: session.owner,
        session: Some(session.id),
        actor: None,
        facts: Facts::from([("state".to_owned(), state)]),
    }
}

pub(crate) async fn patch_in_txn(
    conn: &mut SqliteConnection,
    id: SessionId,
    patch: &SessionPatch,
    at: Timestamp,
) -> Result<()> {
    let mut query = Query::new("UPDATE sessions SET updated_at = max(updated_at, ");
    query.push_bind(micros(at)).push(")");
    if let Some(title) = &patch.title {
        query.push(", title = ").push_bind(title.to_string());
    }
    if let Some(description) = &patch.description {
        query.push(", description = ");
        query.push_bind(description.to_string());
    }
    if let Some(role) = patch.role {
        query.push(", role = ").push_bind(role.as_str());
    }
    if let Some(model) = &patch.model {
        query.push(", model = ").push_bind(model.to_string());
    }
    let budget = patch.budget;
    for (column, limit) in [
        ("budget_tokens", budget.tokens),
        ("budget_cost_micros", budget.cost_micros),
        ("budget_wall_seconds", budget.wall_seconds),
        ("budget_turns", budget.turns),
    ] {
        if let Some(limit) = limit {
            query.push(format_args!(", {column} = "));
            query.push_bind(limit.map(int));
        }
    }
    query.push(" WHERE id = ").push_bind(uuid(id));
    let updated = query.build().execute(conn).await.map_err(store_error)?;
    if updated.rows_affected() == 0 {
        return Err(StoreError::NotFound { what: "session" });
    }
    Ok(())
}
