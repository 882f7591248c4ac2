//! Approvals.

use async_trait::async_trait;
use jiff::Timestamp;
use newtype_uuid::GenericUuid;
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;
use uuid::Uuid;
use wh_domain::{
    Approval, ApprovalFilter, ApprovalId, ApprovalKind, ApprovalState, Author, IdRef, Page,
    PageRequest, Reach, Session, SessionEvent, SessionId, Settlement, UserName,
};
use wh_store::{Applied, ApprovalStore, Commit, Result, StoreError};

use crate::SqliteStore;
use crate::batch::Batch;
use crate::change::Change;
use crate::error::{insert_error, store_error};
use crate::reach::{CANDIDATES_MAX, Query, counted, push_id};
use crate::row::{self, Parsed, int, micros, uuid, uuid_opt};
use crate::session::move_in_txn;
use crate::turn::push_session_reach;
use crate::user::push_page;

#[async_trait]
impl ApprovalStore for SqliteStore {
    async fn approval_settle(
        &self,
        id: ApprovalId,
        settlement: &Settlement,
        commit: Commit,
    ) -> Result<Applied> {
        let change = Change::ApprovalSettle(id, settlement.clone(), commit.audit.at);
        self.commit(change, commit).await
    }

    async fn approval_find(&self, reach: Reach, id: &IdRef) -> Result<Vec<Approval>> {
        let mut query = Query::new(WITH_ANSWERER);
        push_id(&mut query, id);
        query.push(" AND ");
        push_session_reach(&mut query, reach);
        query.push(format_args!(" ORDER BY t.id DESC LIMIT {CANDIDATES_MAX}"));
        let rows = self.rows(query).await?;
        rows.iter()
            .map(|r| row::direct("approval", approval_row(r)))
            .collect()
    }

    async fn approval_list(
        &self,
        reach: Reach,
        filter: &ApprovalFilter,
        page: PageRequest<Uuid>,
    ) -> Result<Page<Approval, Uuid>> {
        let listed = |mut query: Query| {
            push_session_reach(&mut query, reach);
            if let Some(session) = filter.session {
                query.push(" AND t.session_id = ").push_bind(uuid(session));
            }
            if !filter.include_settled {
                query.push(" AND t.state = 'pending'");
            }
            query
        };
        let mut query = listed(Query::new(WITH_ANSWERER));
        push_page(&mut query, page);
        let rows = self.rows(query).await?;
        let found = row::page("approval", rows, page.limit, row::id_cursor, approval_row)?;
        let all = || Some(listed(counted("approvals t")));
        let total = self.list_total(page, all).await?;
        Ok(Page { total, ..found })
    }
}

/// Begins a query for approvals, settled ones with who settled them.
const WITH_ANSWERER: &str = "SELECT t.*, (SELECT name FROM users WHERE id = t.answered_by) AS answerer FROM approvals t WHERE ";

pub(crate) fn approval_row(row: &SqliteRow) -> Parsed<Approval> {
    let answerer = row::parse_opt(row, "answerer", UserName::parse)?;
    let session = row::id_opt(row, "answered_by_session_id")?;
    Ok(Approval {
        id: row::id(row, "id")?,
        session: row::id(row, "session_id")?,
        turn: row::id_opt(row, "turn_id")?,
        epoch: row::count(row, "epoch")?,
        request: row::get(row, "request")?,
        kind: row::parse_enum(row, "kind", ApprovalKind::parse)?,
        state: row::parse_enum(row, "state", ApprovalState::parse)?,
        text: row::get(row, "text")?,
        detail: row::get(row, "detail")?,
        answer: row::get(row, "answer")?,
        always: row::get(row, "always")?,
        answered_by: answerer.map(|name| Author { name, session }),
        expires_at: row::time_opt(row, "expires_at")?,
        created_at: row::time(row, "created_at")?,
        settled_at: row::time_opt(row, "settled_at")?,
        delivered_at: row::time_opt(row, "delivered_at")?,
    })
}

/// Adds an approval that nobody has settled; a rule may have.
pub(crate) async fn insert_in_txn(conn: &mut SqliteConnection, approval: &Approval) -> Result<()> {
    sqlx::query(
        "INSERT INTO approvals (id, session_id, turn_id, epoch, request, kind, state, text, detail, answer, always,
             expires_at, created_at, settled_at, delivered_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )
    .bind(uuid(approval.id))
    .bind(uuid(approval.session))
    .bind(uuid_opt(approval.turn))
    .bind(int(approval.epoch))
    .bind(&approval.request)
    .bind(approval.kind.as_str())
    .bind(approval.state.as_str())
    .bind(&approval.text)
    .bind(approval.detail.as_deref())
    .bind(approval.answer.as_deref())
    .bind(approval.always)
    .bind(approval.expires_at.map(micros))
    .bind(micros(approval.created_at))
    .bind(approval.settled_at.map(micros))
    .bind(approval.delivered_at.map(micros))
    .execute(conn)
    .await
    .map(drop)
    .map_err(|e| insert_error(e, &[("approvals.session_id", "the run's request")]))
}

/// Settles an approval on somebody's behalf, and lets its session go on.
pub(crate) async fn answer_in_txn(
    batch: &mut Batch<'_>,
    id: ApprovalId,
    settlement: &Settlement,
    at: Timestamp,
) -> Result<()> {
    let session: Option<Uuid> = sqlx::query_scalar("SELECT session_id FROM approvals WHERE id = ?")
        .bind(uuid(id))
        .fetch_optional(&mut *batch.conn)
        .await
        .map_err(store_error)?;
    let session = session.ok_or(StoreError::NotFound { what: "approval" })?;
    settle_in_txn(batch.conn, id, settlement, at).await?;
    let session = SessionId::from_untyped_uuid(session);
    let event = SessionEvent::ApprovalSettled;
    match move_in_txn(batch, session, &event, at).await {
        // A session that is being stopped does not wait any more; the answer stands all the same.
        Err(StoreError::Illegal(_)) => Ok(()),
        moved => moved,
    }
}

/// Settles an approval that is pending.
pub(crate) async fn settle_in_txn(
    conn: &mut SqliteConnection,
    id: ApprovalId,
    settlement: &Settlement,
    at: Timestamp,
) -> Result<()> {
    let settled = sqlx::query(
        "UPDATE approvals SET state = ?, answer = ?, always = ?, answered_by = ?, answered_by_session_id = ?, settled_at = ?,
             reason_unread = ?
         WHERE id = ? AND state = 'pending'",
    )
    .bind(settlement.state.as_str())
    .bind(settlement.answer.as_deref())
    .bind(settlement.always)
    .bind(uuid_opt(settlement.by.map(|by| by.user)))
    .bind(uuid_opt(settlement.by.and_then(|by| by.session)))
    .bind(micros(at))
    .bind(settlement.has_reason())
    .bind(uuid(id))
    .execute(conn)
    .await
    .map_err(store_error)?;
    match settled.rows_affected() {
        0 => Err(StoreError::Settled),
        _ => Ok(()),
    }
}

/// Finds what the session's current run asked under a name of its own.
pub(crate) async fn by_request_in_txn(
    conn: &mut SqliteConnection,
    session: &Session,
    request: &str,
) -> Result<Option<Approval>> {
    let mut query = Query::new(WITH_ANSWERER);
    query.push("t.session_id = ").push_bind(uuid(session.id));
    query.push(" AND t.epoch = ").push_bind(int(session.epoch));
    query
        .push(" AND t.request = ")
        .push_bind(request.to_owned());
    let found = query.build().fetch_optional(conn);
    let found = found.await.map_err(store_error)?;
    let read = |row| row::direct("approval", approval_row(&row));
    found.map(read).transpose()
}

/// Returns the approvals that a session waits for.
pub(crate) async fn pending_in_txn(
    conn: &mut SqliteConnection,
    session: SessionId,
) -> Result<Vec<ApprovalId>> {
    let sql = "SELECT id FROM approvals WHERE session_id = ? AND state = 'pending' ORDER BY id";
    let ids: Vec<Uuid> = sqlx::query_scalar(sql)
        .bind(uuid(session))
        .fetch_all(conn)
        .await
        .map_err(store_error)?;
    Ok(ids.into_iter().map(ApprovalId::from_untyped_uuid).collect())
}
