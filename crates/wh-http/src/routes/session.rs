//! Sessions.

use http::Method;
use wh_api::{
    SessionCountsRequest, SessionCountsView, SessionCurrentRequest, SessionGetRequest,
    SessionListRequest, SessionListView, SessionTreeRequest, SessionTreeView, SessionUpdateRequest,
    SessionView, cursor_of,
};
use wh_domain::Operation;

use crate::table::{Route, change, get};

pub(super) fn routes() -> Vec<Route> {
    vec![
        get(
            "/sessions",
            Operation::SessionList,
            "Lists sessions, newest first",
            |server, cx, request: SessionListRequest| async move {
                let (query, page) = ((&request).try_into()?, request.page_by_id()?);
                let page = server.app.session_cards(&cx, query, page).await?;
                Ok(SessionListView {
                    sessions: page.items.iter().map(Into::into).collect(),
                    next_cursor: cursor_of(page.next),
                    total: page.total,
                })
            },
        ),
        get(
            "/sessions/counts",
            Operation::SessionList,
            "Counts sessions by stage, such as needs_you, working, ready",
            |server, cx, _: SessionCountsRequest| async move {
                let counts = server.app.session_counts(&cx).await?;
                Ok(SessionCountsView::from(counts))
            },
        )
        .named("session_counts"),
        get(
            "/sessions/current",
            Operation::SessionCurrent,
            "Shows the session whose token is calling",
            |server, cx, _: SessionCurrentRequest| async move {
                let session = server.app.session_current(&cx).await?;
                Ok(SessionView::from(&session))
            },
        ),
        get(
            "/sessions/{session}",
            Operation::SessionGet,
            "Shows a session",
            |server, cx, request: SessionGetRequest| async move {
                let found = server.app.session_get(&cx, &request.session()?).await?;
                Ok(SessionView::from(&found.session).with(
                    found.tools,
                    found.shared,
                    &found.models,
                    &found.commands,
                ))
            },
        ),
        change(
            Method::PATCH,
            "/sessions/{session}",
            Operation::SessionUpdate,
            "Changes a session's title, description, budget or model",
            |server, cx, request: SessionUpdateRequest| async move {
                let (session, patch) = (request.session()?, request.patch()?);
                let session = server.app.session_update(&cx, session, patch).await?;
                Ok(SessionView::from(&session))
            },
        ),
        get(
            "/sessions/{session}/tree",
            Operation::SessionTree,
            "Shows a session's ancestors, siblings and descendants",
            |server, cx, request: SessionTreeRequest| async move {
                let family = server.app.session_tree(&cx, &request.session()?).await?;
                Ok(SessionTreeView {
                    on_board: family.board_total,
                    ..SessionTreeView::new(family.session, &family.tree, &family.others)
                })
            },
        ),
    ]
}
