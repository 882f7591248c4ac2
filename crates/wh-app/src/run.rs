//! Runs: the lives of a session's process, for whoever asks what became of it.

use wh_domain::{Operation, Page, PageRequest, Reference, RunEntry};

use crate::{App, OpContext, Result, context::facts};

impl App {
    /// Lists the runs of a session, latest first, with the last that its agent's program wrote to stderr.
    pub async fn run_list(
        &self,
        cx: &OpContext,
        session: &Reference,
        page: PageRequest<u64>,
    ) -> Result<Page<RunEntry, u64>> {
        let operation = Operation::RunList;
        let facts = facts([("session", session.as_str())]);
        self.read(cx, operation, facts, async {
            let reach = cx.authorize(operation)?;
            let found = self.session_lookup(reach, session).await?;
            Ok(self.store.run_list(found.id, page).await?)
        })
        .await
    }
}
