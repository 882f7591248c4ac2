//! The one error of the application: a typed reason, from which its code, its message and its advice follow.
//!
//! [`Reason`] is closed. Its parts are one file per topic, where every variant has its message, its code and its advice. Surfaces
//! render the advice in their own terms; code compares reasons, never texts.

mod access;
mod board;
mod git;
mod lead;
mod merge;
mod policy;
mod reason;
mod repo;
mod request;
mod resource;
mod run;
pub mod samples;
mod server;
mod session;
mod settings;
mod store;
mod task;
mod worktree;

use serde_json::{Map, Value};
use wh_domain::{Advice, ErrorCode, Principal};

pub use self::{
    access::AccessReason,
    board::{BoardReason, TemplateOf},
    merge::MergeReason,
    reason::Reason,
    repo::RepoReason,
    request::RequestReason,
    resource::Resource,
    run::{LaunchMoment, RunReason},
    server::ServerReason,
    session::SessionReason,
    settings::SettingsReason,
    task::TaskReason,
    worktree::WorktreeReason,
};

/// The result of an operation.
pub type Result<T, E = AppError> = std::result::Result<T, E>;

/// Facts about a refusal that a program can use.
pub type Details = Map<String, Value>;

/// Why an operation was refused or failed.
#[derive(Debug)]
pub struct AppError {
    pub reason: Box<Reason>,
    /// What to do next: the advice of the reason, without what this caller cannot do.
    pub hint: Vec<Advice>,
    /// Facts a program can use.
    pub details: Details,
    /// For the log only.
    pub source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

/// What follows from a kind of refusal beside its message.
pub(crate) trait Explain {
    /// Returns the code that surfaces map to their own.
    fn code(&self) -> ErrorCode;

    /// Returns what the caller can do, before it is known who the caller is.
    fn advice(&self) -> Vec<Advice> {
        Vec::new()
    }

    /// Returns facts a program can use.
    fn details(&self) -> Details {
        Details::new()
    }
}

impl AppError {
    /// Returns the error for a resource that is absent or that the caller cannot access. It never repeats the requested id, so that
    /// the two cannot be told apart.
    pub fn not_found(resource: Resource) -> Self {
        Reason::NotFound(resource).into()
    }

    /// Returns the code, which follows from the reason.
    pub fn code(&self) -> ErrorCode {
        self.reason.code()
    }

    /// Leaves out the advice that this caller cannot follow.
    #[must_use]
    pub fn fitted_to(mut self, principal: &Principal) -> Self {
        let may = |operation| principal.authorize(operation).is_ok();
        self.hint.retain(|advice| advice.is_available_to(may));
        self
    }

    /// Replaces the advice, for a caller that knows better what can be done next.
    #[must_use]
    pub fn with_advice(mut self, advice: Vec<Advice>) -> Self {
        self.hint = advice;
        self
    }

    /// Adds a fact a program can use.
    #[must_use]
    pub fn detail(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.details.insert(name.to_owned(), value.into());
        self
    }

    /// Adds a cause for the log.
    #[must_use]
    pub fn caused_by(mut self, source: impl std::error::Error + Send + Sync + 'static) -> Self {
        self.source = Some(Box::new(source));
        self
    }

    /// Renders message and advice in one line that fits every surface, for a transcript or an answer.
    pub(crate) fn in_words(&self) -> String {
        match Advice::sentence(&self.hint) {
            Some(hint) => format!("{self} ({hint})"),
            None => self.to_string(),
        }
    }
}

impl std::fmt::Display for AppError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.reason.fmt(f)
    }
}

impl std::error::Error for AppError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match &self.source {
            Some(source) => Some(source.as_ref()),
            None => self.reason.source(),
        }
    }
}

impl<R: Into<Reason>> From<R> for AppError {
    fn from(reason: R) -> Self {
        let reason = Box::new(reason.into());
        Self {
            hint: reason.advice(),
            details: reason.details(),
            reason,
            source: None,
        }
    }
}
