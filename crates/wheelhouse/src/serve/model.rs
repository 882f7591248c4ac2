//! Joins the client of a model to what the application asks of one.

use std::sync::Arc;

use anyhow::{Result, bail};
use futures::future::BoxFuture;
use wh_app::{LanguageModel, ModelFailure};
use wh_llm_agent::{Ask, Model};

use crate::config::{KeyFrom, ModelSetting};

/// What an answer may cost and hold. A model that thinks first spends tokens on that too.
const TOKENS_MAX: u32 = 4_000;
const BYTES_MAX: usize = 8_000;

struct Configured(Model);

/// Prepares the model. A key that the configuration names and that is not there is an error: nobody wants to find out by summaries
/// that are quietly worse.
pub(super) fn prepare(setting: &ModelSetting) -> Result<Arc<dyn LanguageModel>> {
    if let KeyFrom::MissingVariable(name) = &setting.key {
        bail!(
            "the environment variable {name}, which holds the model's key, is not set; set it, or remove [model] or its key_env"
        );
    }
    Ok(Arc::new(Configured(Model::new(setting.config.clone())?)))
}

impl LanguageModel for Configured {
    fn name(&self) -> String {
        self.0.config().name()
    }

    fn ask<'a>(
        &'a self,
        system: &'a str,
        user: &'a str,
    ) -> BoxFuture<'a, Result<String, ModelFailure>> {
        let ask = Ask {
            system,
            user,
            tokens_max: TOKENS_MAX,
            bytes_max: BYTES_MAX,
        };
        Box::pin(async move {
            let said = self.0.ask(ask).await;
            said.map_err(|error| ModelFailure(error.to_string()))
        })
    }
}
