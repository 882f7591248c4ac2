//! Settings that change at run time.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wh_domain::{InputRefusal, Setting, SettingChange, SettingKey};

use crate::common::field;

/// Which settings to show.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConfigGetRequest {
    /// One setting, such as review.max_iterations; all unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
}

impl ConfigGetRequest {
    /// Returns which setting is meant.
    pub fn key(&self) -> Result<Option<SettingKey>, InputRefusal> {
        let key = self.key.as_deref().map(SettingKey::parse).transpose();
        field("key", key)
    }
}

/// A setting to change.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ConfigSetRequest {
    /// The setting, such as review.max_iterations.
    pub key: String,
    /// The value to set; back to the default unless given. A name for settings whose values have names, otherwise a whole number.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<SettingInput>,
    /// A mark of your choice: a repeat with it changes nothing twice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
}

/// A setting's value as callers write it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum SettingInput {
    Number(i64),
    Name(String),
}

impl From<i64> for SettingInput {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl From<&str> for SettingInput {
    fn from(name: &str) -> Self {
        Self::Name(name.to_owned())
    }
}

impl TryFrom<ConfigSetRequest> for SettingChange {
    type Error = InputRefusal;

    fn try_from(request: ConfigSetRequest) -> Result<Self, InputRefusal> {
        let key = field("key", SettingKey::parse(&request.key))?;
        let value = request.value.map(|value| match value {
            SettingInput::Number(number) => field("value", key.check(Some(number))),
            SettingInput::Name(text) => field("value", key.read(&text)),
        });
        Ok(Self {
            key,
            value: value.transpose()?,
        })
    }
}

/// A setting as it is in force.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SettingView {
    pub key: String,
    /// Absent: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<i64>,
    /// What the value is called, for settings whose values have names.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value_name: Option<String>,
    /// What the values are called, from min on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub names: Vec<String>,
    /// default, or set when somebody set it
    pub source: String,
    pub about: String,
    pub min: i64,
    pub max: i64,
}

impl From<Setting> for SettingView {
    fn from(setting: Setting) -> Self {
        let spec = setting.key.spec();
        Self {
            key: spec.name.to_owned(),
            value: setting.value.0,
            value_name: setting.key.name_of(setting.value).map(str::to_owned),
            names: spec.names.iter().map(|name| (*name).to_owned()).collect(),
            source: if setting.is_set { "set" } else { "default" }.to_owned(),
            about: spec.about.to_owned(),
            min: spec.min,
            max: spec.max,
        }
    }
}

/// Settings as they are in force.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ConfigView {
    pub settings: Vec<SettingView>,
}
