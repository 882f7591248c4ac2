//! The audit log.

use async_trait::async_trait;
use wh_domain::{AuditEntry, NewAuditEntry, Operation, Page, PageRequest, Reach, UserId};

use crate::Result;

/// Keeps the audit log.
#[async_trait]
pub trait AuditStore {
    /// Adds entries of calls that changed nothing: reads and refusals.
    ///
    /// They may be written a moment later, together with others, so that reading stays cheap; a crash can lose that
    /// moment. Waits when too many are unwritten. Entries of changes never come this way: they are in the change's
    /// [`crate::Commit`].
    async fn audit_note(&self, entry: NewAuditEntry) -> Result<()>;

    /// Lists entries, newest first: of a user for [`Reach::User`], of a key for [`Reach::Key`], of the calls made by a
    /// session's own tokens for [`Reach::Tree`].
    async fn audit_list(
        &self,
        reach: Reach,
        user: Option<UserId>,
        operation: Option<Operation>,
        page: PageRequest<u64>,
    ) -> Result<Page<AuditEntry, u64>>;
}
