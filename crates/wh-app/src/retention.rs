//! Forgets events and records of reads once they are older than the settings say.

use std::time::Duration;

use async_trait::async_trait;
use jiff::{SignedDuration, Timestamp};
use wh_domain::SettingKey;
use wh_store::Expired;

use crate::{App, Result, reconcile::Reconciler};

/// How often the age of things is looked at.
const PERIOD: Duration = Duration::from_secs(60 * 60);

/// The most rows removed in one transaction, so that nobody waits long behind it.
const ROWS_MAX: u32 = 2_000;

/// Keeps the database from growing for ever.
pub(crate) struct Retention;

#[async_trait]
impl Reconciler for Retention {
    fn name(&self) -> &'static str {
        "retention"
    }

    fn period(&self) -> Duration {
        PERIOD
    }

    async fn reconcile(&self, app: &App) -> Result<()> {
        app.forget_expired().await.map(drop)
    }
}

impl App {
    /// Removes what has expired by now and returns how many events and reads that were.
    pub async fn forget_expired(&self) -> Result<(u64, u64)> {
        let now = self.clock.now();
        let expired = Expired {
            events_before: self
                .days_before(now, SettingKey::EventRetentionDays)
                .await?,
            reads_before: self
                .days_before(now, SettingKey::AuditRetentionDays)
                .await?,
            rows_max: ROWS_MAX,
        };
        let (mut events, mut reads) = (0, 0);
        loop {
            let forgotten = self.store.forget(expired).await?;
            events += forgotten.events;
            reads += forgotten.reads;
            if forgotten.events.max(forgotten.reads) < u64::from(ROWS_MAX) {
                break;
            }
        }
        if events + reads > 0 {
            tracing::info!(events, reads, "forgot what had expired");
        }
        Ok((events, reads))
    }

    /// Returns the moment that lies as many days before `now` as a setting says.
    async fn days_before(&self, now: Timestamp, key: SettingKey) -> Result<Timestamp> {
        let days = self
            .setting(key)
            .await?
            .value
            .0
            .unwrap_or(i64::MAX / 86_400);
        let age = SignedDuration::from_hours(days.saturating_mul(24));
        Ok(now.checked_sub(age).unwrap_or(Timestamp::MIN))
    }
}
