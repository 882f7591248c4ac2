//! Transcripts, and finding words in them.

use async_trait::async_trait;
use sqlx::sqlite::SqliteRow;
use uuid::Uuid;
use wh_domain::{
    EventKind, Facts, Message, MessageKind, NewEvent, NewMessage, PageLimit, Reach, SessionId,
};
use wh_store::{MessageAppend, MessageHit, MessageStore, Result, StoreError};

use crate::SqliteStore;
use crate::batch::{Batch, chunks};
use crate::change::Request;
use crate::error::{insert_error, store_error};
use crate::reach::{Owned, Query, push_owned};
use crate::row::{self, Parsed, int, micros, uuid, uuid_opt};

/// How much of the latest thing the agent said a session's row repeats.
const LAST_WORDS_CHARS: usize = 280;

/// The most words of a search; more would only narrow it further.
const SEARCH_WORDS_MAX: usize = 32;

#[async_trait]
impl MessageStore for SqliteStore {
    async fn message_append(&self, append: MessageAppend) -> Result<u64> {
        self.ask(|answer| Request::Append { append, answer }).await
    }

    async fn message_list(
        &self,
        reach: Reach,
        session: SessionId,
        after: u64,
        limit: PageLimit,
    ) -> Result<Vec<Message>> {
        let mut query = Query::new("SELECT m.* FROM messages m WHERE m.session_id = ");
        query.push_bind(uuid(session));
        query.push(" AND m.seq > ").push_bind(int(after));
        query.push(" AND EXISTS (SELECT 1 FROM sessions t WHERE t.id = ");
        query.push_bind(uuid(session)).push(" AND ");
        push_owned(&mut query, reach, Owned::Sessions);
        let rows = limit.get();
        query.push(format_args!(") ORDER BY m.seq LIMIT {rows}"));
        let rows = self.rows(query).await?;
        Ok(row::listed("message", &rows, message_row))
    }

    async fn message_search(
        &self,
        reach: Reach,
        words: &str,
        limit: PageLimit,
    ) -> Result<Vec<MessageHit>> {
        let Some(phrases) = phrases(words) else {
            return self.check_open().map(|()| Vec::new());
        };
        let mut query = Query::new(
            "SELECT m.*, snippet(messages_fts, 0, '', '', '…', 24) AS snippet
             FROM messages_fts JOIN messages m ON m.row = messages_fts.rowid
             JOIN sessions t ON t.id = m.session_id WHERE messages_fts MATCH ",
        );
        query.push_bind(phrases).push(" AND ");
        push_owned(&mut query, reach, Owned::Sessions);
        let rows = limit.get();
        query.push(format_args!(" ORDER BY messages_fts.rank LIMIT {rows}"));
        let rows = self.rows(query).await?;
        Ok(row::listed("message", &rows, hit_row))
    }
}

/// Turns plain words into a full-text query: each a quoted phrase, so that nothing in it is syntax.
///
/// Returns nothing when there is nothing to look for: punctuation and emoji are not words to the index.
fn phrases(words: &str) -> Option<String> {
    let quoted: Vec<String> = words
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| word.chars().any(char::is_alphanumeric))
        .take(SEARCH_WORDS_MAX)
        .map(|word| format!("\"{}\"", word.replace('"', "\"\"")))
        .collect();
    (!quoted.is_empty()).then(|| quoted.join(" "))
}

fn message_row(row: &SqliteRow) -> Parsed<Message> {
    Ok(Message {
        id: row::id(row, "id")?,
        session: row::id(row, "session_id")?,
        seq: row::count(row, "seq")?,
        turn: row::id_opt(row, "turn_id")?,
        kind: row::parse_enum(row, "kind", MessageKind::parse)?,
        text: row::get(row, "text")?,
        detail: row::get(row, "detail")?,
        created_at: row::time(row, "created_at")?,
    })
}

fn hit_row(row: &SqliteRow) -> Parsed<MessageHit> {
    Ok(MessageHit {
        message: message_row(row)?,
        snippet: row::get(row, "snippet")?,
    })
}

/// Adds messages to a session's transcript, if they come from its current run.
pub(crate) async fn append_in_txn(batch: &mut Batch<'_>, append: MessageAppend) -> Result<u64> {
    let MessageAppend {
        session,
        epoch,
        messages,
    } = append;
    let found = sqlx::query(
        "SELECT owner_user_id, owner_key_id, epoch, last_seq FROM sessions WHERE id = ?",
    )
    .bind(uuid(session))
    .fetch_optional(&mut *batch.conn)
    .await
    .map_err(store_error)?
    .ok_or(StoreError::NotFound { what: "session" })?;
    let current = row::direct("session", row::count(&found, "epoch"))?;
    let before = row::direct("session", row::count(&found, "last_seq"))?;
    let owner = row::direct("session", row::owner(&found))?;
    // A run that the store does not know of yet is as little current as one that is over.
    if epoch != current {
        return Err(StoreError::Fenced { epoch, current });
    }
    let Some(newest) = messages.last() else {
        return Ok(before);
    };
    let last = before + messages.len() as u64;
    let at = newest.created_at;
    insert(batch, uuid(session), before, &messages).await?;
    update_session(batch, uuid(session), last, &messages, micros(at)).await?;
    let event = NewEvent {
        kind: EventKind::MessageAdded,
        subject: session.into(),
        owner,
        session: Some(session),
        actor: None,
        facts: Facts::from([("seq".to_owned(), last.to_string())]),
    };
    batch.announce(at, event);
    Ok(last)
}

async fn insert(
    batch: &mut Batch<'_>,
    session: Uuid,
    before: u64,
    messages: &[NewMessage],
) -> Result<()> {
    let mut seq = before;
    for chunk in chunks(messages) {
        let mut query = Query::new(
            "INSERT INTO messages (id, session_id, seq, turn_id, kind, text, detail, created_at) ",
        );
        query.push_values(chunk, |mut row, message| {
            seq += 1;
            row.push_bind(uuid(message.id))
                .push_bind(session)
                .push_bind(int(seq))
                .push_bind(uuid_opt(message.turn))
                .push_bind(message.kind.as_str())
                .push_bind(message.text.as_str())
                .push_bind(message.detail.as_deref())
                .push_bind(micros(message.created_at));
        });
        let inserted = query.build().execute(&mut *batch.conn).await;
        inserted.map_err(|e| insert_error(e, &[("messages.id", "the message's id")]))?;
    }
    Ok(())
}

async fn update_session(
    batch: &mut Batch<'_>,
    session: Uuid,
    last: u64,
    messages: &[NewMessage],
    at: i64,
) -> Result<()> {
    let said = messages.iter().rev().find(|m| m.kind == MessageKind::Agent);
    let words = said.map(|m| m.text.chars().take(LAST_WORDS_CHARS).collect::<String>());
    sqlx::query(
        "UPDATE sessions SET last_seq = ?, last_words = coalesce(?, last_words), updated_at = max(updated_at, ?)
         WHERE id = ?",
    )
    .bind(int(last))
    .bind(words)
    .bind(at)
    .bind(session)
    .execute(&mut *batch.conn)
    .await
    .map(drop)
    .map_err(store_error)
}

#[cfg(test)]
mod tests {
    use super::phrases;

    #[test]
    fn nothing_a_caller_writes_is_syntax() {
        let check = |words: &str, expected: Option<&str>| {
            assert_eq!(phrases(words).as_deref(), expected, "{words:?}");
        };
        check("red fish", Some("\"red\" \"fish\""));
        check("a\" OR \"b", Some("\"a\"\"\" \"OR\" \"\"\"b\""));
        check("text:x* NEAR(y)", Some("\"text:x*\" \"NEAR(y)\""));
        check("nul\0byte", Some("\"nul\" \"byte\""));
        check("", None);
        check(" * - \" 🦀 ", None);
    }
}
