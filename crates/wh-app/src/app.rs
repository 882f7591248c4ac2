//! The application: what it is made of, and how every call is recorded.

use std::{
    error::Error,
    future::Future,
    sync::{Arc, OnceLock},
};

use tokio_util::sync::CancellationToken;
use uuid::Uuid;
use wh_agents::Agents;
use wh_domain::{Facts, Operation, Principal, Surface, User};
use wh_store::Store;

use crate::{
    AppError, Clock, IdSource, OpContext, Result,
    attempts::Attempts,
    authenticate::PrincipalCache,
    context::{is_ours, outcome},
    login::LoginLinks,
    supervise::{Keepers, RunsConfig},
};

/// What the application is made of.
pub struct AppParts {
    pub store: Arc<dyn Store>,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn IdSource>,
    pub agents: Agents,
    pub runs: RunsConfig,
    /// Cancelled when the server stops: ends feeds and other long calls.
    pub shutdown: CancellationToken,
}

/// Every operation, once. Cheap to share behind an `Arc`.
pub struct App {
    pub(crate) store: Arc<dyn Store>,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) ids: Arc<dyn IdSource>,
    pub(crate) agents: Agents,
    pub(crate) runs: RunsConfig,
    pub(crate) keepers: Keepers,
    pub(crate) shutdown: CancellationToken,
    pub(crate) principals: PrincipalCache,
    pub(crate) attempts: Attempts,
    pub(crate) login_links: LoginLinks,
    /// Whom the local socket speaks for. The oldest administrator never changes.
    pub(crate) first_admin: OnceLock<User>,
}

impl App {
    /// Puts the application together.
    pub fn new(parts: AppParts) -> Self {
        Self {
            store: parts.store,
            clock: parts.clock,
            ids: parts.ids,
            agents: parts.agents,
            runs: parts.runs,
            keepers: Keepers::default(),
            shutdown: parts.shutdown,
            principals: PrincipalCache::default(),
            attempts: Attempts::default(),
            login_links: LoginLinks::default(),
            first_admin: OnceLock::new(),
        }
    }

    /// Returns the circumstances of a call that `principal` makes now.
    pub fn context(&self, principal: Principal, surface: Surface) -> OpContext {
        OpContext {
            principal,
            request: self.ids.next(),
            surface,
            now: self.clock.now(),
            idempotency: None,
        }
    }

    /// Tells whether the server can do its work.
    pub async fn health(&self) -> Result<()> {
        Ok(self.store.health().await?)
    }

    /// Returns a token that is cancelled when the server stops.
    pub fn shutdown(&self) -> &CancellationToken {
        &self.shutdown
    }

    /// Runs a read and records it, whatever came of it.
    pub(crate) async fn read<T>(
        &self,
        cx: &OpContext,
        operation: Operation,
        facts: Facts,
        work: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let result = work.await;
        self.record(cx, operation, facts, &result).await;
        result
    }

    /// Runs a change and records it if it was refused; if it was done, its commit has the record already.
    pub(crate) async fn change<T>(
        &self,
        cx: &OpContext,
        operation: Operation,
        facts: Facts,
        work: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let result = work.await;
        if result.is_err() {
            self.record(cx, operation, facts, &result).await;
        } else {
            count(operation, "ok");
        }
        result
    }

    async fn record<T>(
        &self,
        cx: &OpContext,
        operation: Operation,
        facts: Facts,
        result: &Result<T>,
    ) {
        if let Err(error) = result {
            count(operation, error.code.as_str());
            log_if_ours(cx.request, operation, error);
        } else {
            count(operation, "ok");
        }
        let entry = cx.audit(operation, None, outcome(result), facts);
        // The call changed nothing, so its caller is not failed for a record that could not be kept.
        if let Err(error) = self.store.audit_note(entry).await {
            tracing::error!(operation = operation.name(), %error, "an audit entry was not kept");
        }
    }
}

fn count(operation: Operation, outcome: &'static str) {
    metrics::counter!("wheelhouse_calls_total", "operation" => operation.name(), "outcome" => outcome)
        .increment(1);
}

/// Logs defects and outages with their causes, once.
fn log_if_ours(request: Uuid, operation: Operation, error: &AppError) {
    if !is_ours(error.code) {
        return;
    }
    let mut chain = String::new();
    let mut cause: Option<&dyn Error> = error.source();
    while let Some(error) = cause {
        chain.push_str(": ");
        chain.push_str(&error.to_string());
        cause = error.source();
    }
    tracing::error!(%request, operation = operation.name(), "{}{chain}", error.message);
}
