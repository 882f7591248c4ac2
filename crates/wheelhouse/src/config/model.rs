//! The model in the configuration file: `[model]`. It writes summaries; without it they are extracts.
//!
//! The key stands in the file or, better, in a variable that the file names. A variable that is not set is no mistake of the file:
//! the commands that need no model go on, and `serve` and `doctor` say what is missing.

use std::time::Duration;

use serde::Deserialize;
use wh_domain::SecretText;
use wh_llm_agent::{ModelConfig, Provider};

use super::{Env, SecretWord, parse};

const TIME: Duration = Duration::from_secs(20);

/// The `[model]` table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileModel {
    provider: String,
    model: String,
    base_url: Option<String>,
    key: Option<SecretWord>,
    key_env: Option<String>,
    timeout: Option<String>,
}

/// A model as configured.
#[derive(Clone, Debug)]
pub(crate) struct ModelSetting {
    /// Ready to be called, unless a variable is missing.
    pub(crate) config: ModelConfig,
    pub(crate) key: KeyFrom,
}

/// Where a model's key comes from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum KeyFrom {
    Nowhere,
    File,
    Variable(String),
    /// The variable is not set.
    MissingVariable(String),
}

/// Reads the table, or says what is wrong with it.
pub(super) fn read(model: &FileModel, env: Env<'_>) -> Result<ModelSetting, String> {
    let provider = Provider::parse(&model.provider).ok_or_else(|| {
        let known = Provider::ALL.map(Provider::as_str).join(", ");
        format!("the model's `provider` must be one of {known}")
    })?;
    let time = model.timeout.as_deref().map(parse::duration).transpose();
    let time = time.map_err(|why| format!("the model's `timeout` {why}"))?;
    let (key, from) = key(model, env)?;
    let base_url = model.base_url.as_deref();
    let config = ModelConfig::new(provider, base_url, &model.model, key, time.unwrap_or(TIME));
    Ok(ModelSetting {
        config: config.map_err(|why| format!("the model {why}"))?,
        key: from,
    })
}

fn key(model: &FileModel, env: Env<'_>) -> Result<(Option<SecretText>, KeyFrom), String> {
    let word = |text: &str| {
        let key = parse::secret(text).map_err(|why| format!("the model's key {why}"))?;
        Ok::<_, String>(key.filter(|key| !key.expose().is_empty()))
    };
    match (&model.key, &model.key_env) {
        (Some(_), Some(_)) => {
            Err("the model takes `key` or `key_env`, not both; remove one".to_owned())
        }
        (Some(SecretWord(key)), None) => Ok((word(key.expose())?, KeyFrom::File)),
        (None, Some(name)) => match env(name).filter(|text| !text.is_empty()) {
            Some(text) => Ok((word(&text)?, KeyFrom::Variable(name.clone()))),
            None => Ok((None, KeyFrom::MissingVariable(name.clone()))),
        },
        (None, None) => Ok((None, KeyFrom::Nowhere)),
    }
}
