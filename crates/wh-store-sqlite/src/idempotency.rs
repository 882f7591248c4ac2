//! Marks on requests that may be sent twice.

use jiff::{SignedDuration, Timestamp};
use sqlx::{Row, SqliteConnection};
use wh_domain::{Subject, SubjectKind};
use wh_store::{IdempotencyClaim, Result, StoreError};

use crate::error::store_error;
use crate::row::{self, micros, uuid};

/// How long a repeat gets the first result.
const REMEMBERED: SignedDuration = SignedDuration::from_hours(IdempotencyClaim::REMEMBERED_HOURS);

/// How long a mark is kept. Longer than it counts, so that a clock that jumps ahead forgets nothing at once.
const KEPT: SignedDuration = SignedDuration::from_hours(IdempotencyClaim::REMEMBERED_HOURS * 3);

/// What a claim came to.
pub(crate) enum Claimed {
    /// Nobody had the mark; it is taken now.
    First,
    /// The same request was committed before, about this subject.
    Repeat(Subject),
}

/// Tells whether a request with this mark was committed, and about what; another request with it is an error.
pub(crate) async fn find_on_conn(
    conn: &mut SqliteConnection,
    claim: &IdempotencyClaim,
    at: Timestamp,
) -> Result<Option<Subject>> {
    let found = sqlx::query(
        "SELECT operation, request, subject_kind, subject_id FROM idempotency
         WHERE user_id = ? AND key_id = ? AND mark = ? AND at > ?",
    )
    .bind(uuid(claim.user))
    .bind(key_of(claim))
    .bind(claim.mark.as_str())
    .bind(micros(earlier(at, REMEMBERED)))
    .fetch_optional(&mut *conn)
    .await
    .map_err(store_error)?;
    let Some(found) = found else {
        return Ok(None);
    };
    let operation: &str = found.try_get("operation").map_err(store_error)?;
    let request: &[u8] = found.try_get("request").map_err(store_error)?;
    if operation != claim.operation.name() || request != claim.request {
        return Err(StoreError::KeyReused);
    }
    let subject = || {
        Ok(Subject {
            kind: row::parse_enum(&found, "subject_kind", SubjectKind::parse)?,
            id: row::get(&found, "subject_id")?,
        })
    };
    row::direct("idempotency mark", subject()).map(Some)
}

/// Takes a mark, or tells that the same or another request has it.
pub(crate) async fn claim_in_txn(
    conn: &mut SqliteConnection,
    claim: &IdempotencyClaim,
    at: Timestamp,
) -> Result<Claimed> {
    if let Some(subject) = find_on_conn(conn, claim, at).await? {
        return Ok(Claimed::Repeat(subject));
    }
    sqlx::query(
        "INSERT OR REPLACE INTO idempotency
         (user_id, key_id, mark, operation, request, subject_kind, subject_id, at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
    )
    .bind(uuid(claim.user))
    .bind(key_of(claim))
    .bind(claim.mark.as_str())
    .bind(claim.operation.name())
    .bind(claim.request.as_slice())
    .bind(claim.subject.kind.as_str())
    .bind(claim.subject.id)
    .bind(micros(at))
    .execute(conn)
    .await
    .map_err(store_error)?;
    Ok(Claimed::First)
}

/// Returns the credential's key; one without a key has the empty key.
fn key_of(claim: &IdempotencyClaim) -> Vec<u8> {
    claim
        .key
        .map_or_else(Vec::new, |key| uuid(key).as_bytes().to_vec())
}

/// Removes some of the marks that no longer count.
pub(crate) async fn prune_in_txn(conn: &mut SqliteConnection, now: Timestamp) -> sqlx::Result<()> {
    sqlx::query(
        "DELETE FROM idempotency WHERE (user_id, key_id, mark) IN
         (SELECT user_id, key_id, mark FROM idempotency WHERE at < ? ORDER BY at LIMIT 5000)",
    )
    .bind(micros(earlier(now, KEPT)))
    .execute(conn)
    .await
    .map(drop)
}

fn earlier(at: Timestamp, by: SignedDuration) -> Timestamp {
    at.checked_sub(by).unwrap_or(Timestamp::MIN)
}
