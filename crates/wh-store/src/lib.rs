//! What the application needs of a database: the `Store` trait in domain terms, its errors, and the conformance suite
//! that every backend passes.
//!
//! A method is as large as a use case and transactional inside; no pool, connection or transaction leaks out. Every
//! change carries a [`Commit`]: the change, its audit entry, its events and its idempotency claim become durable
//! together or not at all, and a method returns only once they are.
//!
//! Reads take a [`wh_domain::Reach`]: what lies outside it is absent, so that "not yours" and "not there" cannot be
//! told apart.
//!
//! Times are kept to the microsecond; what is finer is cut off. A reference to a user, key, board, repository or parent
//! session that is not there makes a change fail with [`StoreError::NotFound`].

mod approval;
mod audit;
mod board;
mod commit;
pub mod conformance;
mod deletion;
mod error;
mod event;
mod host_credential;
mod key;
mod loops;
mod message;
mod recent;
mod repo;
mod retention;
mod run;
mod session;
mod setting;
mod task;
mod turn;
mod usage;
mod user;
mod wait;
mod webhook;
mod worktree;

use std::path::Path;

use async_trait::async_trait;

pub use approval::ApprovalStore;
pub use audit::{AUDIT_COMPARED_MAX, AuditStore};
pub use board::{BoardStore, Fired};
pub use commit::{Applied, Commit, IdempotencyClaim};
pub use deletion::DeletionStore;
pub use error::StoreError;
pub use event::{EventPage, EventStore};
pub use host_credential::HostCredentialStore;
pub use key::KeyStore;
pub use loops::{LoopSave, LoopStore, NewLoop};
pub use message::{MessageAppend, MessageHit, MessageStore};
pub use recent::{EventsSeen, Recent, RecentEvents};
pub use repo::RepoStore;
pub use retention::{Expired, Forgotten, RetentionStore};
pub use run::{RunFact, RunStep, RunStore, SessionWork};
pub use session::{Laid, NewSession, SessionStore};
pub use setting::SettingStore;
pub use task::{TaskStore, TaskWish};
pub use turn::{QueueRules, QueueState, TurnStore};
pub use usage::{USAGE_AGENTS_MAX, UsageStore};
pub use user::{LeftRunning, UserStore};
pub use wait::WaitStore;
pub use webhook::{WebhookStanding, WebhookStore};
pub use worktree::{Counted, Uncounted, WorktreeStore};

/// The result of a store method.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;

/// How far lists are counted; a longer one is said to be as long as this.
pub const COUNT_MAX: u32 = 100_000;

/// A database that keeps everything the server must not forget.
#[async_trait]
pub trait Store:
    ApprovalStore
    + AuditStore
    + BoardStore
    + DeletionStore
    + EventStore
    + HostCredentialStore
    + KeyStore
    + LoopStore
    + MessageStore
    + RepoStore
    + RetentionStore
    + RunStore
    + SessionStore
    + SettingStore
    + TaskStore
    + TurnStore
    + UsageStore
    + UserStore
    + WaitStore
    + WebhookStore
    + WorktreeStore
    + Send
    + Sync
{
    /// Tells whether the database answers and takes writes.
    async fn health(&self) -> Result<()>;

    /// Copies the database, as it is at one moment, into a file that must not exist yet, while others read and write.
    ///
    /// Returns the sequence number of the last event in the copy; [`StoreError::Taken`] when there is such a file. The
    /// commit is made after the copy, so it is not in it.
    async fn backup(&self, to: &Path, commit: Commit) -> Result<wh_domain::EventSeq>;

    /// Tells whether a request with this mark was committed before, and about what, without taking the mark;
    /// [`StoreError::KeyReused`] when it was another request. For work outside of the database that must not be repeated.
    async fn replayed(
        &self,
        claim: &IdempotencyClaim,
        at: jiff::Timestamp,
    ) -> Result<Option<wh_domain::Subject>>;

    /// Records something that was done outside of the database.
    async fn record(&self, commit: Commit) -> Result<Applied>;

    /// Writes out what is buffered and closes; later calls fail with [`StoreError::Unavailable`].
    async fn close(&self);
}
