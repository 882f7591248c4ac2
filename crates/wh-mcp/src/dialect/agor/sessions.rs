//! Sessions, read.

use schemars::JsonSchema;
use serde::Deserialize;
use wh_app::{AppError, MessageQuery, Resource, Result, Summarize};
use wh_domain::{
    Archived, Denied, Message, Operation, PageLimit, PageRequest, Reference, Session, SessionBrief,
    SessionOutline, SessionQuery, SessionStateName, Turn, TurnState,
};

use super::{
    SPAWNED_STATUSES, STATUSES, Status, board_named, default_limit, first, naming, optional,
    session_named, skipping,
    views::{Family, Hit, Listed, SessionSummary, SessionView, WithStatus},
    worktree_named,
};
use crate::dialect::tool::{Call, DialectTool, Reply, field, reference};

/// The most messages that are shown with a session.
const MESSAGES_MAX: u64 = 50;

/// The most bytes of text of those.
const MESSAGE_BYTES_MAX: usize = 32_000;

pub(super) fn tools() -> Vec<DialectTool> {
    use Operation as Op;
    vec![
        DialectTool::new(
            "agor_sessions_list",
            Op::SessionList,
            "List all sessions accessible to the current user, newest first",
            list,
        ),
        DialectTool::new("agor_sessions_find", Op::SessionList, "List sessions", list).alias(),
        DialectTool::new(
            "agor_sessions_get",
            Op::SessionGet,
            "Get detailed information about a specific session, including genealogy and current state",
            get,
        ),
        DialectTool::new(
            "agor_sessions_get_current",
            Op::SessionCurrent,
            "Get information about the current session (the one making this MCP call). Useful for introspection.",
            get_current,
        ),
        DialectTool::new(
            "agor_sessions_genealogy",
            Op::SessionTree,
            "Get session genealogy tree (parent, children, siblings)",
            genealogy,
        ),
        DialectTool::new(
            "agor_sessions_search",
            Op::SessionSearch,
            "Search what was said in all sessions, best matches first",
            search,
        ),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct List {
    /// Maximum number of sessions to return
    #[serde(default = "default_limit")]
    limit: u32,
    /// Number of sessions to skip
    #[serde(default)]
    skip: u32,
    /// Filter by session status
    #[serde(default)]
    status: Option<Status>,
    /// Filter sessions by board ID (UUIDv7 or short ID)
    #[serde(default)]
    board_id: Option<String>,
    /// Filter sessions by worktree ID
    #[serde(default)]
    worktree_id: Option<String>,
}

async fn list(call: Call, request: List) -> Result<Reply<Listed<SessionSummary>>> {
    let wanted = |status: &Status| request.status.is_none_or(|wanted| wanted == *status);
    let states = STATUSES.iter().filter(|(_, status)| wanted(status));
    let states = states.filter(|_| request.status.is_some());
    let latest = SPAWNED_STATUSES.iter();
    let latest = latest.filter(|(_, status)| wanted(status));
    let (board, worktree) = (request.board_id.as_deref(), request.worktree_id.as_deref());
    let query = SessionQuery {
        states: states.map(|(state, _)| *state).collect(),
        spawned: Some(latest.map(|(turn, _)| *turn).collect()).filter(|_| request.status.is_some()),
        board: optional("boardId", board)?,
        worktree: optional("worktreeId", worktree)?,
        ..SessionQuery::default()
    };
    let page = skipping(request.skip, request.limit);
    let found = call.app.session_brief_list(&call.cx, query, page).await;
    let found = found.map_err(naming([board_named(board), worktree_named(worktree)]))?;
    let summary = |session| SessionSummary::new(session, brief_status(session));
    let data = found.items.iter().map(summary).collect();
    Ok(Listed::new(&page, found.total, data).into())
}

fn brief_status(session: &SessionBrief) -> Status {
    let state = session.shown_state();
    if state == SessionStateName::Idle && session.parent.is_some() {
        return in_table(SPAWNED_STATUSES, session.latest_turn);
    }
    in_table(STATUSES, state)
}

async fn with_status(call: &Call, sessions: Vec<Session>) -> Result<Vec<WithStatus>> {
    let mut shown = Vec::with_capacity(sessions.len());
    for session in sessions {
        let status = status_of(call, &session).await?;
        shown.push((session, status));
    }
    Ok(shown)
}

/// Looks up what a session is doing; what was spawned and is idle is known by its latest turn.
async fn status_of(call: &Call, session: &Session) -> Result<Status> {
    let state = session.shown_state();
    if state == SessionStateName::Idle && session.parent.is_some() {
        let turns = turns_of(call, session, 1).await?;
        // The session was read first: a turn that has ended since had not for this view of it.
        let latest = turns.first().map(|turn| match turn.finished_at {
            Some(at) if at > session.updated_at => TurnState::Running,
            _ => turn.state,
        });
        return Ok(in_table(SPAWNED_STATUSES, latest));
    }
    Ok(in_table(STATUSES, state))
}

fn in_table<T: Copy + PartialEq>(table: &[(T, Status)], ours: T) -> Status {
    let row = table.iter().find(|(row, _)| *row == ours);
    row.map_or(Status::Failed, |(_, status)| *status)
}

/// Returns so many of a session's turns, latest first.
async fn turns_of(call: &Call, session: &Session, limit: u32) -> Result<Vec<Turn>> {
    let session = Reference::from(session.id);
    let turns = call.app.turn_list(&call.cx, &session, first(limit));
    Ok(turns.await?.items)
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Get {
    /// Session ID (UUIDv7 or short ID like 01a1b2c3)
    session_id: String,
    /// Include the latest messages
    #[serde(default)]
    include_messages: bool,
}

async fn get(call: Call, request: Get) -> Result<Reply<SessionView>> {
    let session = reference("sessionId", &request.session_id)?;
    let found = call.app.session_get(&call.cx, &session).await;
    let found = found.map_err(naming([session_named("sessionId", &request.session_id)]))?;
    let mut view = shown(&call, &found.session).await?;
    if request.include_messages {
        view.set_messages(&latest_messages(&call, &found.session).await?);
    }
    Ok(view.into())
}

/// Returns as many of a session's latest messages as one answer holds, the oldest of them first.
async fn latest_messages(call: &Call, session: &Session) -> Result<Vec<Message>> {
    let mut after = session.last_seq.saturating_sub(MESSAGES_MAX);
    let mut messages = Vec::new();
    loop {
        let query = MessageQuery {
            session: Reference::from(session.id),
            after: Some(field("after", Reference::parse(&after.to_string()))?),
            include_system: false,
            with_tools: false,
            summarize: Summarize::No,
            limit: PageLimit::MAX,
            bytes_max: MESSAGE_BYTES_MAX,
        };
        let read = call.app.message_list(&call.cx, &query).await?;
        messages.extend(read.messages);
        match read.next_after {
            Some(next) if next > after => after = next,
            _ => break,
        }
    }
    let mut bytes = 0;
    let fits = |message: &&Message| {
        bytes += message.text.len();
        bytes <= MESSAGE_BYTES_MAX
    };
    let kept = messages.iter().rev().take_while(fits).count();
    Ok(messages.split_off(messages.len() - kept))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct GetCurrent {}

async fn get_current(call: Call, _request: GetCurrent) -> Result<Reply<SessionView>> {
    if let Some(named) = call.session_of_address()? {
        let found = call.app.session_get(&call.cx, &named).await?;
        return Ok(shown(&call, &found.session).await?.into());
    }
    let session = call.app.session_current(&call.cx).await;
    let session = session.map_err(|error| match call.cx.principal.credential.session() {
        Some(_) => error,
        None => AppError::from(Denied::NoSession),
    })?;
    Ok(shown(&call, &session).await?.into())
}

/// Shows a session with its children, whose number is limited as that of a tree is, and its latest tasks.
pub(super) async fn shown(call: &Call, session: &Session) -> Result<SessionView> {
    let query = SessionQuery {
        parent: Some(Reference::from(session.id)),
        archived: Archived::Included,
        ..SessionQuery::default()
    };
    let mut children = Vec::new();
    let mut next = Some(PageRequest::first(PageLimit::MAX));
    while let Some(page) = next {
        let found = call.app.session_list(&call.cx, query.clone(), page).await?;
        children.extend(found.items);
        next = found.next.map(|last| page.after(Some(last)));
    }
    let page = PageRequest::first(PageLimit::MAX).counted();
    let own = Reference::from(session.id);
    let turns = call.app.turn_list(&call.cx, &own, page).await?;
    let status = status_of(call, session).await?;
    Ok(SessionView::new(session, status, &children, &turns))
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct GenealogyOf {
    /// Session ID
    session_id: String,
    /// How many levels to traverse
    #[serde(default = "default_depth")]
    depth: u32,
}

fn default_depth() -> u32 {
    2
}

async fn genealogy(call: Call, request: GenealogyOf) -> Result<Reply<Family>> {
    let session = reference("sessionId", &request.session_id)?;
    let missing = || naming([session_named("sessionId", &request.session_id)]);
    let found = call.app.session_tree(&call.cx, &session).await;
    let found = found.map_err(missing())?;
    let tree = with_status(&call, found.tree).await?;
    let own = tree.iter().find(|(it, _)| it.id == found.session);
    let (own, _) = own.ok_or_else(|| missing()(wh_app::AppError::not_found(Resource::Session)))?;
    let mut family = Family::new(own, &tree, request.depth);
    if call.cx.principal.credential.session() == Some(own.id) {
        let status = |it: &SessionOutline| (it.clone(), in_table(STATUSES, it.state));
        let others: Vec<_> = found.others.iter().map(status).collect();
        family.add_outlines(&others, request.depth);
    }
    Ok(family.into())
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Search {
    /// Words that a message must hold, all of them
    query: String,
    /// Maximum number of results
    #[serde(default = "default_limit")]
    limit: u32,
    /// Number of results to skip
    #[serde(default)]
    skip: u32,
}

async fn search(call: Call, request: Search) -> Result<Reply<Listed<Hit>>> {
    let page = skipping(request.skip, request.limit);
    let found = call.app.session_search(&call.cx, &request.query, page);
    let found = found.await?;
    let data = found.items.into_iter().map(Hit::from).collect();
    Ok(Listed::new(&page, found.total, data).into())
}
