//! Runs, and what is to be done about sessions.

use async_trait::async_trait;
use jiff::Timestamp;
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;
use wh_domain::{
    Abilities, Approval, Budget, Conversation, EventKind, Facts, Key, KeyId, NewEvent, Run,
    Session, SessionId, ToolsLink, Turn, TurnId, TurnState,
};
use wh_store::{Result, RunStep, RunStore, SessionWork, StoreError};

use crate::SqliteStore;
use crate::approval::approval_row;
use crate::batch::Batch;
use crate::change::Request;
use crate::error::store_error;
use crate::key;
use crate::reach::Query;
use crate::row::{self, Parsed, int, micros, uuid};
use crate::session_row::session_row;
use crate::turn::turn_row;

#[async_trait]
impl RunStore for SqliteStore {
    async fn run_begin(&self, run: &Run, key: &Key) -> Result<()> {
        let begin = Box::new((run.clone(), key.clone()));
        self.ask(|answer| Request::RunBegin { begin, answer }).await
    }

    async fn run_apply(&self, step: RunStep) -> Result<Session> {
        let step = Box::new(step);
        let stored = self.ask(|answer| Request::RunApply { step, answer });
        Ok(*stored.await?)
    }

    async fn run_renew(&self, key: KeyId, until: Timestamp) -> Result<()> {
        self.ask(|answer| Request::RunRenew { key, until, answer })
            .await
    }

    async fn news_tell(&self, session: SessionId, turn: TurnId, at: Timestamp) -> Result<bool> {
        self.ask(|answer| Request::NewsTell {
            session,
            turn,
            at,
            answer,
        })
        .await
    }

    async fn run_get(&self, session: SessionId, epoch: u64) -> Result<Option<Run>> {
        let mut reader = self.readers.acquire().await.map_err(store_error)?;
        run_of(&mut reader, session, epoch).await
    }

    async fn work_get(&self, session: SessionId) -> Result<Option<SessionWork>> {
        // One transaction: what is compared must be of one moment.
        let mut reader = self.readers.begin().await.map_err(store_error)?;
        let conn = &mut *reader;
        let Some((session, has_news)) = session_and_news(conn, session).await? else {
            return Ok(None);
        };
        let (run, conversation) = runs_of(conn, &session).await?;
        let (running, next) = turns_of(conn, session.id).await?;
        Ok(Some(SessionWork {
            run,
            conversation,
            running,
            next,
            approvals: approvals_open(conn, session.id, session.epoch).await?,
            budget_left: budget_left(conn, &session).await?,
            has_news,
            session,
        }))
    }

    async fn work_list(&self) -> Result<Vec<SessionId>> {
        let query = Query::new(
            "SELECT id FROM sessions WHERE state IN ('creating', 'running', 'waiting', 'stopping')
             UNION SELECT session_id FROM runs WHERE ended_at IS NULL
             UNION SELECT session_id FROM turns WHERE finished_at IS NULL AND state = 'queued'
             UNION SELECT d.target_id FROM deliveries d JOIN sessions s ON s.id = d.target_id
                 WHERE d.state = 'pending' AND d.target_id IS NOT NULL AND s.state = 'idle' AND s.archived = 0",
        );
        let rows = self.rows(query).await?;
        Ok(row::listed("session", &rows, |row| row::id(row, "id")))
    }
}

/// Returns what is left of a session's budget and of the budgets of all above it.
async fn budget_left(conn: &mut SqliteConnection, session: &Session) -> Result<Budget> {
    let mut left = session.budget_left();
    let mut above = session.parent;
    while let Some(id) = above {
        let ancestor = session_in_txn(conn, id).await?;
        left = left.intersect(ancestor.budget_left());
        above = ancestor.parent;
    }
    Ok(left)
}

async fn run_of(
    conn: &mut SqliteConnection,
    session: SessionId,
    epoch: u64,
) -> Result<Option<Run>> {
    let found = sqlx::query("SELECT * FROM runs WHERE session_id = ? AND epoch = ?")
        .bind(uuid(session))
        .bind(int(epoch))
        .fetch_optional(conn)
        .await
        .map_err(store_error)?;
    let read = |row| row::direct("run", run_row(&row));
    found.map(read).transpose()
}

/// Reads a session, and whether there is something to tell it.
async fn session_and_news(
    conn: &mut SqliteConnection,
    session: SessionId,
) -> Result<Option<(Session, bool)>> {
    let sql = "SELECT s.*, EXISTS (SELECT 1 FROM deliveries d WHERE d.target_id = s.id AND d.state = 'pending') AS has_news
         FROM sessions s WHERE s.id = ?";
    let found = sqlx::query(sql).bind(uuid(session)).fetch_optional(conn);
    let read = |row: SqliteRow| {
        let news = row::direct("session", row::get(&row, "has_news"))?;
        Ok((row::direct("session", session_row(&row))?, news))
    };
    found.await.map_err(store_error)?.map(read).transpose()
}

/// Reads the current run, and what the agent could take up again.
///
/// Agents keep nothing of a conversation in which they were never prompted; what a fork took over was said to another agent.
async fn runs_of(
    conn: &mut SqliteConnection,
    session: &Session,
) -> Result<(Option<Run>, Option<Conversation>)> {
    let sql = "SELECT r.*, EXISTS (SELECT 1 FROM turns t JOIN messages m ON m.turn_id = t.id
             WHERE t.session_id = ?1 AND t.number > ?3 AND m.kind = 'prompt') AS is_used
         FROM runs r WHERE r.session_id = ?1 AND (r.epoch = ?2 OR r.epoch =
             (SELECT max(epoch) FROM runs WHERE session_id = ?1 AND conversation IS NOT NULL))";
    let rows = sqlx::query(sql)
        .bind(uuid(session.id))
        .bind(int(session.epoch))
        .bind(int(session.fork.map_or(0, |fork| fork.turn)))
        .fetch_all(conn)
        .await
        .map_err(store_error)?;
    let (mut current, mut conversation) = (None, None);
    for row in &rows {
        let run = row::direct("run", run_row(row))?;
        if let Some(name) = run.conversation.clone() {
            conversation = Some(Conversation {
                name,
                abilities: run.abilities,
                since: run.ready_at.unwrap_or(run.started_at),
                is_used: row::direct("run", row::get(row, "is_used"))?,
            });
        }
        if run.epoch == session.epoch {
            current = Some(run);
        }
    }
    Ok((current, conversation))
}

/// Reads the turn that runs, and the one that comes next.
async fn turns_of(
    conn: &mut SqliteConnection,
    session: SessionId,
) -> Result<(Option<Turn>, Option<Turn>)> {
    let sql = "SELECT * FROM turns WHERE session_id = ? AND finished_at IS NULL
         ORDER BY state = 'running' DESC, urgent DESC, number LIMIT 2";
    let rows = sqlx::query(sql)
        .bind(uuid(session))
        .fetch_all(conn)
        .await
        .map_err(store_error)?;
    let (mut running, mut next) = (None, None);
    for row in &rows {
        let turn = row::direct("turn", turn_row(row))?;
        let place = match turn.state {
            TurnState::Running => &mut running,
            _ => &mut next,
        };
        place.get_or_insert(turn);
    }
    Ok((running, next))
}

async fn approvals_open(
    conn: &mut SqliteConnection,
    session: SessionId,
    epoch: u64,
) -> Result<Vec<Approval>> {
    let sql = "SELECT * FROM approvals WHERE session_id = ? AND told = 0 AND epoch = ? ORDER BY id";
    let rows = sqlx::query(sql)
        .bind(uuid(session))
        .bind(int(epoch))
        .fetch_all(conn)
        .await
        .map_err(store_error)?;
    Ok(row::listed("approval", &rows, approval_row))
}

fn run_row(row: &SqliteRow) -> Parsed<Run> {
    Ok(Run {
        session: row::id(row, "session_id")?,
        epoch: row::count(row, "epoch")?,
        key: row::id(row, "key_id")?,
        journal_seq: row::count(row, "journal_seq")?,
        conversation: row::get(row, "conversation")?,
        abilities: Abilities {
            load: row::get(row, "can_load")?,
            resume: row::get(row, "can_resume")?,
        },
        tools: row::parse_enum(row, "tools", ToolsLink::parse)?,
        started_at: row::time(row, "started_at")?,
        ready_at: row::time_opt(row, "ready_at")?,
        ended_at: row::time_opt(row, "ended_at")?,
        ending: row::get(row, "ending")?,
    })
}

/// Makes a run the session's current one.
pub(crate) async fn begin_in_txn(batch: &mut Batch<'_>, run: &Run, key: &Key) -> Result<()> {
    let session = session_in_txn(batch.conn, run.session).await?;
    let (epoch, current) = (run.epoch, session.epoch);
    if epoch != current + 1 {
        return Err(StoreError::Fenced { epoch, current });
    }
    sqlx::query("UPDATE sessions SET epoch = ?, updated_at = max(updated_at, ?) WHERE id = ?")
        .bind(int(epoch))
        .bind(micros(run.started_at))
        .bind(uuid(run.session))
        .execute(&mut *batch.conn)
        .await
        .map_err(store_error)?;
    supersede_in_txn(batch.conn, run).await?;
    key::insert_in_txn(batch.conn, key).await?;
    sqlx::query(
        "INSERT INTO runs (session_id, epoch, key_id, tools, started_at) VALUES (?, ?, ?, ?, ?)",
    )
    .bind(uuid(run.session))
    .bind(int(epoch))
    .bind(uuid(run.key))
    .bind(run.tools.as_str())
    .bind(micros(run.started_at))
    .execute(&mut *batch.conn)
    .await
    .map_err(store_error)?;
    let event = NewEvent {
        kind: EventKind::Updated,
        subject: session.id.into(),
        owner: session.owner,
        session: Some(session.id),
        actor: None,
        facts: Facts::from([("run".to_owned(), epoch.to_string())]),
    };
    batch.announce(run.started_at, event);
    Ok(())
}

/// Ends what an earlier run left open: it was made, and never started.
async fn supersede_in_txn(conn: &mut SqliteConnection, run: &Run) -> Result<()> {
    let sql = "UPDATE runs SET ended_at = ?1, ending = 'it was never started' WHERE session_id = ?2 AND ended_at IS NULL;
         UPDATE keys SET revoked_at = coalesce(revoked_at, ?1) WHERE session_id = ?2";
    sqlx::query(sql)
        .bind(micros(run.started_at))
        .bind(uuid(run.session))
        .execute(conn)
        .await
        .map(drop)
        .map_err(store_error)
}

/// Lets a token live longer.
pub(crate) async fn renew_in_txn(
    conn: &mut SqliteConnection,
    key: KeyId,
    until: Timestamp,
) -> Result<()> {
    sqlx::query("UPDATE keys SET expires_at = max(expires_at, ?) WHERE id = ?")
        .bind(micros(until))
        .bind(uuid(key))
        .execute(conn)
        .await
        .map(drop)
        .map_err(store_error)
}

/// Reads a session on the writer's connection.
pub(crate) async fn session_in_txn(
    conn: &mut SqliteConnection,
    session: SessionId,
) -> Result<Session> {
    let found = sqlx::query("SELECT * FROM sessions WHERE id = ?")
        .bind(uuid(session))
        .fetch_optional(conn)
        .await
        .map_err(store_error)?
        .ok_or(StoreError::NotFound { what: "session" })?;
    row::direct("session", session_row(&found))
}
