//! The audit log, as those may read it whom it concerns.

use wh_domain::{AuditEntry, AuditQuery, Facts, Operation, Page, PageRequest};

use crate::{App, OpContext, Result};

impl App {
    /// Lists calls, newest first: everybody's for an administrator, one's own otherwise. A page may hold fewer than there
    /// is room for, even none, and have a next one: see [`wh_store::AuditStore::audit_list`].
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
            let filter = query.filter(user, cx.now)?;
            Ok(self.store.audit_list(reach, &filter, page).await?)
        })
        .await
    }
}
