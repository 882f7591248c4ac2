//! Transcripts, and finding words in them.

use async_trait::async_trait;
use sqlx::sqlite::SqliteRow;
use wh_domain::{
    Author, EventKind, Facts, Message, MessageId, MessageKind, NewEvent, NewMessage, Page,
    PageLimit, PageRequest, Reach, SessionId, UserName,
};
use wh_store::{MessageAppend, MessageHit, MessageStore, Result, StoreError};

use crate::SqliteStore;
use crate::batch::{Batch, KEEP, ROWS_MAX, is_common};
use crate::change::Request;
use crate::error::{insert_error, store_error};
use crate::reach::{Owned, Query, counted, push_owned};
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
        let mut query = Query::new(WITH_AUTHOR);
        query.push("WHERE m.session_id = ");
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

    async fn message_latest(
        &self,
        reach: Reach,
        session: SessionId,
        kind: MessageKind,
    ) -> Result<Option<Message>> {
        let mut query = with_session();
        query.push("m.session_id = ").push_bind(uuid(session));
        query.push(" AND m.kind = ").push_bind(kind.as_str());
        query.push(" AND ");
        push_owned(&mut query, reach, Owned::Sessions);
        query.push(" ORDER BY m.seq DESC LIMIT 1");
        self.message_of(query).await
    }

    async fn message_by_id(&self, reach: Reach, id: MessageId) -> Result<Option<Message>> {
        let mut query = with_session();
        query.push("m.id = ").push_bind(uuid(id)).push(" AND ");
        push_owned(&mut query, reach, Owned::Sessions);
        self.message_of(query).await
    }

    async fn message_search(
        &self,
        reach: Reach,
        words: &str,
        page: PageRequest<u64>,
    ) -> Result<Page<MessageHit, u64>> {
        let Some(phrases) = phrases(words) else {
            return self.check_open().map(|()| Page::empty());
        };
        let push_found = |query: &mut Query| {
            query.push_bind(phrases.clone()).push(" AND ");
            push_owned(query, reach, Owned::Sessions);
        };
        let mut query = Query::new(
            "SELECT m.*, NULL AS author, NULL AS author_session_id, snippet(messages_fts, 0, '', '', '…', 24) AS snippet
             FROM messages_fts JOIN messages m ON m.row = messages_fts.rowid
             JOIN sessions t ON t.id = m.session_id WHERE messages_fts MATCH ",
        );
        push_found(&mut query);
        let rows = page.limit.get() + 1;
        let skipped = page.after.unwrap_or(0).saturating_add(page.skip.into());
        query.push(format_args!(
            " ORDER BY messages_fts.rank LIMIT {rows} OFFSET "
        ));
        query.push_bind(int(skipped));
        let rows = self.rows(query).await?;
        let through = skipped.saturating_add(page.limit.get().into());
        let found = row::page("message", rows, page.limit, |_| Ok(through), hit_row)?;
        let all = || {
            let mut query = counted(
                "messages_fts JOIN messages m ON m.row = messages_fts.rowid JOIN sessions t ON t.id = m.session_id",
            );
            query.push("messages_fts MATCH ");
            push_found(&mut query);
            Some(query)
        };
        let total = self.list_total(page, all).await?;
        Ok(Page { total, ..found })
    }
}

/// Begins a query for messages, prompts with who sent them and answers with who gave them.
const WITH_AUTHOR: &str = "SELECT m.*, w.name AS author,
         coalesce(u.sender_session_id, a.answered_by_session_id) AS author_session_id FROM messages m
     LEFT JOIN turns u ON u.id = m.turn_id AND m.kind = 'prompt'
     LEFT JOIN approvals a ON a.id = m.approval_id AND m.kind = 'answer'
     LEFT JOIN users w ON w.id = coalesce(u.sender_user_id, a.answered_by) ";

/// Begins a query for messages of sessions that a condition on `t` may leave out.
fn with_session() -> Query {
    let mut query = Query::new(WITH_AUTHOR);
    query.push("JOIN sessions t ON t.id = m.session_id WHERE ");
    query
}

impl SqliteStore {
    /// Returns the one message a query yields, if it yields one.
    async fn message_of(&self, query: Query) -> Result<Option<Message>> {
        let rows = self.rows(query).await?;
        let read = |row| row::direct("message", message_row(row));
        rows.first().map(read).transpose()
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
    let author = row::parse_opt(row, "author", UserName::parse)?;
    let session = row::id_opt(row, "author_session_id")?;
    Ok(Message {
        author: author.map(|name| Author { name, session }),
        id: row::id(row, "id")?,
        session: row::id(row, "session_id")?,
        seq: row::count(row, "seq")?,
        turn: row::id_opt(row, "turn_id")?,
        kind: row::parse_enum(row, "kind", MessageKind::parse)?,
        text: row::get(row, "text")?,
        detail: row::get(row, "detail")?,
        approval: row::id_opt(row, "approval_id")?,
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
    let Some(newest) = messages.last() else {
        return current_in_txn(batch, session, epoch).await;
    };
    let at = newest.created_at;
    // All but the last chunk, which is most often the only one, are added by statements of their own.
    let last_chunk = (messages.len() - 1) / ROWS_MAX * ROWS_MAX;
    for (n, chunk) in messages[..last_chunk].chunks(ROWS_MAX).enumerate() {
        let mut insert = insert_query(session, epoch, n * ROWS_MAX, chunk);
        let inserted = insert.build().persistent(false).execute(&mut *batch.conn);
        inserted.await.map_err(taken)?;
    }
    let chunk = &messages[last_chunk..];
    let mut insert = insert_query(session, epoch, last_chunk, chunk);
    push_session_update(&mut insert, session, epoch, &messages, micros(at));
    insert.push(KEEP);
    let insert = insert.build().persistent(is_common(chunk.len()));
    let updated = insert.fetch_all(&mut *batch.conn).await.map_err(taken)?;
    let Some(updated) = updated.first() else {
        // Nothing was written; the session says why.
        return current_in_txn(batch, session, epoch).await;
    };
    let last = row::direct("session", row::count(updated, "last_seq"))?;
    let owner = row::direct("session", row::owner(updated))?;
    batch.kept();
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

/// Returns the number of the last message of a session whose current run this is, or says why it is not.
async fn current_in_txn(batch: &mut Batch<'_>, session: SessionId, epoch: u64) -> Result<u64> {
    let found = sqlx::query("SELECT epoch, last_seq FROM sessions WHERE id = ?")
        .bind(uuid(session))
        .fetch_optional(&mut *batch.conn)
        .await
        .map_err(store_error)?
        .ok_or(StoreError::NotFound { what: "session" })?;
    let current = row::direct("session", row::count(&found, "epoch"))?;
    // A run that the store does not know of yet is as little current as one that is over.
    if epoch != current {
        return Err(StoreError::Fenced { epoch, current });
    }
    row::direct("session", row::count(&found, "last_seq"))
}

/// Returns as much of what the agent said as a session's row repeats.
pub(crate) fn last_words(text: &str) -> String {
    text.chars().take(LAST_WORDS_CHARS).collect()
}

fn taken(error: sqlx::Error) -> StoreError {
    insert_error(error, &[("messages.id", "the message's id")])
}

/// Returns the insertion of messages with the numbers after the session's last plus `before`; of none if it is fenced.
fn insert_query(session: SessionId, epoch: u64, before: usize, messages: &[NewMessage]) -> Query {
    let mut query = Query::new(
        "INSERT INTO messages (id, session_id, seq, turn_id, kind, text, detail, approval_id, created_at) ",
    );
    query.push("WITH new (id, n, turn_id, kind, text, detail, approval_id, created_at) AS (");
    query.push_values(
        messages.iter().zip(before + 1..),
        |mut row, (message, n)| {
            row.push_bind(uuid(message.id))
                .push_bind(int(n as u64))
                .push_bind(uuid_opt(message.turn))
                .push_bind(message.kind.as_str())
                .push_bind(message.text.as_str())
                .push_bind(message.detail.as_deref())
                .push_bind(uuid_opt(message.approval))
                .push_bind(micros(message.created_at));
        },
    );
    query.push(
        ") SELECT new.id, s.id, s.last_seq + new.n, new.turn_id, new.kind, new.text, new.detail,
             new.approval_id, new.created_at
         FROM new CROSS JOIN sessions s WHERE s.id = ",
    );
    query.push_bind(uuid(session));
    query.push(" AND s.epoch = ").push_bind(int(epoch));
    query
}

/// Adds the update of the session's row, which yields the row if the messages were added.
fn push_session_update(
    query: &mut Query,
    session: SessionId,
    epoch: u64,
    messages: &[NewMessage],
    at: i64,
) {
    let said = messages.iter().rev().find(|m| m.kind == MessageKind::Agent);
    let words = said.map(|m| last_words(&m.text));
    query.push("; UPDATE sessions SET last_seq = last_seq + ");
    query.push_bind(int(messages.len() as u64));
    query.push(", last_words = coalesce(").push_bind(words);
    query
        .push(", last_words), updated_at = max(updated_at, ")
        .push_bind(at);
    query.push(") WHERE id = ").push_bind(uuid(session));
    query.push(" AND epoch = ").push_bind(int(epoch));
    query.push(" RETURNING last_seq, owner_user_id, owner_key_id");
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
