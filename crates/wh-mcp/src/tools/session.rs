//! Tools about sessions.

use std::sync::Arc;

use wh_api::{
    SessionBriefListView, SessionBriefView, SessionCurrentRequest, SessionGetRequest,
    SessionListRequest, SessionTreeRequest, SessionTreeView, SessionUpdateRequest, SessionView,
    cursor_of,
};
use wh_app::{App, OpContext, Result};
use wh_domain::Operation;

use super::Tool;
use crate::toolset::Toolset;

pub(super) fn tools() -> Vec<Tool> {
    let set = Toolset::Session;
    vec![
        Tool::new(
            set,
            Operation::SessionCurrent,
            "Shows the session you are: its title, board, worktree and budget.",
            session_current,
        )
        .for_sessions()
        .for_workers(),
        Tool::new(
            set,
            Operation::SessionList,
            "Lists sessions, newest first: id, title, agent and state. Filter by state, board, worktree or parent.",
            session_list,
        )
        .for_keys()
        .for_sessions(),
        Tool::new(
            set,
            Operation::SessionGet,
            "Shows one session: state, place, last words, cost.",
            session_get,
        )
        .for_keys()
        .for_sessions(),
        Tool::new(
            set,
            Operation::SessionUpdate,
            "Changes a session's title or description; people also change budget, model and role. An agent changes its own.",
            session_update,
        )
        .unlisted_for_agents("budget")
        .unlisted_for_agents("model")
        .unlisted_for_agents("role")
        .for_sessions(),
        Tool::new(
            set,
            Operation::SessionTree,
            "Shows a session's descendants with cost and last words; to agents also title and state of ancestors, siblings and its board's sessions.",
            session_tree,
        )
        .for_sessions(),
    ]
}

async fn session_current(
    app: Arc<App>,
    cx: OpContext,
    _request: SessionCurrentRequest,
) -> Result<SessionView> {
    let session = app.session_current(&cx).await?;
    Ok(SessionView::from(&session))
}

async fn session_list(
    app: Arc<App>,
    cx: OpContext,
    request: SessionListRequest,
) -> Result<SessionBriefListView> {
    let (query, page) = ((&request).try_into()?, request.page_by_id()?);
    let page = app.session_brief_list(&cx, query, page).await?;
    Ok(SessionBriefListView {
        sessions: page.items.iter().map(SessionBriefView::from).collect(),
        next_cursor: cursor_of(page.next),
        total: page.total,
    })
}

async fn session_get(
    app: Arc<App>,
    cx: OpContext,
    request: SessionGetRequest,
) -> Result<SessionView> {
    let found = app.session_get(&cx, &request.session()?).await?;
    // Models and commands are many words, which agent_get and the resource have.
    Ok(SessionView::from(&found.session).with(found.tools, found.shared, &[], &[]))
}

async fn session_update(
    app: Arc<App>,
    cx: OpContext,
    request: SessionUpdateRequest,
) -> Result<SessionView> {
    let session = app.session_update(&cx, request.session()?, request.patch()?);
    Ok(SessionView::from(&session.await?))
}

async fn session_tree(
    app: Arc<App>,
    cx: OpContext,
    request: SessionTreeRequest,
) -> Result<SessionTreeView> {
    let family = app.session_tree(&cx, &request.session()?).await?;
    Ok(SessionTreeView {
        on_board: family.board_total,
        ..SessionTreeView::new(family.session, &family.tree, &family.others)
    })
}
