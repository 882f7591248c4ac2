//! Approvals.

use async_trait::async_trait;
use uuid::Uuid;
use wh_domain::{
    Approval, ApprovalFilter, ApprovalId, IdRef, Page, PageRequest, Reach, Settlement,
};

use crate::{Applied, Commit, Result};

/// Keeps approvals. An approval lies within reach of those who reach its session.
#[async_trait]
pub trait ApprovalStore {
    /// Settles a pending approval; [`crate::StoreError::Settled`] when it is not pending any more.
    async fn approval_settle(
        &self,
        id: ApprovalId,
        settlement: &Settlement,
        commit: Commit,
    ) -> Result<Applied>;

    /// Returns the approvals that `id` could mean, at most ten.
    async fn approval_find(&self, reach: Reach, id: &IdRef) -> Result<Vec<Approval>>;

    /// Lists approvals, newest first.
    async fn approval_list(
        &self,
        reach: Reach,
        filter: &ApprovalFilter,
        page: PageRequest<Uuid>,
    ) -> Result<Page<Approval, Uuid>>;
}
