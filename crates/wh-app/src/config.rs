//! Settings that change at run time.

use std::collections::HashMap;

use uuid::Uuid;
use wh_domain::{
    EventKind, NewEvent, Operation, Setting, SettingChange, SettingKey, SettingValue, Subject,
    SubjectKind,
};

use crate::{App, OpContext, Result, context::facts};

impl App {
    /// Returns settings as they are in force: one, or all.
    pub async fn config_get(
        &self,
        cx: &OpContext,
        key: Option<SettingKey>,
    ) -> Result<Vec<Setting>> {
        let operation = Operation::ConfigGet;
        let facts = facts([("key", key.map_or("", SettingKey::name))]);
        self.read(cx, operation, facts, async {
            cx.authorize(operation)?;
            let wanted = |setting: &Setting| key.is_none_or(|key| setting.key == key);
            Ok(self.settings().await?.into_iter().filter(wanted).collect())
        })
        .await
    }

    /// Changes a setting, or goes back to its default.
    pub async fn config_set(&self, cx: &OpContext, change: SettingChange) -> Result<Setting> {
        let operation = Operation::ConfigSet;
        let named = change.value.and_then(|value| change.key.name_of(value));
        let shown = match (named, change.value) {
            (Some(name), _) => name.to_owned(),
            (None, Some(value)) => value.to_string(),
            (None, None) => "default".to_owned(),
        };
        let facts = facts([("key", change.key.name()), ("value", &shown)]);
        self.change(cx, operation, facts.clone(), async {
            cx.authorize(operation)?;
            let subject = setting_subject(change.key);
            let events = vec![NewEvent {
                kind: EventKind::Updated,
                subject,
                owner: cx.principal.owner(),
                session: None,
                actor: Some(cx.principal.user),
                facts: facts.clone(),
            }];
            let commit = cx.commit(operation, subject, facts, events);
            let _applied = self
                .store
                .setting_set(change.key, change.value, commit)
                .await?;
            Ok(in_force(change.key, change.value))
        })
        .await
    }

    /// Returns one setting as it is in force.
    pub(crate) async fn setting(&self, key: SettingKey) -> Result<Setting> {
        let set = self.store.setting_list().await?;
        let value = set.into_iter().find(|(k, _)| *k == key).map(|(_, v)| v);
        Ok(in_force(key, value))
    }

    /// Returns whether new sessions of the dialect of Clawed Abode ask before they use their tools: `ask` or `allow`.
    pub async fn clawed_abode_permissions(&self) -> Result<&'static str> {
        let setting = self.setting(SettingKey::ClawedAbodePermissions).await?;
        Ok(setting.key.name_of(setting.value).unwrap_or("ask"))
    }

    pub(crate) async fn settings(&self) -> Result<Vec<Setting>> {
        let set: HashMap<_, _> = self.store.setting_list().await?.into_iter().collect();
        let setting = |key: SettingKey| in_force(key, set.get(&key).copied());
        Ok(SettingKey::ALL.iter().copied().map(setting).collect())
    }
}

fn in_force(key: SettingKey, set: Option<SettingValue>) -> Setting {
    Setting {
        key,
        value: set.unwrap_or(SettingValue(key.spec().default)),
        is_set: set.is_some(),
    }
}

/// Settings have names, not ids; the audit log and the feed want a subject.
fn setting_subject(key: SettingKey) -> Subject {
    Subject {
        kind: SubjectKind::Setting,
        id: Uuid::from_u128(key as u128 + 1),
    }
}
