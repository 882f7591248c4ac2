//! The audit log.

use wh_api::{AuditListRequest, AuditListView, cursor_of};
use wh_app::AuditQuery;
use wh_domain::Operation;

use crate::table::{Route, get};

pub(super) fn routes() -> Vec<Route> {
    vec![get(
        "/audit",
        Operation::AuditList,
        "Lists calls, newest first",
        |server, cx, request: AuditListRequest| async move {
            let query = AuditQuery {
                user: request.user()?,
                operation: request.operation()?,
            };
            let page = request.page().by_number()?;
            let page = server.app.audit_list(&cx, query, page).await?;
            Ok(AuditListView {
                entries: page.items.into_iter().map(Into::into).collect(),
                next_cursor: cursor_of(page.next),
            })
        },
    )]
}
