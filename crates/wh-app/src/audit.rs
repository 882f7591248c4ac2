//! The audit log, as those may read it whom it concerns.

use wh_domain::{AuditEntry, Facts, Operation, Page, PageRequest, Reference};

use crate::{App, OpContext, Result};

/// Which entries a list holds.
#[derive(Clone, Debug, Default)]
pub struct AuditQuery {
    pub user: Option<Reference>,
    pub operation: Option<Operation>,
}

impl App {
    /// Lists calls, newest first: everybody's for an administrator, one's own otherwise.
    pub async fn audit_list(
        &self,
        cx: &OpContext,
        query: AuditQuery,
        page: PageRequest<u64>,
    ) -> Result<Page<AuditEntry, u64>> {
        let operation = Operation::AuditList;
        self.read(cx, operation, Facts::new(), async {
            let reach = cx.authorize(operation)?;
            let user = match &query.user {
                Some(reference) => Some(self.user_lookup(reach, reference).await?.id),
                None => None,
            };
            let list = self.store.audit_list(reach, user, query.operation, page);
            Ok(list.await?)
        })
        .await
    }
}
