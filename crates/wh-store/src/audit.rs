//! The audit log.

use async_trait::async_trait;
use wh_domain::{AuditEntry, AuditFilter, NewAuditEntry, Page, PageRequest, Reach};

use crate::Result;

/// The most entries that are compared with a filter for one page.
pub const AUDIT_COMPARED_MAX: u32 = 50_000;

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
    ///
    /// One part of a filter is looked up: the outcome if it is not "done", else the operation, else the user. What that
    /// leaves within the time is compared with the rest, [`AUDIT_COMPARED_MAX`] entries at a time: a page that ends there
    /// holds what was found and has a next one.
    async fn audit_list(
        &self,
        reach: Reach,
        filter: &AuditFilter,
        page: PageRequest<u64>,
    ) -> Result<Page<AuditEntry, u64>>;
}
