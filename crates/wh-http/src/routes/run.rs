//! Runs: the lives of a session's process.

use wh_api::{RunListRequest, RunListView, RunView, cursor_of};
use wh_domain::Operation;

use crate::table::{Route, get};

pub(super) fn routes() -> Vec<Route> {
    vec![get(
        "/sessions/{session}/runs",
        Operation::RunList,
        "Lists the processes a session had, latest first, with the last of their stderr",
        |server, cx, request: RunListRequest| async move {
            let (session, page) = (request.session()?, request.page()?);
            let page = server.app.run_list(&cx, &session, page).await?;
            let view = |entry| RunView::new(entry, request.bytes_max());
            Ok(RunListView {
                runs: page.items.into_iter().map(view).collect(),
                next_cursor: cursor_of(page.next),
                total: page.total,
            })
        },
    )]
}
