//! How a store can fail.

use wh_domain::{DependencyRefusal, Holder, IllegalTransition, SettingKey};

/// Why a store method did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The thing to change is absent or out of reach.
    #[error("{what} not found")]
    NotFound { what: &'static str },
    /// Another one has the value that must be unique.
    #[error("{what} is taken")]
    Taken { what: &'static str },
    /// It changed since it was read; read again and try again.
    #[error("{what} was changed by someone else")]
    Stale { what: &'static str },
    /// A write from an older run of a session.
    #[error("the run {epoch} is over; {current} is current")]
    Fenced { epoch: u64, current: u64 },
    /// The session has something to do already.
    #[error("the session is busy")]
    Busy,
    /// There are as many as there may be.
    #[error("{what}: at most {max} are allowed")]
    Limit {
        what: &'static str,
        max: u32,
        /// The setting that the number comes from, if one sets it.
        setting: Option<SettingKey>,
    },
    /// It cannot happen in the state that the session is in.
    #[error(transparent)]
    Illegal(#[from] IllegalTransition),
    /// It is settled already.
    #[error("the approval is already settled")]
    Settled,
    /// Tasks cannot depend on each other in this way.
    #[error(transparent)]
    Dependency(#[from] DependencyRefusal),
    /// Somebody else is at work on the task.
    #[error("somebody else is working on the task")]
    Held { by: Holder },
    /// Others depend on it.
    #[error("{what} depend on it")]
    InUse { what: &'static str },
    /// Without this user nobody would be left who may change users.
    #[error("this is the last active administrator")]
    LastAdmin,
    /// The idempotency key was used for another request.
    #[error("the idempotency key was used for another request")]
    KeyReused,
    /// There is no room to write; reading goes on.
    #[error("the disk is full")]
    Full,
    /// The database does not answer or is closed; trying again may help.
    #[error("the database is not available: {message}")]
    Unavailable { message: String },
    /// A row that this version cannot read. Other rows are not affected.
    #[error("a stored {what} cannot be read: {message}")]
    Unreadable { what: &'static str, message: String },
    /// Anything else the database said.
    #[error("the database failed")]
    Backend(#[source] Box<dyn std::error::Error + Send + Sync>),
}
