//! Checks of settings.

use std::sync::Arc;

use wh_domain::{Operation, SettingKey, SettingValue};

use super::Outcome;
use super::fixture::{self, Made, commit, done};
use crate::Store;

/// A setting holds what it was set to last; without limit is a value, and not set is none.
pub async fn are_set_and_unset(store: Arc<dyn Store>) -> Outcome {
    let user = fixture::user(&store).await?.id;
    let key = SettingKey::BudgetSessionTokens;
    let set = async |value| {
        let commit = commit(user, Operation::ConfigSet);
        store.setting_set(key, value, commit).await.map(done)
    };
    let stored = async || {
        let all = store.setting_list().await?;
        Made::Ok(all.into_iter().find(|(k, _)| *k == key).map(|(_, v)| v))
    };
    for value in [
        Some(SettingValue(Some(5))),
        Some(SettingValue(None)),
        None,
        Some(SettingValue(Some(i64::MAX))),
    ] {
        set(value).await?;
        set(value).await?;
        assert_eq!(stored().await?, value);
    }
    set(None).await?;
    assert_eq!(stored().await?, None);
    Ok(())
}
