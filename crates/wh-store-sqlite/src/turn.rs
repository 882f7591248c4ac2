//! Turns.

mod files;

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;
use wh_domain::{
    IdRef, NewTurn, Page, PageRequest, PromptFile, Reach, Sender, Session, SessionEvent, SessionId,
    SessionState, Turn, TurnId, TurnState,
};
use wh_store::{Applied, Commit, QueueRules, QueueState, Result, TurnStore};

use crate::SqliteStore;
use crate::batch::Batch;
use crate::change::Change;
use crate::error::{insert_error, store_error};
use crate::reach::{CANDIDATES_MAX, Owned, Query, counted, push_id, push_owned};
use crate::row::{self, Parsed, int, micros, uuid, uuid_opt};
use crate::run::session_in_txn;
use crate::session::move_in_txn;
use crate::session_row::{USED, usage_columns};
use crate::user::push_limit;

#[async_trait]
impl TurnStore for SqliteStore {
    async fn turn_queue(
        &self,
        turn: &NewTurn,
        rules: QueueRules,
        commit: Commit,
    ) -> Result<Applied> {
        let change = Change::TurnQueue(Box::new(turn.clone()), rules);
        self.commit(change, commit).await
    }

    async fn turn_cancel(&self, session: SessionId, commit: Commit) -> Result<Applied> {
        self.commit(Change::TurnCancel(session), commit).await
    }

    async fn turn_withdraw(&self, turn: TurnId, commit: Commit) -> Result<Applied> {
        let change = Change::TurnWithdraw(turn, commit.audit.at);
        self.commit(change, commit).await
    }

    async fn turn_find(&self, reach: Reach, id: &IdRef) -> Result<Vec<Turn>> {
        let mut query = Query::new("SELECT t.* FROM turns t WHERE ");
        push_id(&mut query, id);
        query.push(" AND ");
        push_session_reach(&mut query, reach);
        query.push(format_args!(" ORDER BY t.id DESC LIMIT {CANDIDATES_MAX}"));
        let rows = self.rows(query).await?;
        rows.iter()
            .map(|r| row::direct("turn", turn_row(r)))
            .collect()
    }

    async fn turn_list(
        &self,
        reach: Reach,
        session: SessionId,
        page: PageRequest<u64>,
    ) -> Result<Page<Turn, u64>> {
        let mut query = Query::new("SELECT t.* FROM turns t WHERE t.session_id = ");
        query.push_bind(uuid(session)).push(" AND ");
        push_session_reach(&mut query, reach);
        if let Some(before) = page.after {
            query.push(" AND t.number < ").push_bind(int(before));
        }
        query.push(" ORDER BY t.number DESC");
        push_limit(&mut query, page);
        let rows = self.rows(query).await?;
        let cursor = |row: &SqliteRow| row::count(row, "number");
        let found = row::page("turn", rows, page.limit, cursor, turn_row)?;
        let total = match page.is_counted {
            true => Some(self.turn_count(reach, session).await?),
            false => None,
        };
        Ok(Page { total, ..found })
    }

    async fn turn_count(&self, reach: Reach, session: SessionId) -> Result<u64> {
        let mut query = counted("turns t");
        query.push("t.session_id = ");
        query.push_bind(uuid(session)).push(" AND ");
        push_session_reach(&mut query, reach);
        self.count(query).await
    }

    async fn turn_by_id(&self, id: TurnId) -> Result<Option<Turn>> {
        let found = self.turn_find(Reach::All, &IdRef::Whole(uuid(id))).await?;
        Ok(found.into_iter().next())
    }

    async fn turn_file(&self, turn: TurnId, number: u32) -> Result<Option<PromptFile>> {
        let mut query = Query::new("SELECT name, data FROM turn_files WHERE turn_id = ");
        query.push_bind(uuid(turn)).push(" AND number = ");
        query.push_bind(i64::from(number));
        let rows = self.rows(query).await?;
        let read = |row| row::direct("file", files::file_row(row));
        rows.first().map(read).transpose()
    }
}

/// Adds the condition that the session of `t` lies within reach.
pub(crate) fn push_session_reach(query: &mut Query, reach: Reach) {
    // The inner `t` is the session: conditions on reach are about a table of that alias. `session_id` is the outer one's,
    // since sessions have no such column, and the plus keeps SQLite from collecting everything that lies within reach.
    query.push("EXISTS (SELECT 1 FROM sessions t WHERE t.id = session_id AND +");
    push_owned(query, reach, Owned::Sessions);
    query.push(")");
}

pub(crate) fn turn_row(row: &SqliteRow) -> Parsed<Turn> {
    let session = row::id(row, "session_id")?;
    Ok(Turn {
        id: row::id(row, "id")?,
        session,
        number: row::count(row, "number")?,
        prompt: row::get(row, "prompt")?,
        files: files::about_column(row)?,
        sender: Sender {
            user: row::id(row, "sender_user_id")?,
            session: row::id_opt(row, "sender_session_id")?,
        },
        state: row::parse_enum(row, "state", TurnState::parse)?,
        urgent: row::get(row, "urgent")?,
        cancel_requested: row::get(row, "cancel_requested")?,
        reason: row::get(row, "reason")?,
        commit_before: row::get(row, "commit_before")?,
        commit_after: row::get(row, "commit_after")?,
        usage: usage_columns(row, USED, 1)?,
        created_at: row::time(row, "created_at")?,
        finished_at: row::time_opt(row, "finished_at")?,
    })
}

/// Adds a turn to a session's queue.
pub(crate) async fn insert_in_txn(conn: &mut SqliteConnection, turn: &NewTurn) -> Result<()> {
    sqlx::query(
        "INSERT INTO turns (id, session_id, number, prompt, files, state, sender_user_id, sender_session_id, urgent, created_at)
         SELECT ?, ?, coalesce(max(number), 0) + 1, ?, ?, 'queued', ?, ?, ?, ? FROM turns WHERE session_id = ?",
    )
    .bind(uuid(turn.id))
    .bind(uuid(turn.session))
    .bind(&turn.prompt)
    .bind(files::about_text(&turn.files))
    .bind(uuid(turn.sender.user))
    .bind(uuid_opt(turn.sender.session))
    .bind(turn.urgent)
    .bind(micros(turn.created_at))
    .bind(uuid(turn.session))
    .execute(&mut *conn)
    .await
    .map_err(|e| insert_error(e, &[]))?;
    files::insert_in_txn(conn, turn).await
}

/// Puts a prompt into the queue, if the session takes it.
pub(crate) async fn queue_in_txn(
    batch: &mut Batch<'_>,
    turn: &NewTurn,
    rules: QueueRules,
) -> Result<()> {
    let session = session_in_txn(batch.conn, turn.session).await?;
    rules.check(queue_state(batch.conn, &session, turn).await?)?;
    match &session.state {
        SessionState::Stopped | SessionState::Interrupted => {
            let event = SessionEvent::ResumeRequested;
            move_in_txn(batch, turn.session, &event, turn.created_at).await?;
        }
        // Whether a prompt may begin is what this asks; it begins later.
        state if state.name().is_end() || matches!(state, SessionState::Stopping { .. }) => {
            let (turn, at) = (turn.id, turn.created_at);
            state.next(SessionEvent::TurnStarted { turn, at })?;
        }
        _ => {}
    }
    insert_in_txn(batch.conn, turn).await?;
    if turn.urgent {
        cancel_running_in_txn(batch.conn, turn.session).await?;
    }
    Ok(())
}

/// Counts what [`QueueRules::check`] decides by. Of a session's turns the last 2,000 are looked at, which is more than the rule can allow
/// within a minute.
async fn queue_state(
    conn: &mut SqliteConnection,
    session: &Session,
    turn: &NewTurn,
) -> Result<QueueState> {
    let a_minute_ago = turn.created_at - SignedDuration::from_mins(1);
    let (waiting, recent): (i64, i64) = sqlx::query_as(
        "SELECT (SELECT count(*) FROM turns WHERE session_id = ?1 AND state = 'queued'),
             (SELECT count(*) FROM turns WHERE session_id = ?1 AND sender_session_id = ?2 AND created_at > ?3
                 AND number > (SELECT coalesce(max(number), 0) FROM turns WHERE session_id = ?1) - 2000)",
    )
    .bind(uuid(turn.session))
    .bind(uuid_opt(turn.sender.session))
    .bind(micros(a_minute_ago))
    .fetch_one(conn)
    .await
    .map_err(store_error)?;
    let number = |count: i64| u32::try_from(count).unwrap_or(u32::MAX);
    Ok(QueueState {
        is_free: matches!(
            session.state,
            SessionState::Idle | SessionState::Stopped | SessionState::Interrupted
        ),
        waiting: number(waiting),
        recent: number(recent),
    })
}

/// Asks for the turn to end early that runs, or, when none does, that comes next.
pub(crate) async fn cancel_current_in_txn(
    conn: &mut SqliteConnection,
    session: SessionId,
) -> Result<()> {
    sqlx::query(
        "UPDATE turns SET cancel_requested = 1 WHERE id = (
             SELECT id FROM turns WHERE session_id = ? AND finished_at IS NULL
             ORDER BY state = 'running' DESC, urgent DESC, number LIMIT 1)",
    )
    .bind(uuid(session))
    .execute(conn)
    .await
    .map(drop)
    .map_err(store_error)
}

/// Asks for the running turn to end early.
pub(crate) async fn cancel_running_in_txn(
    conn: &mut SqliteConnection,
    session: SessionId,
) -> Result<()> {
    sqlx::query("UPDATE turns SET cancel_requested = 1 WHERE session_id = ? AND state = 'running'")
        .bind(uuid(session))
        .execute(conn)
        .await
        .map(drop)
        .map_err(store_error)
}

/// Ends a turn, or asks for its end.
///
/// While another turn runs nobody can have been given this one, so it is over at once. Otherwise the agent may have it
/// already though nothing says so yet: whoever looks after the session knows, and ends it.
pub(crate) async fn withdraw_in_txn(
    conn: &mut SqliteConnection,
    turn: TurnId,
    at: Timestamp,
) -> Result<()> {
    sqlx::query(
        "UPDATE turns SET state = 'cancelled', reason = 'it was withdrawn', finished_at = ?1 WHERE id = ?2 AND state = 'queued'
             AND EXISTS (SELECT 1 FROM turns r WHERE r.session_id = turns.session_id AND r.state = 'running');
         UPDATE turns SET cancel_requested = 1 WHERE id = ?2 AND finished_at IS NULL",
    )
    .bind(micros(at))
    .bind(uuid(turn))
    .execute(conn)
    .await
    .map(drop)
    .map_err(store_error)
}

/// Takes everything that waits out of the queue.
pub(crate) async fn cancel_queue_in_txn(
    conn: &mut SqliteConnection,
    session: SessionId,
    reason: &str,
    at: Timestamp,
) -> Result<()> {
    sqlx::query(
        "UPDATE turns SET state = 'cancelled', reason = ?, finished_at = ? WHERE session_id = ? AND state = 'queued'",
    )
    .bind(reason)
    .bind(micros(at))
    .bind(uuid(session))
    .execute(conn)
    .await
    .map(drop)
    .map_err(store_error)
}
