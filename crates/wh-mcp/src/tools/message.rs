//! Tools about transcripts.

use std::sync::Arc;

use wh_api::{
    MessageDepth, MessageGetRequest, MessageListRequest, MessageListView, MessageView,
    SearchHitView, SessionSearchRequest, SessionSearchView, SummaryView, cursor_of,
};
use wh_app::{App, MessageQuery, OpContext, Result};
use wh_domain::Operation;

use super::Tool;
use crate::toolset::Toolset;

pub(super) fn tools() -> Vec<Tool> {
    vec![
        Tool::new(
            Toolset::Message,
            Operation::MessageList,
            "Reads a session's transcript: by default only the latest thing the agent said. Pass `after` to catch up, `summarize` for an overview; message_get shows one message whole.",
            message_list,
        )
        .for_keys()
        .for_sessions(),
        Tool::new(
            Toolset::Message,
            Operation::MessageGet,
            "Shows one message whole, with tool input and output.",
            message_get,
        ),
        Tool::new(
            Toolset::Session,
            Operation::SessionSearch,
            "Finds words in the transcripts of every session you may read, best matches first.",
            session_search,
        ),
    ]
}

async fn message_list(
    app: Arc<App>,
    cx: OpContext,
    request: MessageListRequest,
) -> Result<MessageListView> {
    let query = MessageQuery {
        session: request.session()?,
        after: request.after()?,
        include_system: request.include_system.unwrap_or(false),
        with_tools: false,
        summarize: request.summarize.unwrap_or(false).into(),
        limit: request.limit(),
        bytes_max: request.bytes_max(),
    };
    let depth = request.depth()?;
    let read = app.message_list(&cx, &query).await?;
    let summary = read
        .summary
        .map(|it| SummaryView::new(it.text, it.state, &it.cited, it.by, it.note));
    Ok(MessageListView::new(
        &read.session,
        read.messages,
        read.next_after,
        summary,
        depth,
    ))
}

async fn message_get(
    app: Arc<App>,
    cx: OpContext,
    request: MessageGetRequest,
) -> Result<MessageView> {
    let (session, message) = (request.session()?, request.message()?);
    let message = app.message_get(&cx, session.as_ref(), &message).await?;
    Ok(MessageView::at_depth(message, MessageDepth::Full))
}

async fn session_search(
    app: Arc<App>,
    cx: OpContext,
    request: SessionSearchRequest,
) -> Result<SessionSearchView> {
    let page = app
        .session_search(&cx, request.words()?, request.page()?)
        .await?;
    let view = |hit: wh_app::MessageHit| SearchHitView::new(&hit.message, hit.snippet);
    Ok(SessionSearchView {
        hits: page.items.into_iter().map(view).collect(),
        next_cursor: cursor_of(page.next),
        total: page.total,
    })
}
