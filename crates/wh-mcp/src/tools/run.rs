//! The tool about a session's processes.

use std::sync::Arc;

use wh_api::{RunListRequest, RunListView, RunView, cursor_of};
use wh_app::{App, OpContext, Result};
use wh_domain::Operation;

use super::Tool;
use crate::toolset::Toolset;

pub(super) fn tools() -> Vec<Tool> {
    vec![Tool::new(
        Toolset::Session,
        Operation::RunList,
        "Lists the processes a session had, latest first: when each began and ended, how, and the last its agent's program wrote to \
         stderr. For finding out why an agent is stuck, or went away.",
        run_list,
    )]
}

async fn run_list(app: Arc<App>, cx: OpContext, request: RunListRequest) -> Result<RunListView> {
    let page = app
        .run_list(&cx, &request.session()?, request.page()?)
        .await?;
    let view = |entry| RunView::new(entry, request.bytes_max());
    Ok(RunListView {
        runs: page.items.into_iter().map(view).collect(),
        next_cursor: cursor_of(page.next),
        total: page.total,
    })
}
