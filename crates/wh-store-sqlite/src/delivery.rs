//! What sessions are to be told about their children.

use jiff::Timestamp;
use newtype_uuid::GenericUuid;
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;
use uuid::Uuid;
use wh_domain::{
    AgentName, ApprovalId, DeliveryKind, DeliveryState, EventKind, Facts, NEWS_WORDS_MAX, NewEvent,
    NewTurn, News, NewsKind, Sender, Session, SessionId, SessionState, Title, TurnId,
    callback_prompt,
};
use wh_store::Result;

use crate::batch::Batch;
use crate::error::store_error;
use crate::row::{self, Parsed, micros, uuid, uuid_opt};
use crate::run::session_in_txn;
use crate::turn;

/// The most news of one prompt; the rest follows in the next.
const TOLD_AT_ONCE: u32 = 20;

/// Keeps something about a child for its parent.
pub(crate) async fn insert_in_txn(
    conn: &mut SqliteConnection,
    child: &Session,
    kind: NewsKind,
    words: &str,
    approval: Option<ApprovalId>,
    at: Timestamp,
) -> Result<()> {
    let words: String = words.chars().take(NEWS_WORDS_MAX).collect();
    sqlx::query(
        "INSERT INTO deliveries (id, kind, state, session_id, target_id, text, news, approval_id, due_at, created_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?9, ?9)",
    )
    .bind(Uuid::now_v7())
    .bind(DeliveryKind::Callback.as_str())
    .bind(DeliveryState::Pending.as_str())
    .bind(uuid(child.id))
    .bind(uuid_opt(child.parent))
    .bind(words)
    .bind(kind.as_str())
    .bind(uuid_opt(approval))
    .bind(micros(at))
    .execute(conn)
    .await
    .map(drop)
    .map_err(store_error)
}

/// Gives up what has been settled before it could be told.
const SETTLED_MEANWHILE: &str =
    "UPDATE deliveries SET state = 'given_up' WHERE target_id = ? AND state = 'pending'
    AND approval_id IN (SELECT id FROM approvals WHERE state <> 'pending')";

const PENDING: &str = "SELECT d.id, d.session_id, d.news, d.text, d.approval_id, s.title, s.agent
    FROM deliveries d JOIN sessions s ON s.id = d.session_id
    WHERE d.target_id = ? AND d.state = 'pending' ORDER BY d.id LIMIT ?";

const TOLD: &str = "UPDATE deliveries SET state = 'delivered', delivered_at = ?, turn_id = ?, attempts = attempts + 1 WHERE id = ?";

/// Queues one prompt with everything that a session is to be told, if it has nothing else to do.
pub(crate) async fn tell_in_txn(
    batch: &mut Batch<'_>,
    session: SessionId,
    turn: TurnId,
    at: Timestamp,
) -> Result<bool> {
    let parent = session_in_txn(batch.conn, session).await?;
    if parent.state != SessionState::Idle
        || parent.archived
        || is_queued(batch.conn, session).await?
    {
        return Ok(false);
    }
    let settled = sqlx::query(SETTLED_MEANWHILE).bind(uuid(session));
    settled
        .execute(&mut *batch.conn)
        .await
        .map_err(store_error)?;
    let rows = sqlx::query(PENDING)
        .bind(uuid(session))
        .bind(TOLD_AT_ONCE)
        .fetch_all(&mut *batch.conn)
        .await
        .map_err(store_error)?;
    let mut news = Vec::new();
    for row in &rows {
        let (id, one) = row::direct("delivery", news_row(row))?;
        news.push(one);
        let told = sqlx::query(TOLD).bind(micros(at)).bind(uuid(turn)).bind(id);
        told.execute(&mut *batch.conn).await.map_err(store_error)?;
    }
    let Some(first) = news.first() else {
        return Ok(false);
    };
    let sender = Sender {
        user: parent.owner.user,
        session: Some(first.session),
    };
    let prompt = NewTurn {
        id: turn,
        session,
        prompt: callback_prompt(&news, parent.mcp_dialect),
        files: Vec::new(),
        sender,
        urgent: false,
        created_at: at,
    };
    turn::insert_in_txn(batch.conn, &prompt).await?;
    let event = NewEvent {
        kind: EventKind::Created,
        subject: turn.into(),
        owner: parent.owner,
        session: Some(session),
        actor: None,
        facts: Facts::from([("news".to_owned(), news.len().to_string())]),
    };
    batch.announce(at, event);
    Ok(true)
}

async fn is_queued(conn: &mut SqliteConnection, session: SessionId) -> Result<bool> {
    let sql = "SELECT EXISTS (SELECT 1 FROM turns WHERE session_id = ? AND state = 'queued')";
    sqlx::query_scalar(sql)
        .bind(uuid(session))
        .fetch_one(conn)
        .await
        .map_err(store_error)
}

fn news_row(row: &SqliteRow) -> Parsed<(Uuid, News)> {
    let approval: Option<Uuid> = row::get(row, "approval_id")?;
    let news = News {
        kind: row::parse_enum(row, "news", NewsKind::parse)?,
        session: row::id(row, "session_id")?,
        title: row::parse(row, "title", Title::parse)?,
        agent: row::parse(row, "agent", AgentName::parse)?,
        words: row::get(row, "text")?,
        approval: approval.map(ApprovalId::from_untyped_uuid),
    };
    Ok((row::get(row, "id")?, news))
}
