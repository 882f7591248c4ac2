//! Webhooks.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wh_domain::{InputRefusal, NewWebhook, Reference, SecretText, ShortId, Webhook, WebhookKinds};

use crate::common::{list_request, optional_reference, reference, time};

/// A webhook to make.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WebhookCreateRequest {
    /// Where to send: an https address that is not of a private network.
    pub url: String,
    /// Kinds of events, such as session.state_changed, approval.* or *; all unless given.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub events: Vec<String>,
    /// Only what happens on this board and in the sessions begun on it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub board: Option<String>,
    /// Only what happens in this session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session: Option<String>,
    /// A mark of your choice: a repeat with the same mark makes no second webhook, and does not show the secret again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
}

impl TryFrom<WebhookCreateRequest> for NewWebhook {
    type Error = InputRefusal;

    fn try_from(request: WebhookCreateRequest) -> Result<Self, InputRefusal> {
        Ok(Self {
            kinds: WebhookKinds::parse(request.events.iter().map(String::as_str))?,
            board: optional_reference("board", request.board.as_deref())?,
            session: optional_reference("session", request.session.as_deref())?,
            url: request.url,
        })
    }
}

list_request! {
    /// Which webhooks to list.
    WebhookListRequest {}
}

/// A webhook to turn on or off.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WebhookUpdateRequest {
    /// The webhook's id, or its last 8 digits.
    pub webhook: String,
    /// Whether it is told of what happens; one that is turned on begins with the newest event and a clean record.
    pub active: bool,
    /// A mark of your choice: a repeat with it changes nothing twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
}

impl WebhookUpdateRequest {
    /// Returns which webhook is meant.
    pub fn webhook(&self) -> Result<Reference, InputRefusal> {
        reference("webhook", &self.webhook)
    }
}

/// A webhook to delete.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WebhookDeleteRequest {
    /// The webhook's id, or its last 8 digits.
    pub webhook: String,
}

impl WebhookDeleteRequest {
    /// Returns which webhook is meant.
    pub fn webhook(&self) -> Result<Reference, InputRefusal> {
        reference("webhook", &self.webhook)
    }
}

/// A webhook and how its deliveries stand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WebhookView {
    pub id: String,
    pub short_id: String,
    pub url: String,
    pub events: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub board_id: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    pub user_id: String,
    /// active, paused, or failed (turned off after too many failures)
    pub state: String,
    /// Deliveries that wait.
    pub pending: u64,
    /// Deliveries that were given up.
    pub dead: u64,
    /// Attempts that failed since one succeeded.
    pub failures: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_error: Option<String>,
    pub created_at: String,
}

impl WebhookView {
    /// Shows a webhook with how many deliveries wait and were given up.
    pub fn new(webhook: &Webhook, pending: u64, dead: u64) -> Self {
        Self {
            id: webhook.id.to_string(),
            short_id: webhook.id.short_id(),
            url: webhook.url.clone(),
            events: webhook.kinds.texts(),
            board_id: webhook.board.map(|id| id.to_string()),
            session_id: webhook.session.map(|id| id.to_string()),
            user_id: webhook.user.to_string(),
            state: webhook.state.as_str().to_owned(),
            pending,
            dead,
            failures: webhook.failures,
            last_error: webhook.last_error.clone(),
            created_at: time(webhook.created_at),
        }
    }
}

/// A webhook that was made, with its secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WebhookCreatedView {
    #[serde(flatten)]
    pub webhook: WebhookView,
    /// What deliveries are signed with; shown once. Absent when the request was a repeat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub secret: Option<String>,
}

impl WebhookCreatedView {
    /// Shows a webhook and its secret, once.
    pub fn new(webhook: WebhookView, secret: Option<&SecretText>) -> Self {
        let secret = secret.map(|secret| secret.expose().to_owned());
        Self { webhook, secret }
    }
}

/// Some webhooks, newest first.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct WebhookListView {
    pub webhooks: Vec<WebhookView>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// Total number of results, counted up to 100000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
}
