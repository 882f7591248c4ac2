//! What a step means to answers: delivered, to be sent again, and the reasons of denials that an agent has yet to read.

use newtype_uuid::GenericUuid;
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;
use uuid::Uuid;
use wh_domain::{
    ApprovalId, ApprovalKind, ApprovalState, DenialReason, EventKind, Facts, NewTurn, NewsKind,
    Sender, SessionEvent, SessionId, SessionState, TurnId, TurnState, reasons_need_turn,
    reasons_prompt,
};
use wh_store::Result;

use super::{Applying, session_event};
use crate::error::store_error;
use crate::reach::Query;
use crate::row::{self, Parsed, int, micros, uuid};
use crate::turn;

impl Applying<'_> {
    pub(super) async fn delivered(&mut self, id: ApprovalId) -> Result<()> {
        sqlx::query("UPDATE approvals SET delivered_at = ? WHERE id = ? AND state <> 'pending'")
            .bind(micros(self.at))
            .bind(uuid(id))
            .execute(&mut *self.conn)
            .await
            .map(drop)
            .map_err(store_error)
    }

    /// Resends the answers to requests that the runner reports as open.
    pub(super) async fn still_open(&mut self, requests: &[String]) -> Result<()> {
        let mut query = Query::new("UPDATE approvals SET delivered_at = NULL WHERE session_id = ");
        query.push_bind(uuid(self.session.id));
        query.push(" AND epoch = ").push_bind(int(self.epoch));
        query.push(" AND state <> 'pending' AND delivered_at IS NOT NULL AND request IN (");
        let mut list = query.separated(", ");
        for request in requests {
            list.push_bind(request.clone());
        }
        query.push(")");
        let reset = query.build().execute(&mut *self.conn).await;
        reset.map(drop).map_err(store_error)
    }

    /// Takes an answer back that the agent cannot be sent.
    pub(super) async fn reopened(&mut self, id: ApprovalId) -> Result<()> {
        let text: Option<String> = sqlx::query_scalar(
            "UPDATE approvals SET state = 'pending', answer = NULL, always = 0, answered_by = NULL,
                 answered_by_session_id = NULL, settled_at = NULL
             WHERE id = ? AND state = 'allowed' AND delivered_at IS NULL RETURNING text",
        )
        .bind(uuid(id))
        .fetch_optional(&mut *self.conn)
        .await
        .map_err(store_error)?;
        if let Some(text) = text {
            self.happens(SessionEvent::ApprovalRequested);
            self.news(NewsKind::NeedsAnswer, &text, Some(id)).await?;
            self.announce_approval(id, EventKind::StateChanged, ApprovalState::Pending);
        }
        Ok(())
    }

    /// Queues a prompt with the reasons that the agent has yet to read, unless a prompt waits that they go with or a budget is used
    /// up. Returns whether it did.
    ///
    /// The reasons stay unread until the agent has the prompt: it can still be cancelled or refused.
    pub(super) async fn queue_reasons(&mut self, ended: TurnId, state: TurnState) -> Result<bool> {
        let reasons = unread_on_conn(self.conn, self.session.id).await?;
        let is_idle = self.session.state == SessionState::Idle && !self.session.archived;
        let Some(first) = reasons.first().filter(|_| is_idle) else {
            return Ok(false);
        };
        let (was_interrupted, is_queued): (bool, bool) = sqlx::query_as(
            "SELECT cancel_requested, EXISTS (SELECT 1 FROM turns WHERE session_id = ?1 AND state = 'queued')
             FROM turns WHERE id = ?2",
        )
        .bind(uuid(self.session.id))
        .bind(uuid(ended))
        .fetch_one(&mut *self.conn)
        .await
        .map_err(store_error)?;
        if is_queued || !reasons_need_turn(state, was_interrupted) || self.is_budget_spent().await?
        {
            return Ok(false);
        }
        let prompt = NewTurn {
            id: TurnId::from_untyped_uuid(Uuid::now_v7()),
            session: self.session.id,
            prompt: reasons_prompt(&reasons),
            files: Vec::new(),
            sender: first.by,
            urgent: false,
            created_at: self.at,
        };
        turn::insert_in_txn(self.conn, &prompt).await?;
        let created = session_event(&self.session, EventKind::Created, Facts::new());
        self.events.push(wh_domain::NewEvent {
            subject: prompt.id.into(),
            ..created
        });
        Ok(true)
    }
}

/// Returns the reasons that a session's agent has yet to read, oldest first.
pub(crate) async fn unread_on_conn(
    conn: &mut SqliteConnection,
    session: SessionId,
) -> Result<Vec<DenialReason>> {
    let rows = sqlx::query(
        "SELECT kind, text, answer, answered_by, answered_by_session_id FROM approvals
         WHERE session_id = ? AND reason_unread = 1 ORDER BY id",
    )
    .bind(uuid(session))
    .fetch_all(conn)
    .await
    .map_err(store_error)?;
    let read = |row| row::direct("approval", reason_row(row));
    rows.iter().map(read).collect()
}

fn reason_row(row: &SqliteRow) -> Parsed<DenialReason> {
    Ok(DenialReason {
        kind: row::parse_enum(row, "kind", ApprovalKind::parse)?,
        asked: row::get(row, "text")?,
        reason: row::get(row, "answer")?,
        by: Sender {
            user: row::id(row, "answered_by")?,
            session: row::id_opt(row, "answered_by_session_id")?,
        },
    })
}
