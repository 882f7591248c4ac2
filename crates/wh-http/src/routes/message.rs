//! Transcripts.

use wh_api::{
    MessageDepth, MessageGetRequest, MessageListRequest, MessageListView, MessageView,
    SearchHitView, SessionSearchRequest, SessionSearchView, SummaryView, cursor_of,
};
use wh_app::MessageQuery;
use wh_domain::Operation;

use crate::table::{Route, get};

pub(super) fn routes() -> Vec<Route> {
    vec![
        get(
            "/sessions/{session}/messages",
            Operation::MessageList,
            "Reads a transcript; by default only the latest thing the agent said",
            |server, cx, request: MessageListRequest| async move {
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
                let read = server.app.message_list(&cx, &query).await?;
                let (messages, next) = (read.messages, read.next_after);
                let summary = read
                    .summary
                    .map(|it| SummaryView::new(it.text, it.state, &it.cited, it.by, it.note));
                Ok(MessageListView::new(
                    &read.session,
                    messages,
                    next,
                    summary,
                    depth,
                ))
            },
        ),
        get(
            "/messages/{message}",
            Operation::MessageGet,
            "Shows one message whole",
            |server, cx, request: MessageGetRequest| async move {
                let (session, message) = (request.session()?, request.message()?);
                let message = server.app.message_get(&cx, session.as_ref(), &message);
                let message = message.await?;
                Ok(MessageView::at_depth(message, MessageDepth::Full))
            },
        ),
        get(
            "/search",
            Operation::SessionSearch,
            "Finds words in the transcripts of every session within reach",
            |server, cx, request: SessionSearchRequest| async move {
                let (words, page) = (request.words()?, request.page()?);
                let page = server.app.session_search(&cx, words, page).await?;
                let view = |hit: wh_app::MessageHit| SearchHitView::new(&hit.message, hit.snippet);
                Ok(SessionSearchView {
                    hits: page.items.into_iter().map(view).collect(),
                    next_cursor: cursor_of(page.next),
                    total: page.total,
                })
            },
        ),
    ]
}
