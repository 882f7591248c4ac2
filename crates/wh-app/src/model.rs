//! A language model that the application may ask, if one is configured.

use std::sync::Arc;

use futures::future::BoxFuture;
use jiff::Timestamp;
use quick_cache::sync::Cache;
use tokio::sync::Semaphore;
use wh_domain::SessionId;

use crate::Summary;

/// Calls under way at once; more wait for their turn.
const CALLS_MAX: usize = 4;

/// Summaries that are kept, so that asking again about a session at rest costs nothing.
const SUMMARIES_MAX: usize = 256;

/// Something that answers in words. A call ends by itself within a time of the model's own.
pub trait LanguageModel: Send + Sync {
    /// Returns what it is called.
    fn name(&self) -> String;

    /// Asks, and returns the answer.
    fn ask<'a>(
        &'a self,
        system: &'a str,
        user: &'a str,
    ) -> BoxFuture<'a, Result<String, ModelFailure>>;
}

/// Why there is no answer, in words that a caller may be told.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the model {0}")]
pub struct ModelFailure(pub String);

/// A session as it was at one moment.
pub(crate) type Moment = (SessionId, u64, Timestamp);

/// The model and what is known of it.
pub(crate) struct Models {
    model: Arc<dyn LanguageModel>,
    calls: Semaphore,
    pub(crate) summaries: Cache<Moment, Summary>,
}

impl Models {
    pub(crate) fn new(model: Arc<dyn LanguageModel>) -> Self {
        Self {
            model,
            calls: Semaphore::new(CALLS_MAX),
            summaries: Cache::new(SUMMARIES_MAX),
        }
    }

    pub(crate) fn name(&self) -> String {
        self.model.name()
    }

    /// Asks when it is the call's turn.
    pub(crate) async fn ask(&self, system: &str, user: &str) -> Result<String, ModelFailure> {
        let turn = self.calls.acquire().await;
        let _turn = turn.map_err(|_| ModelFailure("is not asked any more".to_owned()))?;
        self.model.ask(system, user).await
    }
}
