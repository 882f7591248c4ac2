//! Takes another session's conversation over.

use sqlx::{Row, SqliteConnection};
use uuid::Uuid;
use wh_domain::{Fork, SessionId};
use wh_store::{Result, StoreError};

use crate::error::store_error;
use crate::message::last_words;
use crate::row::{int, uuid};

/// The most messages that are taken over; of a longer conversation the latest are.
const MESSAGES_MAX: u32 = 5_000;

const TURNS: &str = "SELECT id FROM turns WHERE session_id = ? AND number <= ? AND finished_at IS NOT NULL ORDER BY number";

/// What was used stays with the session that used it.
const COPY_TURN: &str = "INSERT INTO turns (id, session_id, number, prompt, state, sender_user_id, sender_session_id, urgent,
         reason, commit_before, commit_after, created_at, finished_at)
     SELECT ?, ?, coalesce((SELECT max(number) FROM turns WHERE session_id = ?2), 0) + 1, prompt, state, sender_user_id,
         sender_session_id, urgent, reason, commit_before, commit_after, created_at, finished_at
     FROM turns WHERE id = ?3";

const MESSAGES: &str = "SELECT row, turn_id, kind, text FROM (
         SELECT row, seq, turn_id, kind, text FROM messages WHERE session_id = ?1 AND seq <=
             (SELECT coalesce(max(m.seq), 0) FROM messages m JOIN turns t ON t.id = m.turn_id
              WHERE t.session_id = ?1 AND t.number <= ?2 AND t.finished_at IS NOT NULL)
         ORDER BY seq DESC LIMIT ?3) ORDER BY seq";

const COPY_MESSAGE: &str =
    "INSERT INTO messages (id, session_id, seq, turn_id, kind, text, detail, approval_id, created_at)
     SELECT ?, ?, ?, ?, kind, text, detail, approval_id, created_at FROM messages WHERE row = ?";

/// Copies what a session has in common with the one it branches off.
pub(crate) async fn copy_in_txn(
    conn: &mut SqliteConnection,
    session: SessionId,
    fork: Fork,
) -> Result<()> {
    let mut turns = Vec::new();
    let old: Vec<Uuid> = sqlx::query_scalar(TURNS)
        .bind(uuid(fork.from))
        .bind(int(fork.turn))
        .fetch_all(&mut *conn)
        .await
        .map_err(store_error)?;
    if old.is_empty() && fork.turn > 0 {
        return Err(StoreError::NotFound { what: "turn" });
    }
    for old in old {
        let new = Uuid::now_v7();
        let copy = sqlx::query(COPY_TURN)
            .bind(new)
            .bind(uuid(session))
            .bind(old);
        copy.execute(&mut *conn).await.map_err(store_error)?;
        turns.push((old, new));
    }
    let messages = sqlx::query(MESSAGES)
        .bind(uuid(fork.from))
        .bind(int(fork.turn))
        .bind(MESSAGES_MAX)
        .fetch_all(&mut *conn)
        .await
        .map_err(store_error)?;
    let (mut seq, mut words) = (0_i64, None);
    for message in &messages {
        seq += 1;
        let row: i64 = message.try_get("row").map_err(store_error)?;
        let turn: Option<Uuid> = message.try_get("turn_id").map_err(store_error)?;
        let turn = turn.and_then(|turn| turns.iter().find(|(old, _)| *old == turn));
        let copy = sqlx::query(COPY_MESSAGE)
            .bind(Uuid::now_v7())
            .bind(uuid(session))
            .bind(seq)
            .bind(turn.map(|(_, new)| *new))
            .bind(row);
        copy.execute(&mut *conn).await.map_err(store_error)?;
        if message.try_get::<&str, _>("kind").map_err(store_error)? == "agent" {
            words = Some(last_words(message.try_get("text").map_err(store_error)?));
        }
    }
    let copied = i64::try_from(turns.len()).unwrap_or(i64::MAX);
    sqlx::query("UPDATE sessions SET forked_at_turn = ?, last_seq = ?, last_words = ? WHERE id = ?")
        .bind(copied)
        .bind(seq)
        .bind(words)
        .bind(uuid(session))
        .execute(conn)
        .await
        .map(drop)
        .map_err(store_error)
}
