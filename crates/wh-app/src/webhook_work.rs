//! The work of webhooks: events become deliveries, and deliveries are tried until they are taken or given up.
//!
//! Both are rows. A webhook has looked at events up to its cursor, and what it is to be told of the next ones is stored together
//! with the new cursor, so that an event becomes one delivery whatever is killed. A delivery is sent at least once: a server that
//! is killed between the answer and the record sends it again, under the same id.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use newtype_uuid::GenericUuid;
use serde_json::json;
use tokio::sync::Semaphore;
use wh_domain::{
    Attempt, Event, IdRef, PageLimit, Reach, SubjectKind, UserRole, Webhook, WebhookDelivery,
    WebhookDeliveryId, WebhookId, WebhookRules,
};
use wh_store::StoreError;
use wh_webhook::Sender;

use crate::{
    App, AppError, Resource, Result,
    reconcile::{Reconciler, event_gathered},
};

/// Deliveries under way at a time, over all webhooks.
const UNDER_WAY_MAX: usize = 16;

/// Deliveries of one webhook under way at a time, so that a slow receiver leaves room for others.
const PER_WEBHOOK_MAX: usize = 4;

/// Deliveries that are looked at in one round.
const DUE_MAX: u32 = 200;

/// How often deliveries that wait for another attempt are looked at.
const PERIOD: Duration = Duration::from_secs(1);

/// How long events are gathered before they become deliveries.
const GATHER: Duration = Duration::from_millis(20);

/// What sending needs, and what is under way.
pub(crate) struct WebhookWork {
    pub(crate) rules: WebhookRules,
    sender: Option<Sender>,
    slots: Arc<Semaphore>,
    under_way: Mutex<HashSet<(WebhookId, WebhookDeliveryId)>>,
}

impl WebhookWork {
    pub(crate) fn new(rules: WebhookRules) -> Self {
        let sender = Sender::new(rules.allow_private);
        let sender = sender.inspect_err(|error| {
            tracing::error!(%error, "webhooks cannot be sent");
        });
        Self {
            rules,
            sender: sender.ok(),
            slots: Arc::new(Semaphore::new(UNDER_WAY_MAX)),
            under_way: Mutex::default(),
        }
    }

    /// Notes that a delivery is being made; false when it is already, or its webhook is busy enough.
    fn begin(&self, delivery: &WebhookDelivery) -> bool {
        let mut under_way = self
            .under_way
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let busy = under_way.iter().filter(|(it, _)| *it == delivery.webhook);
        busy.count() < PER_WEBHOOK_MAX && under_way.insert((delivery.webhook, delivery.id))
    }

    fn end(&self, delivery: &WebhookDelivery) {
        let mut under_way = self
            .under_way
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        under_way.remove(&(delivery.webhook, delivery.id));
    }
}

/// Tells webhooks what happened.
pub(crate) struct Webhooks(pub(crate) Arc<App>);

#[async_trait]
impl Reconciler for Webhooks {
    fn name(&self) -> &'static str {
        "webhooks"
    }

    fn period(&self) -> Duration {
        PERIOD
    }

    async fn woken(&self, app: &App) {
        event_gathered(app, GATHER).await;
    }

    async fn reconcile(&self, app: &App) -> Result<()> {
        for webhook in app.store.webhook_behind().await? {
            app.webhook_plan(&webhook).await?;
        }
        for (delivery, webhook) in app.store.webhook_due(app.clock.now(), DUE_MAX).await? {
            let Ok(slot) = Arc::clone(&app.webhooks.slots).try_acquire_owned() else {
                break;
            };
            if !app.webhooks.begin(&delivery) {
                continue;
            }
            let app = Arc::clone(&self.0);
            self.0.tasks.spawn(async move {
                let attempt = app.webhook_attempt(&webhook, &delivery);
                if let Some(Err(error)) = app.shutdown.run_until_cancelled(attempt).await {
                    tracing::warn!(%error, "what came of a delivery was not recorded");
                }
                app.webhooks.end(&delivery);
                drop(slot);
            });
        }
        Ok(())
    }
}

impl App {
    /// Makes deliveries of the next events that a webhook has not looked at.
    async fn webhook_plan(&self, webhook: &Webhook) -> Result<()> {
        let Some(user) = self.store.user_by_id(webhook.user).await? else {
            return Ok(());
        };
        let reach = match user.role {
            UserRole::Admin => Reach::All,
            UserRole::Member => Reach::User(user.id),
        };
        let page = self
            .store
            .event_list(reach, webhook.cursor, PageLimit::MAX)
            .await?;
        let mut deliveries = Vec::new();
        // One who is disabled is told of nothing, then and later.
        let told = page.events.iter().filter(|_| user.is_active());
        for event in told {
            if self.webhook_wants(webhook, event).await? {
                deliveries.push(WebhookDelivery {
                    id: WebhookDeliveryId::from_untyped_uuid(self.ids.next()),
                    webhook: webhook.id,
                    event: event.seq,
                    body: body(event),
                    attempts: 0,
                    created_at: self.clock.now(),
                });
            }
        }
        let planned = self
            .store
            .webhook_plan(webhook.id, webhook.cursor, page.through, deliveries)
            .await;
        match planned {
            // It was turned off or forgotten meanwhile.
            Err(StoreError::Stale { .. }) => Ok(()),
            planned => Ok(planned?),
        }
    }

    /// Tells whether a webhook is to be told of an event.
    async fn webhook_wants(&self, webhook: &Webhook, event: &Event) -> Result<bool> {
        let body = &event.body;
        // What a webhook does to itself would go round in circles.
        let about_webhooks = body.subject.kind == SubjectKind::Webhook;
        if about_webhooks || !webhook.kinds.hold(body) {
            return Ok(false);
        }
        if webhook.session.is_some_and(|it| body.session != Some(it)) {
            return Ok(false);
        }
        let Some(board) = webhook.board else {
            return Ok(true);
        };
        if body.subject == board.into() {
            return Ok(true);
        }
        let Some(session) = body.session else {
            return Ok(false);
        };
        let id = IdRef::Whole(session.into_untyped_uuid());
        let found = self.store.session_find(Reach::All, &id).await?;
        Ok(found.iter().any(|session| session.board == Some(board)))
    }

    /// Makes one attempt and records what came of it.
    async fn webhook_attempt(&self, webhook: &Webhook, delivery: &WebhookDelivery) -> Result<()> {
        let sender = self.webhooks.sender.as_ref();
        let sender = sender.ok_or_else(|| AppError::not_found(Resource::Sender))?;
        let now = self.clock.now();
        let sent = sender
            .send(&webhook.url, &webhook.secret, delivery, now)
            .await;
        let attempt = match sent {
            Ok(()) => Attempt::Delivered,
            Err(error) => Attempt::Failed {
                why: wh_domain::redact(&error.to_string()).into_owned(),
            },
        };
        let rules = self.webhooks.rules;
        let at = self.clock.now();
        Ok(self
            .store
            .webhook_attempted(delivery, attempt, rules, at)
            .await?)
    }
}

/// Writes what a receiver gets: what changed, not what it changed to; it asks for that with its own rights.
fn body(event: &Event) -> String {
    let subject = &event.body.subject;
    let kind = format!("{}.{}", subject.kind.as_str(), event.body.kind.as_str());
    json!({
        "type": kind,
        "timestamp": event.at.to_string(),
        "data": {
            "seq": event.seq,
            "subject_kind": subject.kind.as_str(),
            "subject_id": subject.id.to_string(),
            "session_id": event.body.session.map(|id| id.to_string()),
            "actor_id": event.body.actor.map(|id| id.to_string()),
            "facts": event.body.facts,
        },
    })
    .to_string()
}
