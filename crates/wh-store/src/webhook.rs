//! Webhooks and what they are to be told.

use async_trait::async_trait;
use jiff::Timestamp;
use uuid::Uuid;
use wh_domain::{
    Attempt, EventSeq, IdRef, Page, PageRequest, Reach, Webhook, WebhookDelivery, WebhookId,
    WebhookRules, WebhookState,
};

use crate::{Applied, Commit, Result};

/// A webhook and how its deliveries stand.
#[derive(Clone, Debug)]
pub struct WebhookStanding {
    pub webhook: Webhook,
    /// Deliveries that wait.
    pub pending: u64,
    /// Deliveries that were given up.
    pub dead: u64,
}

/// Keeps webhooks. A user reaches their own; keys of clients and sessions reach none.
#[async_trait]
pub trait WebhookStore {
    /// Adds a webhook.
    async fn webhook_insert(&self, webhook: &Webhook, commit: Commit) -> Result<Applied>;

    /// Turns a webhook on, from the newest event on and with a clean record, or off.
    async fn webhook_turn(
        &self,
        id: WebhookId,
        state: WebhookState,
        commit: Commit,
    ) -> Result<Applied>;

    /// Forgets a webhook and what it was to be told.
    async fn webhook_delete(&self, id: WebhookId, commit: Commit) -> Result<Applied>;

    /// Returns the webhooks that `id` could mean, at most ten.
    async fn webhook_find(&self, reach: Reach, id: &IdRef) -> Result<Vec<WebhookStanding>>;

    /// Lists webhooks, newest first.
    async fn webhook_list(
        &self,
        reach: Reach,
        page: PageRequest<Uuid>,
    ) -> Result<Page<WebhookStanding, Uuid>>;

    /// Returns the webhooks that are on and have not looked at all events.
    async fn webhook_behind(&self) -> Result<Vec<Webhook>>;

    /// Records what a webhook is to be told of the events after `after` up to `through`; [`crate::StoreError::Stale`] when it
    /// has looked at other events by now. So each event is told in one delivery.
    async fn webhook_plan(
        &self,
        id: WebhookId,
        after: EventSeq,
        through: EventSeq,
        deliveries: Vec<WebhookDelivery>,
    ) -> Result<()>;

    /// Returns deliveries of webhooks that are on and whose time has come, oldest first, and their webhooks.
    async fn webhook_due(
        &self,
        now: Timestamp,
        limit: u32,
    ) -> Result<Vec<(WebhookDelivery, Webhook)>>;

    /// Records what came of an attempt: a delivery is done, tried again later or given up, and a webhook that failed too
    /// often is turned off.
    async fn webhook_attempted(
        &self,
        delivery: &WebhookDelivery,
        attempt: Attempt,
        rules: WebhookRules,
        at: Timestamp,
    ) -> Result<()>;
}
