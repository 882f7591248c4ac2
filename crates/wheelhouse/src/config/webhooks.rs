//! What the configuration file says about webhooks.

use jiff::SignedDuration;
use serde::Deserialize;
use wh_domain::WebhookRules;

/// The table `[webhooks]`; what is absent has its default.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileWebhooks {
    /// Addresses of this machine and of private networks may be told, also without TLS.
    allow_private: Option<bool>,
    /// How long to wait after the first failure.
    retry_milliseconds: Option<u32>,
    /// Attempts after which a delivery is given up.
    attempts_max: Option<u32>,
    /// Failed attempts in a row after which a webhook is turned off.
    failures_max: Option<u32>,
}

impl FileWebhooks {
    /// Returns the rules; zero is as good as one.
    pub(super) fn rules(self) -> WebhookRules {
        let usual = WebhookRules::default();
        let retry = self
            .retry_milliseconds
            .map(|it| SignedDuration::from_millis(it.max(1).into()));
        WebhookRules {
            allow_private: self.allow_private.unwrap_or(usual.allow_private),
            retry_after: retry.unwrap_or(usual.retry_after),
            attempts_max: self.attempts_max.unwrap_or(usual.attempts_max).max(1),
            failures_max: self.failures_max.unwrap_or(usual.failures_max).max(1),
        }
    }
}
