//! The audit log, as those may read it whom it concerns.

use wh_domain::{
    AuditEntry, AuditQuery, Facts, Operation, Page, PageRequest, Reach, Reference, UserId,
};

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
                Some(reference) => Some(self.audited_user(reach, reference).await?),
                None => None,
            };
            let filter = query.filter(user, cx.now)?;
            Ok(self.store.audit_list(reach, &filter, page).await?)
        })
        .await
    }

    /// Finds whose calls are meant; administrators find those of deleted users, too.
    async fn audited_user(&self, reach: Reach, reference: &Reference) -> Result<UserId> {
        if reach == Reach::All
            && let Some(deleted) = self.store.user_deleted(reference).await?
        {
            return Ok(deleted);
        }
        Ok(self.user_lookup(reach, reference).await?.id)
    }
}
