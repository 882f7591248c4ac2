//! The audit log.

use wh_api::{AuditListRequest, AuditListView};
use wh_domain::Operation;

use crate::table::{Route, get};

pub(super) fn routes() -> Vec<Route> {
    vec![get(
        "/audit",
        Operation::AuditList,
        "Lists calls, newest first",
        |server, cx, request: AuditListRequest| async move {
            let (query, page) = ((&request).try_into()?, request.page().by_number()?);
            let list = server.app.audit_list(&cx, query, page).await;
            list.map(AuditListView::from)
        },
    )]
}
