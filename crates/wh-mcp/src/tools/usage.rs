//! The tool about spending.

use std::sync::Arc;

use wh_api::{UsageReportRequest, UsageReportView};
use wh_app::{App, OpContext, Result};
use wh_domain::Operation;

use super::Tool;
use crate::toolset::Toolset;

pub(super) fn tools() -> Vec<Tool> {
    vec![Tool::new(
        Toolset::Session,
        Operation::UsageReport,
        "Tells what sessions have spent: money, tokens, time and turns, in all and by day, by agent and by tree of sessions; the last \
         30 days unless told otherwise.",
        usage_report,
    )]
}

async fn usage_report(
    app: Arc<App>,
    cx: OpContext,
    request: UsageReportRequest,
) -> Result<UsageReportView> {
    let report = app.usage_report(&cx, request.try_into()?).await?;
    Ok(UsageReportView::new(report.span, report.sums))
}
