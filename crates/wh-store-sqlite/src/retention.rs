//! Removes what has expired, a bounded number of rows at a time, so that no change waits long behind it.

use async_trait::async_trait;
use jiff::Timestamp;
use sqlx::SqliteConnection;
use wh_store::{Expired, Forgotten, Result, RetentionStore, StoreError};

use crate::SqliteStore;
use crate::change::Request;
use crate::error::store_error;
use crate::row::micros;

#[async_trait]
impl RetentionStore for SqliteStore {
    async fn forget(&self, expired: Expired) -> Result<Forgotten> {
        self.ask(|answer| Request::Forget { expired, answer }).await
    }
}

/// The newest event stays: clients go on from its number.
const EVENTS: &str = "DELETE FROM events WHERE seq IN (
    SELECT seq FROM events WHERE seq < ?1 AND seq < (SELECT max(seq) FROM events) ORDER BY seq LIMIT ?2)";
const EVENT_FROM: &str = "SELECT seq, at FROM events WHERE seq >= ?1 ORDER BY seq LIMIT 1";
const EVENT_ENDS: &str = "SELECT (SELECT min(seq) FROM events), (SELECT max(seq) FROM events)";

/// Reads and refusals have no subject; what changed something has one and is kept.
const READS: &str = "DELETE FROM audit WHERE seq IN (
    SELECT seq FROM audit WHERE seq < ?1 AND subject_id IS NULL ORDER BY seq LIMIT ?2)";
const READ_FROM: &str = "SELECT seq, at FROM audit WHERE seq >= ?1 ORDER BY seq LIMIT 1";
const READ_ENDS: &str = "SELECT (SELECT min(seq) FROM audit), (SELECT max(seq) FROM audit)";

pub(crate) async fn forget_in_txn(
    conn: &mut SqliteConnection,
    expired: Expired,
) -> Result<Forgotten> {
    let remove = async |conn: &mut SqliteConnection, sql: &'static str, before: i64| {
        let query = sqlx::query(sql).bind(before).bind(expired.rows_max);
        let done = query.execute(conn).await.map_err(store_error)?;
        Ok::<_, StoreError>(done.rows_affected())
    };
    let events = first_since(conn, EVENT_ENDS, EVENT_FROM, expired.events_before).await?;
    let reads = first_since(conn, READ_ENDS, READ_FROM, expired.reads_before).await?;
    Ok(Forgotten {
        events: remove(&mut *conn, EVENTS, events).await?,
        reads: remove(&mut *conn, READS, reads).await?,
    })
}

/// Returns the number of the first entry of the audit log that is not older than `since`.
pub(crate) async fn audit_since(conn: &mut SqliteConnection, since: Timestamp) -> Result<i64> {
    first_since(conn, READ_ENDS, READ_FROM, since).await
}

/// Returns the number of the first row that is not older than `since`.
///
/// Rows are numbered in the order of time, so a few of them have to be looked at, however many there are: reading through the
/// whole log would keep every change waiting, and the log in memory.
async fn first_since(
    conn: &mut SqliteConnection,
    ends: &'static str,
    from: &'static str,
    since: Timestamp,
) -> Result<i64> {
    let since = micros(since);
    let ends = sqlx::query_as(ends).fetch_one(&mut *conn).await;
    let (first, last): (Option<i64>, Option<i64>) = ends.map_err(store_error)?;
    let (Some(mut first), Some(last)) = (first, last) else {
        return Ok(0);
    };
    let mut end = last + 1;
    while first < end {
        let middle = first + (end - first) / 2;
        let row = sqlx::query_as(from).bind(middle).fetch_one(&mut *conn);
        let (seq, at): (i64, i64) = row.await.map_err(store_error)?;
        if at < since {
            first = seq + 1;
        } else {
            end = middle;
        }
    }
    Ok(end)
}
