//! What is to be done about a session: everything that decides it, read at once.

use futures::TryStreamExt;
use newtype_uuid::GenericUuid;
use sqlx::sqlite::SqliteRow;
use sqlx::{Either, Executor, SqliteConnection};
use uuid::Uuid;
use wh_domain::{Budget, Conversation, Run, Session, SessionId, SessionRole, Turn, TurnState};
use wh_store::{Result, SessionWork};

use crate::approval::approval_row;
use crate::error::store_error;
use crate::row::{self, uuid};
use crate::run::{run_row, session_in_txn};
use crate::session_row::session_row;
use crate::turn::turn_row;

/// The session and whether there is something to tell it; its current run and the one whose conversation could be taken up;
/// the turn that runs and the one that comes next; what it asks. One trip to the connection's thread instead of four.
///
/// Agents keep nothing of a conversation in which they were never prompted; what a fork took over was said to another agent.
const WORK: &str = "
    SELECT s.*, EXISTS (SELECT 1 FROM deliveries d WHERE d.target_id = s.id AND d.state = 'pending') AS has_news
        FROM sessions s WHERE s.id = ?1;
    SELECT r.*, EXISTS (SELECT 1 FROM turns t JOIN messages m ON m.turn_id = t.id
            WHERE t.session_id = ?1 AND m.kind = 'prompt'
            AND t.number > (SELECT coalesce(forked_at_turn, 0) FROM sessions WHERE id = ?1)) AS is_used
        FROM runs r WHERE r.session_id = ?1 AND (r.epoch = (SELECT epoch FROM sessions WHERE id = ?1)
            OR r.epoch = (SELECT max(epoch) FROM runs WHERE session_id = ?1 AND conversation IS NOT NULL));
    SELECT * FROM turns WHERE session_id = ?1 AND finished_at IS NULL
        ORDER BY state = 'running' DESC, urgent DESC, number LIMIT 2;
    SELECT a.*, (SELECT name FROM users WHERE id = a.answered_by) AS answerer FROM approvals a WHERE session_id = ?1 AND delivered_at IS NULL
        AND epoch = (SELECT epoch FROM sessions WHERE id = ?1) ORDER BY id";

/// Reads what decides about a session. The connection is in a transaction: what is compared must be of one moment.
pub(crate) async fn get_on_conn(
    conn: &mut SqliteConnection,
    session: SessionId,
) -> Result<Option<SessionWork>> {
    let [sessions, runs, turns, approvals] = read(conn, session).await?;
    let Some(found) = sessions.first() else {
        return Ok(None);
    };
    let session = row::direct("session", session_row(found))?;
    let (run, conversation) = runs_of(&runs, session.epoch)?;
    let (running, next) = turns_of(&turns)?;
    Ok(Some(SessionWork {
        run,
        conversation,
        running,
        next,
        approvals: row::listed("approval", &approvals, approval_row),
        budget_left: budget_left(conn, &session).await?,
        has_news: row::direct("session", row::get(found, "has_news"))?,
        session,
    }))
}

/// Returns the rows of each statement of [`WORK`].
async fn read(conn: &mut SqliteConnection, session: SessionId) -> Result<[Vec<SqliteRow>; 4]> {
    let mut results: [Vec<SqliteRow>; 4] = Default::default();
    let mut statement = 0;
    let mut found = conn.fetch_many(sqlx::query(WORK).bind(uuid(session)));
    while let Some(item) = found.try_next().await.map_err(store_error)? {
        match item {
            Either::Left(_) => statement += 1,
            Either::Right(row) => results[statement].push(row),
        }
    }
    Ok(results)
}

/// Returns the current run, and what the agent could take up again.
fn runs_of(rows: &[SqliteRow], epoch: u64) -> Result<(Option<Run>, Option<Conversation>)> {
    let (mut current, mut conversation) = (None, None);
    for row in rows {
        let run = row::direct("run", run_row(row))?;
        if let Some(name) = run.conversation.clone() {
            conversation = Some(Conversation {
                name,
                abilities: run.abilities,
                since: run.ready_at.unwrap_or(run.started_at),
                is_used: row::direct("run", row::get(row, "is_used"))?,
            });
        }
        if run.epoch == epoch {
            current = Some(run);
        }
    }
    Ok((current, conversation))
}

/// Returns the turn that runs, and the one that comes next.
fn turns_of(rows: &[SqliteRow]) -> Result<(Option<Turn>, Option<Turn>)> {
    let (mut running, mut next) = (None, None);
    for row in rows {
        let turn = row::direct("turn", turn_row(row))?;
        let place = match turn.state {
            TurnState::Running => &mut running,
            _ => &mut next,
        };
        place.get_or_insert(turn);
    }
    Ok((running, next))
}

/// Returns what is left of a session's budget and of the budgets of all above it.
async fn budget_left(conn: &mut SqliteConnection, session: &Session) -> Result<Budget> {
    let above = budget_above(conn, session).await?;
    Ok(session.budget_left().intersect(above))
}

/// Returns what is left of the budgets of all sessions above a session.
pub(crate) async fn budget_above(conn: &mut SqliteConnection, session: &Session) -> Result<Budget> {
    let mut left = Budget::default();
    let mut above = above(conn, session).await?;
    while let Some(id) = above {
        let ancestor = session_in_txn(conn, id).await?;
        left = left.intersect(ancestor.budget_left());
        above = self::above(conn, &ancestor).await?;
    }
    Ok(left)
}

/// Returns the session whose budget a session's use counts for too: its parent, or the one that started the loop it is an iteration of.
async fn above(conn: &mut SqliteConnection, session: &Session) -> Result<Option<SessionId>> {
    if session.parent.is_some() || session.role != SessionRole::Worker {
        return Ok(session.parent);
    }
    let sql = "SELECT l.started_by FROM loop_iterations i JOIN loops l ON l.id = i.loop_id WHERE i.session_id = ?";
    let found: Option<Option<Uuid>> = sqlx::query_scalar(sql)
        .bind(uuid(session.id))
        .fetch_optional(conn)
        .await
        .map_err(store_error)?;
    Ok(found.flatten().map(SessionId::from_untyped_uuid))
}
