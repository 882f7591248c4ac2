//! What was spent.

use wh_api::{UsageReportRequest, UsageReportView};
use wh_domain::Operation;

use crate::table::{Route, get};

pub(super) fn routes() -> Vec<Route> {
    vec![get(
        "/usage",
        Operation::UsageReport,
        "Sums what was spent, by day, by agent and by tree of sessions",
        |server, cx, request: UsageReportRequest| async move {
            let report = server.app.usage_report(&cx, request.try_into()?).await?;
            Ok(UsageReportView::new(report.span, report.sums))
        },
    )]
}
