//! Removes what has expired, a bounded number of rows at a time, so that no change waits long behind it.

use async_trait::async_trait;
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

/// The log is in the order of time, so what has expired lies at its beginning; the newest event stays.
const EVENTS: &str = "DELETE FROM events WHERE seq IN (
    SELECT seq FROM events WHERE at < ?1 AND seq < (SELECT max(seq) FROM events) ORDER BY seq LIMIT ?2)";

/// Reads and refusals have no subject; what changed something has one and is kept.
const READS: &str = "DELETE FROM audit WHERE seq IN (
    SELECT seq FROM audit WHERE at < ?1 AND subject_id IS NULL ORDER BY seq LIMIT ?2)";

pub(crate) async fn forget_in_txn(
    conn: &mut SqliteConnection,
    expired: Expired,
) -> Result<Forgotten> {
    let remove = async |conn: &mut SqliteConnection, sql: &'static str, before| {
        let query = sqlx::query(sql).bind(micros(before)).bind(expired.rows_max);
        let done = query.execute(conn).await.map_err(store_error)?;
        Ok::<_, StoreError>(done.rows_affected())
    };
    Ok(Forgotten {
        events: remove(&mut *conn, EVENTS, expired.events_before).await?,
        reads: remove(&mut *conn, READS, expired.reads_before).await?,
    })
}
