//! The application: what it is made of, and how every call is recorded.

use std::{
    error::Error,
    future::Future,
    path::PathBuf,
    sync::{Arc, Mutex},
};

use jiff::Timestamp;
use tokio::sync::{Notify, OnceCell};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use uuid::Uuid;
use wh_agents::Agents;
use wh_domain::{
    Credential, ErrorCode, Facts, LoopHooks, NewAuditEntry, NewEvent, Operation, Outcome, Owner,
    Principal, RepoId, RepoRules, Subject, Surface, User, UserRole, WebhookRules, WorktreeId,
};
use wh_store::{Commit, Store};

use crate::{
    AppError, Clock, IdSource, LanguageModel, OpContext, Result, ServerReason, StartValue,
    attempts::{Attempts, UnknownKeys},
    authenticate::PrincipalCache,
    context::{EntryCount, facts, outcome},
    lock::Locks,
    login::LoginLinks,
    loops::LoopWork,
    model::Models,
    repo::Transfers,
    supervise::{Keepers, RunsConfig},
    webhook_work::WebhookWork,
};

/// What the application is made of.
pub struct AppParts {
    pub store: Arc<dyn Store>,
    pub clock: Arc<dyn Clock>,
    pub ids: Arc<dyn IdSource>,
    pub agents: Agents,
    pub runs: RunsConfig,
    /// Writes summaries, if there is one.
    pub model: Option<Arc<dyn LanguageModel>>,
    pub webhooks: WebhookRules,
    /// What is run beside loops.
    pub hooks: LoopHooks,
    /// Where mirrors and worktrees are kept; absolute, and without links in it.
    pub data_dir: PathBuf,
    /// Where repositories may be fetched from.
    pub repos: RepoRules,
    /// The directories that every member may open, beside those allowed for a user.
    pub local_roots: Vec<PathBuf>,
    /// What the server was started with, for administrators.
    pub start_values: Vec<StartValue>,
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
    pub(crate) models: Option<Models>,
    pub(crate) webhooks: WebhookWork,
    pub(crate) loops: LoopWork,
    pub(crate) data_dir: PathBuf,
    pub(crate) local_roots: Vec<PathBuf>,
    pub(crate) start_values: Vec<StartValue>,
    pub(crate) repos: RepoRules,
    pub(crate) transfers: Transfers,
    /// For whoever makes, merges or removes something of a repository.
    pub(crate) repo_locks: Locks<RepoId>,
    /// Private clones that are being created or fetched from.
    pub(crate) clone_locks: Locks<WorktreeId>,
    /// Images that are being unpacked or removed, by id.
    pub(crate) image_locks: Locks<String>,
    /// For whoever reads files of a worktree, and whoever removes it.
    pub(crate) worktree_locks: Locks<WorktreeId>,
    /// What is recorded as under way since before is left over by a server that is gone.
    pub(crate) started_at: Timestamp,
    /// Told when a repository was added that may have to be cloned.
    pub(crate) clone_wanted: Notify,
    /// Told when somebody begins to wait.
    pub(crate) wait_begun: Notify,
    /// Told when something has happened in a worktree.
    pub(crate) count_wanted: Notify,
    /// Told when a user was disabled, who may have something running.
    pub(crate) user_disabled: Notify,
    pub(crate) shutdown: CancellationToken,
    /// Held by each who follows the feed.
    pub(crate) followers: Arc<()>,
    pub(crate) principals: PrincipalCache,
    pub(crate) attempts: Attempts,
    pub(crate) unknown_keys: UnknownKeys,
    pub(crate) login_links: LoginLinks,
    /// What must not be cut off when a caller goes away.
    pub(crate) tasks: TaskTracker,
    /// Whom the local socket speaks for, until users are changed.
    pub(crate) first_admin: Mutex<Arc<OnceCell<User>>>,
}

impl App {
    /// Puts the application together.
    pub fn new(parts: AppParts) -> Self {
        Self {
            started_at: parts.clock.now(),
            store: parts.store,
            clock: parts.clock,
            ids: parts.ids,
            agents: parts.agents,
            runs: parts.runs,
            keepers: Keepers::default(),
            models: parts.model.map(Models::new),
            webhooks: WebhookWork::new(parts.webhooks),
            loops: LoopWork::new(parts.hooks),
            data_dir: parts.data_dir,
            local_roots: parts.local_roots,
            start_values: parts.start_values,
            transfers: Transfers::new(&parts.repos),
            repos: parts.repos,
            repo_locks: Locks::default(),
            clone_locks: Locks::default(),
            image_locks: Locks::default(),
            worktree_locks: Locks::default(),
            clone_wanted: Notify::new(),
            wait_begun: Notify::new(),
            count_wanted: Notify::new(),
            shutdown: parts.shutdown,
            followers: Arc::default(),
            principals: PrincipalCache::default(),
            attempts: Attempts::default(),
            unknown_keys: UnknownKeys::default(),
            login_links: LoginLinks::default(),
            tasks: TaskTracker::new(),
            first_admin: Mutex::default(),
            user_disabled: Notify::new(),
        }
    }

    /// Waits for work that goes on although its caller went away. Nothing may be called afterwards.
    pub async fn drain(&self) {
        self.tasks.close();
        self.tasks.wait().await;
    }

    /// Runs work to its end, also when the caller goes away.
    pub(crate) async fn to_the_end<T: Send + 'static>(
        &self,
        work: impl Future<Output = Result<T>> + Send + 'static,
    ) -> Result<T> {
        self.tasks
            .spawn(work)
            .await
            .unwrap_or_else(|error| Err(AppError::from(ServerReason::Defect).caused_by(error)))
    }

    /// Returns the circumstances of a call that `principal` makes now.
    pub fn context(&self, principal: Principal, surface: Surface) -> OpContext {
        OpContext {
            principal,
            request: self.ids.next(),
            surface,
            now: self.clock.now(),
            idempotency: None,
            entries: EntryCount::default(),
            tool: None,
            part_of: None,
        }
    }

    /// Makes what is committed with a change that the server makes by itself; it is recorded with the owner.
    pub(crate) fn server_commit(
        &self,
        operation: Operation,
        owner: Owner,
        subject: Subject,
        facts: Facts,
        events: Vec<NewEvent>,
    ) -> Commit {
        let cx = self.server_context(owner);
        cx.commit(operation, subject, facts, events)
    }

    /// Returns the circumstances of something that the server does by itself for an owner.
    pub(crate) fn server_context(&self, owner: Owner) -> OpContext {
        let principal = Principal {
            user: owner.user,
            role: UserRole::Member,
            credential: Credential::Local,
        };
        self.context(principal, Surface::Server)
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
        let result = work.await.map_err(|error| error.fitted_to(&cx.principal));
        self.record(cx, operation, facts, &result).await;
        result
    }

    /// Runs a change and records it if it was refused or found nothing to change; if it was done, its commit has the record already.
    pub(crate) async fn change<T>(
        &self,
        cx: &OpContext,
        operation: Operation,
        mut facts: Facts,
        work: impl Future<Output = Result<T>>,
    ) -> Result<T> {
        let entries = cx.entries.get();
        let result = work.await.map_err(|error| error.fitted_to(&cx.principal));
        if result.is_err() {
            self.record(cx, operation, facts, &result).await;
        } else if cx.entries.get() == entries {
            facts.insert("unchanged".to_owned(), "true".to_owned());
            self.record(cx, operation, facts, &result).await;
        } else {
            cx.note_change();
            count(operation, "ok");
        }
        result
    }

    /// Records a call that was refused before its operation began, such as one whose arguments cannot be read. A call that has an entry
    /// already gets no second one.
    pub async fn record_refusal(
        &self,
        cx: &OpContext,
        operation: Operation,
        code: ErrorCode,
        message: &str,
    ) {
        if cx.entries.get() > 0 {
            return;
        }
        count(operation, code.as_str());
        let facts = facts([("refused", message)]);
        self.record_outcome(cx, operation, facts, Outcome::Refused(code))
            .await;
    }

    async fn record<T>(
        &self,
        cx: &OpContext,
        operation: Operation,
        facts: Facts,
        result: &Result<T>,
    ) {
        if let Err(error) = result {
            count(operation, error.code().as_str());
            log_if_ours(cx.request, operation, error);
        } else {
            count(operation, "ok");
        }
        self.record_outcome(cx, operation, facts, outcome(result))
            .await;
    }

    async fn record_outcome(
        &self,
        cx: &OpContext,
        operation: Operation,
        facts: Facts,
        outcome: Outcome,
    ) {
        if cx.leave_to_tool(&facts) {
            return;
        }
        let entry = cx.audit(operation, None, outcome, facts);
        self.note(entry).await;
    }

    /// Records the call of a dialect's tool once it is over. One that made a change is recorded with the change.
    pub async fn tool_called(
        &self,
        cx: &OpContext,
        operation: Operation,
        error: Option<&AppError>,
    ) {
        let outcome = error.map_or(Outcome::Done, |error| Outcome::Refused(error.code()));
        if let Some(entry) = cx.tool_entry(operation, outcome) {
            self.note(entry).await;
        }
    }

    async fn note(&self, entry: NewAuditEntry) {
        let operation = entry.operation;
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
    // Defects and outages are worth a line in the server's log, callers' mistakes are not.
    if !error.code().is_ours() {
        return;
    }
    let mut chain = String::new();
    let mut cause: Option<&dyn Error> = error.source();
    while let Some(error) = cause {
        chain.push_str(": ");
        chain.push_str(&error.to_string());
        cause = error.source();
    }
    tracing::error!(%request, operation = operation.name(), "{error}{chain}");
}
