//! Settings that change at run time.

use async_trait::async_trait;
use wh_domain::{SettingKey, SettingValue};

use crate::{Applied, Commit, Result};

/// Keeps the settings that somebody set.
#[async_trait]
pub trait SettingStore {
    /// Returns what was set; what was not is at its default.
    async fn setting_list(&self) -> Result<Vec<(SettingKey, SettingValue)>>;

    /// Sets a value, or goes back to the default when there is none to set.
    async fn setting_set(
        &self,
        key: SettingKey,
        value: Option<SettingValue>,
        commit: Commit,
    ) -> Result<Applied>;
}
