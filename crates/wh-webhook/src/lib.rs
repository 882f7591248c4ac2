//! Tells webhooks what happened: one signed request for each delivery, within a time limit, and only to addresses that
//! may be connected to.
//!
//! Signatures are those of Standard Webhooks: HMAC-SHA256 over `id.timestamp.body`. A redirect is not followed and an answer's
//! body not read. Addresses are checked when they are connected to, after the name was resolved, so that a name that changes
//! its meaning in between gains nothing.

mod address;
mod sign;

use std::{sync::Arc, time::Duration};

use jiff::Timestamp;
use reqwest::{Client, redirect::Policy};
use url::Url;
use wh_domain::{SecretText, WebhookDelivery};

pub use address::{AddressRefusal, check_url};
pub use sign::{secret_text, signature};

/// How long an attempt may take, from the name to the answer.
const ATTEMPT_TIME_MAX: Duration = Duration::from_secs(10);

/// Why a delivery was not taken.
#[derive(Debug, thiserror::Error)]
pub enum SendError {
    #[error(transparent)]
    Address(#[from] AddressRefusal),
    #[error("it answered {status}")]
    Answer { status: u16 },
    #[error("it did not answer within {} s", ATTEMPT_TIME_MAX.as_secs())]
    Late,
    #[error("{0}")]
    Transport(String),
    #[error("the secret cannot be read")]
    Secret,
}

/// Sends deliveries.
pub struct Sender {
    client: Client,
    allow_private: bool,
}

impl Sender {
    /// Prepares to send; `allow_private` opens this machine and private networks.
    pub fn new(allow_private: bool) -> Result<Self, SendError> {
        // A provider that is already there is as good.
        rustls::crypto::ring::default_provider()
            .install_default()
            .ok();
        let client = Client::builder()
            .redirect(Policy::none())
            .no_proxy()
            .timeout(ATTEMPT_TIME_MAX)
            .user_agent(concat!("wheelhouse/", env!("CARGO_PKG_VERSION")))
            .pool_max_idle_per_host(1)
            .dns_resolver(Arc::new(address::Resolver { allow_private }))
            .build()
            .map_err(|error| SendError::Transport(error.to_string()))?;
        Ok(Self {
            client,
            allow_private,
        })
    }

    /// Makes one attempt. Any answer but 2xx is a failure.
    pub async fn send(
        &self,
        url: &str,
        secret: &SecretText,
        delivery: &WebhookDelivery,
        now: Timestamp,
    ) -> Result<(), SendError> {
        let url: Url = check_url(url, self.allow_private)?;
        let (id, at) = (delivery.id.to_string(), now.as_second());
        let signature = signature(secret, &id, at, &delivery.body).ok_or(SendError::Secret)?;
        let sent = self
            .client
            .post(url)
            .header("content-type", "application/json")
            .header("webhook-id", id)
            .header("webhook-timestamp", at.to_string())
            .header("webhook-signature", signature)
            .body(delivery.body.clone())
            .send()
            .await;
        match sent {
            Ok(answer) if answer.status().is_success() => Ok(()),
            Ok(answer) => Err(SendError::Answer {
                status: answer.status().as_u16(),
            }),
            Err(error) if error.is_timeout() => Err(SendError::Late),
            Err(error) => Err(SendError::Transport(innermost(&error))),
        }
    }
}

/// Returns the cause that says most: the innermost one.
fn innermost(error: &dyn std::error::Error) -> String {
    let mut cause = error;
    while let Some(next) = cause.source() {
        cause = next;
    }
    cause.to_string()
}
