//! Waits that outlive the call that began them.

use async_trait::async_trait;
use serde_json::{Value, json};
use sqlx::sqlite::SqliteRow;
use wh_domain::{
    EventKind, Facts, NewEvent, SessionId, SessionStateName, Wait, WaitEnd, WaitEnding, WaitFor,
    WaitId, WaitedSession,
};
use wh_store::{Result, StoreError, WaitStore};

use crate::SqliteStore;
use crate::batch::Batch;
use crate::change::Request;
use crate::error::store_error;
use crate::reach::Query;
use crate::row::{self, Parsed, micros, uuid, uuid_opt};

/// How long a wait that is over is kept: long enough for whoever was away.
pub(crate) const KEPT: jiff::SignedDuration = jiff::SignedDuration::from_hours(7 * 24);

/// What becomes of a wait; nobody's call, so without an audit entry.
#[derive(Clone, Debug)]
pub(crate) enum WaitStep {
    Begin { wait: Wait, open_max: u32 },
    End { id: WaitId, end: WaitEnd },
}

#[async_trait]
impl WaitStore for SqliteStore {
    async fn wait_begin(&self, wait: &Wait, open_max: u32) -> Result<()> {
        let wait = wait.clone();
        let step = Box::new(WaitStep::Begin { wait, open_max });
        let begun = self.ask(|answer| Request::Wait { step, answer });
        begun.await.map(drop)
    }

    async fn wait_end(&self, id: WaitId, end: &WaitEnd) -> Result<bool> {
        let end = end.clone();
        let step = Box::new(WaitStep::End { id, end });
        self.ask(|answer| Request::Wait { step, answer }).await
    }

    async fn wait_get(&self, id: WaitId) -> Result<Option<Wait>> {
        let mut query = Query::new("SELECT * FROM waits WHERE id = ");
        query.push_bind(uuid(id));
        let rows = self.rows(query).await?;
        let read = |row| row::direct("wait", wait_row(row));
        rows.first().map(read).transpose()
    }

    async fn wait_open(&self) -> Result<Vec<Wait>> {
        let query = Query::new("SELECT * FROM waits WHERE ended_at IS NULL ORDER BY created_at");
        let rows = self.rows(query).await?;
        Ok(row::listed("wait", &rows, wait_row))
    }
}

/// Takes a step; false when it came to nothing.
pub(crate) async fn step_in_txn(batch: &mut Batch<'_>, step: &WaitStep) -> Result<bool> {
    match step {
        WaitStep::Begin { wait, open_max } => begin_in_txn(batch, wait, *open_max).await,
        WaitStep::End { id, end } => end_in_txn(batch, *id, end).await,
    }
}

async fn begin_in_txn(batch: &mut Batch<'_>, wait: &Wait, open_max: u32) -> Result<bool> {
    let old = wait.created_at.saturating_sub(KEPT).unwrap_or_default();
    sqlx::query("DELETE FROM waits WHERE ended_at < ?")
        .bind(micros(old))
        .execute(&mut *batch.conn)
        .await
        .map_err(store_error)?;
    let open: i64 = sqlx::query_scalar(
        "SELECT count(*) FROM waits WHERE ended_at IS NULL AND owner_user_id = ?",
    )
    .bind(uuid(wait.owner.user))
    .fetch_one(&mut *batch.conn)
    .await
    .map_err(store_error)?;
    if open >= i64::from(open_max) {
        let what = "waits that are not over";
        let max = open_max;
        let setting = None;
        return Err(StoreError::Limit { what, max, setting });
    }
    let sessions: Vec<_> = wait.sessions.iter().map(ToString::to_string).collect();
    sqlx::query(
        "INSERT INTO waits (id, owner_user_id, owner_key_id, by_id, sessions, wait_for, until, created_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    )
    .bind(uuid(wait.id))
    .bind(uuid(wait.owner.user))
    .bind(uuid_opt(wait.owner.key))
    .bind(uuid_opt(wait.by))
    .bind(json!(sessions).to_string())
    .bind(wait.wait_for.as_str())
    .bind(micros(wait.until))
    .bind(micros(wait.created_at))
    .execute(&mut *batch.conn)
    .await
    .map_err(store_error)?;
    Ok(true)
}

async fn end_in_txn(batch: &mut Batch<'_>, id: WaitId, end: &WaitEnd) -> Result<bool> {
    let came_to: Vec<_> = end.sessions.iter().map(session_text).collect();
    let ended = sqlx::query(
        "UPDATE waits SET ended_at = ?, ending = ?, came_to = ? WHERE id = ? AND ended_at IS NULL RETURNING *",
    )
    .bind(micros(end.at))
    .bind(end.how.as_str())
    .bind(json!(came_to).to_string())
    .bind(uuid(id))
    .fetch_optional(&mut *batch.conn)
    .await
    .map_err(store_error)?;
    let Some(ended) = ended else {
        return Ok(false);
    };
    let wait = row::direct("wait", wait_row(&ended))?;
    if let Some(session) = wait.sessions.first() {
        let event = NewEvent {
            kind: EventKind::Updated,
            subject: (*session).into(),
            owner: wait.owner,
            session: Some(*session),
            actor: None,
            facts: Facts::from([("wait".to_owned(), end.how.as_str().to_owned())]),
        };
        batch.announce(end.at, event);
    }
    Ok(true)
}

fn session_text(session: &WaitedSession) -> Value {
    json!({
        "id": session.id.to_string(), "title": session.title, "state": session.state.as_str(), "done": session.done,
        "last_words": session.last_words,
    })
}

fn wait_row(row: &SqliteRow) -> Parsed<Wait> {
    let end = match row::time_opt(row, "ended_at")? {
        None => None,
        Some(at) => Some(WaitEnd {
            at,
            how: row::parse_enum(row, "ending", WaitEnding::parse)?,
            sessions: row::parse_enum(row, "came_to", came_to)?,
        }),
    };
    Ok(Wait {
        id: row::id(row, "id")?,
        owner: row::owner(row)?,
        by: row::id_opt(row, "by_id")?,
        sessions: row::parse_enum(row, "sessions", ids)?,
        wait_for: row::parse(row, "wait_for", WaitFor::parse)?,
        until: row::time(row, "until")?,
        created_at: row::time(row, "created_at")?,
        end,
    })
}

fn ids(text: &str) -> Option<Vec<SessionId>> {
    let texts: Vec<String> = serde_json::from_str(text).ok()?;
    texts.iter().map(|text| text.parse().ok()).collect()
}

fn came_to(text: &str) -> Option<Vec<WaitedSession>> {
    let values: Vec<Value> = serde_json::from_str(text).ok()?;
    let read = |value: &Value| {
        Some(WaitedSession {
            id: value["id"].as_str()?.parse().ok()?,
            title: value["title"].as_str()?.to_owned(),
            state: SessionStateName::parse(value["state"].as_str()?)?,
            done: value["done"].as_bool()?,
            last_words: value["last_words"].as_str().map(str::to_owned),
        })
    };
    values.iter().map(read).collect()
}
