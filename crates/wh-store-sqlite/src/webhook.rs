//! Webhooks and what they are to be told.

use async_trait::async_trait;
use jiff::Timestamp;
use sqlx::SqliteConnection;
use sqlx::sqlite::SqliteRow;
use uuid::Uuid;
use wh_domain::{
    Attempt, EventSeq, IdRef, Page, PageRequest, Reach, SecretText, Webhook, WebhookDelivery,
    WebhookId, WebhookKinds, WebhookRules, WebhookState,
};
use wh_store::{Applied, Commit, Result, StoreError, WebhookStanding, WebhookStore};

use crate::SqliteStore;
use crate::batch::{Batch, chunks};
use crate::change::{Change, Request};
use crate::error::{insert_error, store_error};
use crate::reach::{Query, counted};
use crate::row::{self, BadRow, Parsed, int, micros, uuid, uuid_opt};
use crate::user::push_page;

/// Deliveries of one webhook that are kept after they were made, so that people can look.
const DELIVERED_KEPT: u32 = 100;

/// Deliveries of one webhook that wait; events beyond stay in the feed until there is room.
const PENDING_MAX: u32 = 5_000;

/// What the worker asks for, without a caller and so without an audit entry.
#[derive(Clone, Debug)]
pub(crate) enum WebhookStep {
    Plan {
        id: WebhookId,
        after: EventSeq,
        through: EventSeq,
        deliveries: Vec<WebhookDelivery>,
    },
    Attempted {
        delivery: WebhookDelivery,
        attempt: Attempt,
        rules: WebhookRules,
        at: Timestamp,
    },
}

#[async_trait]
impl WebhookStore for SqliteStore {
    async fn webhook_insert(&self, webhook: &Webhook, commit: Commit) -> Result<Applied> {
        let change = Change::WebhookInsert(Box::new(webhook.clone()));
        self.commit(change, commit).await
    }

    async fn webhook_turn(
        &self,
        id: WebhookId,
        state: WebhookState,
        commit: Commit,
    ) -> Result<Applied> {
        self.commit(Change::WebhookTurn(id, state), commit).await
    }

    async fn webhook_delete(&self, id: WebhookId, commit: Commit) -> Result<Applied> {
        self.commit(Change::WebhookDelete(id), commit).await
    }

    async fn webhook_find(&self, reach: Reach, id: &IdRef) -> Result<Vec<WebhookStanding>> {
        self.candidates(
            within_reach(Query::new(STANDING), reach),
            id,
            "webhook",
            standing_row,
        )
        .await
    }

    async fn webhook_list(
        &self,
        reach: Reach,
        page: PageRequest<Uuid>,
    ) -> Result<Page<WebhookStanding, Uuid>> {
        let Some(mut query) = within_reach(Query::new(STANDING), reach) else {
            return self.check_open().map(|()| Page::empty());
        };
        push_page(&mut query, page);
        let rows = self.rows(query).await?;
        let found = row::page("webhook", rows, page.limit, row::id_cursor, standing_row)?;
        let total = || within_reach(counted("webhooks t"), reach);
        let total = self.list_total(page, total).await?;
        Ok(Page { total, ..found })
    }

    async fn webhook_behind(&self) -> Result<Vec<Webhook>> {
        let newest = *self.events.borrow();
        let mut query =
            Query::new("SELECT t.* FROM webhooks t WHERE t.state = 'active' AND t.cursor < ");
        query.push_bind(int(newest));
        // The feed waits for a slow receiver, not we.
        query.push(format_args!(
            " AND (SELECT count(*) FROM webhook_deliveries d WHERE d.webhook_id = t.id AND d.state = 'pending') < {PENDING_MAX}"
        ));
        let rows = self.rows(query).await?;
        Ok(row::listed("webhook", &rows, webhook_row))
    }

    async fn webhook_plan(
        &self,
        id: WebhookId,
        after: EventSeq,
        through: EventSeq,
        deliveries: Vec<WebhookDelivery>,
    ) -> Result<()> {
        let step = WebhookStep::Plan {
            id,
            after,
            through,
            deliveries,
        };
        let step = Box::new(step);
        self.ask(|answer| Request::Webhook { step, answer }).await
    }

    async fn webhook_due(
        &self,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<(WebhookDelivery, Webhook)>> {
        let mut query = Query::new(
            "SELECT t.*, d.id AS delivery_id, d.event_seq, d.body, d.attempts, d.created_at AS planned_at
             FROM webhook_deliveries d CROSS JOIN webhooks t ON t.id = d.webhook_id CROSS JOIN users u ON u.id = t.user_id
             WHERE u.disabled_at IS NULL AND d.state = 'pending' AND t.state = 'active' AND d.due_at <= ",
        );
        query.push_bind(micros(now));
        query.push(format_args!(" ORDER BY d.due_at LIMIT {limit}"));
        let rows = self.rows(query).await?;
        Ok(row::listed("webhook delivery", &rows, due_row))
    }

    async fn webhook_attempted(
        &self,
        delivery: &WebhookDelivery,
        attempt: Attempt,
        rules: WebhookRules,
        at: Timestamp,
    ) -> Result<()> {
        let step = WebhookStep::Attempted {
            delivery: delivery.clone(),
            attempt,
            rules,
            at,
        };
        let step = Box::new(step);
        self.ask(|answer| Request::Webhook { step, answer }).await
    }
}

/// Begins a query for webhooks with the state of their deliveries.
const STANDING: &str = "SELECT t.*, (SELECT count(*) FROM webhook_deliveries d WHERE d.webhook_id = t.id AND d.state = 'pending') AS pending,
         (SELECT count(*) FROM webhook_deliveries d WHERE d.webhook_id = t.id AND d.state = 'dead') AS dead
     FROM webhooks t WHERE ";

/// Narrows a query to webhooks within reach; nothing when none can be.
fn within_reach(mut query: Query, reach: Reach) -> Option<Query> {
    match reach {
        Reach::All => query.push("TRUE"),
        Reach::User(user) | Reach::UserAndGuest { user, .. } => {
            query.push("t.user_id = ").push_bind(uuid(user))
        }
        Reach::Guest { .. } | Reach::Key(_) | Reach::Tree(_) => return None,
    };
    Some(query)
}

fn standing_row(row: &SqliteRow) -> Parsed<WebhookStanding> {
    Ok(WebhookStanding {
        webhook: webhook_row(row)?,
        pending: row::count(row, "pending")?,
        dead: row::count(row, "dead")?,
    })
}

fn webhook_row(row: &SqliteRow) -> Parsed<Webhook> {
    let kinds = row::get::<&str>(row, "kinds")?;
    let kinds = WebhookKinds::parse(kinds.split(',')).map_err(|e| BadRow::new("kinds", e))?;
    let failures = row::count(row, "failures")?;
    Ok(Webhook {
        id: row::id(row, "id")?,
        user: row::id(row, "user_id")?,
        url: row::get(row, "url")?,
        kinds,
        board: row::id_opt(row, "board_id")?,
        session: row::id_opt(row, "session_id")?,
        secret: SecretText::new(row::get(row, "secret")?),
        state: row::parse_enum(row, "state", WebhookState::parse)?,
        failures: u32::try_from(failures).unwrap_or(u32::MAX),
        last_error: row::get(row, "last_error")?,
        cursor: row::count(row, "cursor")?,
        created_at: row::time(row, "created_at")?,
    })
}

fn due_row(row: &SqliteRow) -> Parsed<(WebhookDelivery, Webhook)> {
    let webhook = webhook_row(row)?;
    let attempts = row::count(row, "attempts")?;
    let delivery = WebhookDelivery {
        id: row::id(row, "delivery_id")?,
        webhook: webhook.id,
        event: row::count(row, "event_seq")?,
        body: row::get(row, "body")?,
        attempts: u32::try_from(attempts).unwrap_or(u32::MAX),
        created_at: row::time(row, "planned_at")?,
    };
    Ok((delivery, webhook))
}

pub(crate) async fn insert_in_txn(conn: &mut SqliteConnection, webhook: &Webhook) -> Result<()> {
    sqlx::query(
        "INSERT INTO webhooks (id, user_id, url, kinds, board_id, session_id, secret, state, failures, cursor, created_at)
         VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, ?, ?)",
    )
    .bind(uuid(webhook.id))
    .bind(uuid(webhook.user))
    .bind(&webhook.url)
    .bind(webhook.kinds.texts().join(","))
    .bind(uuid_opt(webhook.board))
    .bind(uuid_opt(webhook.session))
    .bind(webhook.secret.expose())
    .bind(webhook.state.as_str())
    .bind(int(webhook.cursor))
    .bind(micros(webhook.created_at))
    .execute(conn)
    .await
    .map(drop)
    .map_err(|e| insert_error(e, &[]))
}

pub(crate) async fn turn_in_txn(
    conn: &mut SqliteConnection,
    id: WebhookId,
    state: WebhookState,
) -> Result<()> {
    // What happened while it was off is not told: its followers have read everything anew by then.
    let turned = sqlx::query(
        "UPDATE webhooks SET state = ?1, failures = 0, last_error = CASE WHEN ?1 = 'active' THEN NULL ELSE last_error END,
             cursor = CASE WHEN ?1 = 'active' AND state <> 'active'
                 THEN coalesce((SELECT seq FROM sqlite_sequence WHERE name = 'events'), 0) ELSE cursor END
         WHERE id = ?2",
    )
    .bind(state.as_str())
    .bind(uuid(id))
    .execute(conn)
    .await
    .map_err(store_error)?;
    found(turned.rows_affected())
}

pub(crate) async fn delete_in_txn(conn: &mut SqliteConnection, id: WebhookId) -> Result<()> {
    let deleted = sqlx::query("DELETE FROM webhooks WHERE id = ?")
        .bind(uuid(id))
        .execute(conn)
        .await
        .map_err(store_error)?;
    found(deleted.rows_affected())
}

fn found(rows: u64) -> Result<()> {
    match rows {
        0 => Err(StoreError::NotFound { what: "webhook" }),
        _ => Ok(()),
    }
}

/// Records what the worker did.
pub(crate) async fn step_in_txn(batch: &mut Batch<'_>, step: &WebhookStep) -> Result<()> {
    match step {
        WebhookStep::Plan {
            id,
            after,
            through,
            deliveries,
        } => plan_in_txn(batch.conn, *id, (*after, *through), deliveries).await,
        WebhookStep::Attempted {
            delivery,
            attempt,
            rules,
            at,
        } => attempted_in_txn(batch.conn, delivery, attempt, *rules, *at).await,
    }
}

async fn plan_in_txn(
    conn: &mut SqliteConnection,
    id: WebhookId,
    (after, through): (EventSeq, EventSeq),
    deliveries: &[WebhookDelivery],
) -> Result<()> {
    let moved = sqlx::query(
        "UPDATE webhooks SET cursor = ? WHERE id = ? AND cursor = ? AND state = 'active'",
    )
    .bind(int(through))
    .bind(uuid(id))
    .bind(int(after))
    .execute(&mut *conn)
    .await
    .map_err(store_error)?;
    if moved.rows_affected() == 0 {
        return Err(StoreError::Stale { what: "webhook" });
    }
    for chunk in chunks(deliveries) {
        let mut query = Query::new(
            "INSERT INTO webhook_deliveries (id, webhook_id, event_seq, body, state, attempts, due_at, created_at) ",
        );
        query.push_values(chunk, |mut row, delivery| {
            row.push_bind(uuid(delivery.id))
                .push_bind(uuid(id))
                .push_bind(int(delivery.event))
                .push_bind(&delivery.body)
                .push_bind("pending")
                .push_bind(0)
                .push_bind(micros(delivery.created_at))
                .push_bind(micros(delivery.created_at));
        });
        query
            .build()
            .execute(&mut *conn)
            .await
            .map_err(store_error)?;
    }
    Ok(())
}

async fn attempted_in_txn(
    conn: &mut SqliteConnection,
    delivery: &WebhookDelivery,
    attempt: &Attempt,
    rules: WebhookRules,
    at: Timestamp,
) -> Result<()> {
    let attempts = delivery.attempts.saturating_add(1);
    let (state, error, due_at) = match attempt {
        Attempt::Delivered => ("delivered", None, None),
        Attempt::Failed { why } => match rules.retry_at(attempts, at) {
            Some(due_at) => ("pending", Some(why), Some(micros(due_at))),
            None => ("dead", Some(why), None),
        },
    };
    let updated = sqlx::query(
        "UPDATE webhook_deliveries SET state = ?, attempts = ?, last_error = ?, due_at = coalesce(?, due_at)
         WHERE id = ? AND state = 'pending'",
    )
    .bind(state)
    .bind(attempts)
    .bind(error)
    .bind(due_at)
    .bind(uuid(delivery.id))
    .execute(&mut *conn)
    .await
    .map_err(store_error)?;
    if updated.rows_affected() == 0 {
        // It was forgotten with its webhook meanwhile.
        return Ok(());
    }
    sqlx::query(
        "UPDATE webhooks SET failures = CASE WHEN ?1 IS NULL THEN 0 ELSE failures + 1 END,
             last_error = coalesce(?1, last_error),
             state = CASE WHEN ?1 IS NOT NULL AND failures + 1 >= ?2 AND state = 'active' THEN 'failed' ELSE state END
         WHERE id = ?3",
    )
    .bind(error)
    .bind(rules.failures_max)
    .bind(uuid(delivery.webhook))
    .execute(&mut *conn)
    .await
    .map_err(store_error)?;
    let sql = format!(
        "DELETE FROM webhook_deliveries WHERE webhook_id = ?1 AND state = 'delivered' AND id <=
             (SELECT id FROM webhook_deliveries WHERE webhook_id = ?1 AND state = 'delivered'
              ORDER BY id DESC LIMIT 1 OFFSET {DELIVERED_KEPT})"
    );
    sqlx::query(sqlx::AssertSqlSafe(sql))
        .bind(uuid(delivery.webhook))
        .execute(conn)
        .await
        .map(drop)
        .map_err(store_error)
}
