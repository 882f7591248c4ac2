//! Webhooks: made, listed, turned on and off, and deleted. Their secrets are shown once, here.

use newtype_uuid::GenericUuid;
use uuid::Uuid;
use wh_domain::{
    EventKind, Facts, NewEvent, NewWebhook, Operation, Owner, Page, PageRequest, Reach, Reference,
    SecretText, Webhook, WebhookId, WebhookState,
};
use wh_store::{Applied, WebhookStanding};
use wh_webhook::{check_url, secret_text};

use crate::{
    App, OpContext, Resource, Result, ServerReason,
    context::facts,
    lookup::{id_of, only_one},
};

/// The most webhooks of one user.
const PER_USER_MAX: usize = 50;

/// A webhook that was made.
#[derive(Debug)]
pub struct WebhookMade {
    pub standing: WebhookStanding,
    /// Shown once: absent when the request was a repeat of one that was answered before.
    pub secret: Option<SecretText>,
}

impl App {
    /// Makes a webhook, which is told of what happens from now on within its user's reach.
    pub async fn webhook_create(&self, cx: &OpContext, new: NewWebhook) -> Result<WebhookMade> {
        let operation = Operation::WebhookCreate;
        let facts = facts([("url", new.url.as_str())]);
        self.change(cx, operation, facts.clone(), async {
            let reach = cx.authorize(operation)?;
            check_url(&new.url, self.webhooks.rules.allow_private)
                .map_err(ServerReason::WebhookUrl)?;
            self.check_room(cx).await?;
            let board = match &new.board {
                Some(board) => Some(self.board_lookup(reach, board).await?.id),
                None => None,
            };
            let session = match &new.session {
                Some(session) => Some(self.session_lookup(reach, session).await?.id),
                None => None,
            };
            let bits = [self.ids.secret_bits(), self.ids.secret_bits()];
            let secret = secret_text(&bits.map(u128::to_be_bytes).concat());
            let webhook = Webhook {
                id: WebhookId::from_untyped_uuid(self.ids.next()),
                user: cx.principal.user,
                url: new.url,
                kinds: new.kinds,
                board,
                session,
                secret: secret.clone(),
                state: WebhookState::Active,
                failures: 0,
                last_error: None,
                cursor: *self.store.event_watch().borrow(),
                created_at: cx.now,
            };
            let events = vec![webhook_event(cx, EventKind::Created, &webhook)];
            let commit = cx.commit(operation, webhook.id.into(), facts, events);
            let (id, secret) = match self.store.webhook_insert(&webhook, commit).await? {
                Applied::Done { .. } => (webhook.id, Some(secret)),
                Applied::Replayed { subject } => (WebhookId::from_untyped_uuid(subject.id), None),
            };
            let standing = self.webhook_lookup(reach, &Reference::from(id)).await?;
            Ok(WebhookMade { standing, secret })
        })
        .await
    }

    /// Lists webhooks with how their deliveries stand.
    pub async fn webhook_list(
        &self,
        cx: &OpContext,
        page: PageRequest<Uuid>,
    ) -> Result<Page<WebhookStanding, Uuid>> {
        let operation = Operation::WebhookList;
        self.read(cx, operation, Facts::new(), async {
            let reach = cx.authorize(operation)?;
            Ok(self.store.webhook_list(reach, page).await?)
        })
        .await
    }

    /// Turns a webhook on, from the newest event on and with a clean record, or off.
    pub async fn webhook_update(
        &self,
        cx: &OpContext,
        webhook: &Reference,
        active: bool,
    ) -> Result<WebhookStanding> {
        let operation = Operation::WebhookUpdate;
        let state = match active {
            true => WebhookState::Active,
            false => WebhookState::Paused,
        };
        let facts = facts([("webhook", webhook.as_str()), ("state", state.as_str())]);
        self.change(cx, operation, facts.clone(), async {
            let reach = cx.authorize(operation)?;
            let found = self.webhook_lookup(reach, webhook).await?.webhook;
            let events = vec![webhook_event(cx, EventKind::Updated, &found)];
            let commit = cx.commit(operation, found.id.into(), facts, events);
            let _applied = self.store.webhook_turn(found.id, state, commit).await?;
            self.webhook_lookup(reach, &Reference::from(found.id)).await
        })
        .await
    }

    /// Forgets a webhook and what it was to be told.
    pub async fn webhook_delete(
        &self,
        cx: &OpContext,
        webhook: &Reference,
    ) -> Result<WebhookStanding> {
        let operation = Operation::WebhookDelete;
        let facts = facts([("webhook", webhook.as_str())]);
        self.change(cx, operation, facts.clone(), async {
            let reach = cx.authorize(operation)?;
            let found = self.webhook_lookup(reach, webhook).await?;
            let events = vec![webhook_event(cx, EventKind::Deleted, &found.webhook)];
            let commit = cx.commit(operation, found.webhook.id.into(), facts, events);
            let _applied = self.store.webhook_delete(found.webhook.id, commit).await?;
            Ok(found)
        })
        .await
    }

    async fn webhook_lookup(&self, reach: Reach, reference: &Reference) -> Result<WebhookStanding> {
        let found = self.store.webhook_find(reach, &id_of(reference)?).await?;
        only_one(Resource::Webhook, found, |it| it.webhook.id.to_string())
    }

    /// Refuses one webhook too many of a user.
    async fn check_room(&self, cx: &OpContext) -> Result<()> {
        let page = PageRequest::first(wh_domain::PageLimit::MAX);
        let own = Reach::User(cx.principal.user);
        let count = self.store.webhook_list(own, page).await?.items.len();
        if count >= PER_USER_MAX {
            return Err(ServerReason::WebhookLimit { max: PER_USER_MAX }.into());
        }
        Ok(())
    }
}

fn webhook_event(cx: &OpContext, kind: EventKind, webhook: &Webhook) -> NewEvent {
    NewEvent {
        kind,
        subject: webhook.id.into(),
        owner: Owner {
            user: webhook.user,
            key: None,
        },
        session: None,
        actor: Some(cx.principal.user),
        facts: Facts::new(),
    }
}
