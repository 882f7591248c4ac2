//! What was spent.

use wh_domain::{Facts, Operation, UsageQuery, UsageSpan, UsageSums};

use crate::{App, OpContext, Result};

/// What was used within a time.
#[derive(Clone, Debug)]
pub struct UsageReport {
    pub span: UsageSpan,
    pub sums: UsageSums,
}

impl App {
    /// Sums what was used within a time, by day, by agent and by tree of sessions: of the sessions that
    /// [`Self::session_list`] would list, archived ones included.
    pub async fn usage_report(&self, cx: &OpContext, query: UsageQuery) -> Result<UsageReport> {
        let operation = Operation::UsageReport;
        self.read(cx, operation, Facts::new(), async {
            let reach = cx.authorize(operation)?;
            let span = query.span(cx.now)?;
            let sums = self.store.usage_sums(reach, span, query.trees).await?;
            Ok(UsageReport { span, sums })
        })
        .await
    }
}
