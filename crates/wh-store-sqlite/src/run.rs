//! Runs, and what is to be done about sessions.

use async_trait::async_trait;
use jiff::Timestamp;
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;
use wh_domain::{
    Abilities, AgentCommand, AgentName, DenialReason, EventKind, Facts, Key, KeyId, NewEvent,
    OfferedModel, Page, PageRequest, Run, RunEntry, Session, SessionId, ToolsLink, TurnId, Usage,
    UserId,
};
use wh_store::{Result, RunStep, RunStore, SessionWork, StoreError};

use crate::SqliteStore;
use crate::batch::Batch;
use crate::change::Request;
use crate::error::store_error;
use crate::reach::{Query, counted};
use crate::row::{self, Parsed, int, micros, uuid};
use crate::run_apply::session_event;
use crate::session_row::{effective_tier, session_row};
use crate::user::push_limit;
use crate::{key, offers, usage_day, work};

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

    async fn run_log(
        &self,
        session: SessionId,
        epoch: u64,
        text: String,
        at: Timestamp,
    ) -> Result<()> {
        self.ask(|answer| Request::RunLog {
            session,
            epoch,
            text,
            at,
            answer,
        })
        .await
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

    async fn run_list(
        &self,
        session: SessionId,
        page: PageRequest<u64>,
    ) -> Result<Page<RunEntry, u64>> {
        let mut query = Query::new(
            "SELECT t.*, EXISTS (SELECT 1 FROM runs p WHERE p.session_id = t.session_id AND p.epoch < t.epoch
                 AND p.conversation = t.conversation) AS resumed FROM runs t WHERE t.session_id = ",
        );
        query.push_bind(uuid(session));
        if let Some(before) = page.after {
            query.push(" AND t.epoch < ").push_bind(int(before));
        }
        query.push(" ORDER BY t.epoch DESC");
        push_limit(&mut query, page);
        let rows = self.rows(query).await?;
        let cursor = |row: &SqliteRow| row::count(row, "epoch");
        let found = row::page("run", rows, page.limit, cursor, |row| {
            Ok(RunEntry {
                run: run_row(row)?,
                resumed: row::get(row, "resumed")?,
                mode: row::get(row, "mode")?,
                stderr: row::get(row, "stderr")?,
            })
        })?;
        let of_session = || {
            let mut query = counted("runs t");
            query.push("t.session_id = ").push_bind(uuid(session));
            Some(query)
        };
        let total = self.list_total(page, of_session).await?;
        Ok(Page { total, ..found })
    }

    async fn reasons_unread(&self, session: SessionId) -> Result<Vec<DenialReason>> {
        let mut reader = self.readers.acquire().await.map_err(store_error)?;
        crate::run_apply::unread_on_conn(&mut reader, session).await
    }

    async fn work_get(&self, session: SessionId) -> Result<Option<SessionWork>> {
        // One transaction: what is compared must be of one moment.
        let mut reader = self.readers.begin().await.map_err(store_error)?;
        work::get_on_conn(&mut reader, session).await
    }

    async fn usage_of_day(&self, user: UserId, at: Timestamp) -> Result<Usage> {
        let mut reader = self.readers.acquire().await.map_err(store_error)?;
        usage_day::get_on_conn(&mut reader, user, at).await
    }

    async fn agent_models(&self, agent: &AgentName) -> Result<Vec<OfferedModel>> {
        let mut reader = self.readers.acquire().await.map_err(store_error)?;
        offers::models_on_conn(&mut reader, agent).await
    }

    async fn run_commands(&self, session: SessionId, epoch: u64) -> Result<Vec<AgentCommand>> {
        let mut reader = self.readers.acquire().await.map_err(store_error)?;
        offers::commands_on_conn(&mut reader, session, epoch).await
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

pub(crate) fn run_row(row: &SqliteRow) -> Parsed<Run> {
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
        tier: effective_tier(row, "tier")?,
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
    let tier = run.tier.map(|tier| tier.to_string());
    sqlx::query("UPDATE sessions SET epoch = ?, effective_tier = ?, updated_at = max(updated_at, ?) WHERE id = ?")
        .bind(int(epoch))
        .bind(tier.clone())
        .bind(micros(run.started_at))
        .bind(uuid(run.session))
        .execute(&mut *batch.conn)
        .await
        .map_err(store_error)?;
    supersede_in_txn(batch.conn, run).await?;
    key::insert_in_txn(batch.conn, key).await?;
    sqlx::query(
        "INSERT INTO runs (session_id, epoch, key_id, tools, tier, started_at) VALUES (?, ?, ?, ?, ?, ?)",
    )
    .bind(uuid(run.session))
    .bind(int(epoch))
    .bind(uuid(run.key))
    .bind(run.tools.as_str())
    .bind(tier)
    .bind(micros(run.started_at))
    .execute(&mut *batch.conn)
    .await
    .map_err(store_error)?;
    let event = of_run(&session, EventKind::Updated, epoch);
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

/// Stores the end of a live run's stderr and says that it is another, unless it is not.
pub(crate) async fn log_in_txn(
    batch: &mut Batch<'_>,
    session: SessionId,
    epoch: u64,
    text: &str,
    at: Timestamp,
) -> Result<()> {
    let sql = "UPDATE runs SET stderr = ?1
         WHERE session_id = ?2 AND epoch = ?3 AND ended_at IS NULL AND stderr IS NOT ?1";
    let stored = sqlx::query(sql)
        .bind(text)
        .bind(uuid(session))
        .bind(int(epoch))
        .execute(&mut *batch.conn)
        .await
        .map_err(store_error)?;
    if stored.rows_affected() == 0 {
        return Ok(());
    }
    let session = session_in_txn(batch.conn, session).await?;
    let event = of_run(&session, EventKind::LogChanged, epoch);
    batch.announce(at, event);
    Ok(())
}

/// Makes an event about one of a session's runs.
fn of_run(session: &Session, kind: EventKind, epoch: u64) -> NewEvent {
    let facts = Facts::from([("run".to_owned(), epoch.to_string())]);
    session_event(session, kind, facts)
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
