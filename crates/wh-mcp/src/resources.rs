//! Resources under `wheelhouse://` addresses: each is read by the operation of the matching tool, with its rights and its bounds.

use rmcp::{
    ErrorData,
    model::{
        ListResourcesResult, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
    },
};
use serde::Serialize;
use wh_api::{
    AgentListView, AgentView, BoardView, MessageDepth, MessageListView, PageQuery, SessionView,
    WorktreeDiffRequest, WorktreeDiffView, WorktreeView,
};
use wh_app::{App, AppError, MessageQuery, OpContext, Summarize, WorktreeQuery};
use wh_domain::{
    ErrorCode, Event, PageLimit, Reference, SessionQuery, ShortId, SubjectKind, WorktreeLook,
};

use crate::{
    address::{Address, ResourceKind},
    error::Refused,
    files,
};

const MIME: &str = "application/json";

/// The newest messages of a session that are read, and the most bytes of them.
const MESSAGES_MAX: u64 = 50;
const MESSAGES_BYTES_MAX: usize = 32_000;

/// Tells whether an event changes which resources there are.
pub(crate) fn changes_list(event: &Event) -> bool {
    use wh_domain::EventKind::{Created, Deleted};
    matches!(
        event.body.subject.kind,
        SubjectKind::Board | SubjectKind::Session | SubjectKind::Worktree
    ) && matches!(event.body.kind, Created | Deleted)
}

/// Returns the kinds of addresses.
pub(crate) fn templates() -> Vec<ResourceTemplate> {
    let kinds = ResourceKind::ALL.into_iter();
    // What has one member has no template: it is in the list.
    let several = kinds.filter(|kind| *kind != ResourceKind::Agents);
    several.map(ResourceKind::shown).collect()
}

/// Lists boards, then sessions, then worktrees, a page at a time, and the agents in the end.
pub(crate) async fn list(
    app: &App,
    cx: &OpContext,
    cursor: Option<String>,
) -> Result<ListResourcesResult, Refused> {
    let cursor = cursor.unwrap_or_else(|| "board:".to_owned());
    let (kind, after) = cursor.split_once(':').ok_or_else(bad_cursor)?;
    let query = PageQuery {
        limit: None,
        cursor: (!after.is_empty()).then(|| after.to_owned()),
    };
    let page = query.by_id().map_err(|_| bad_cursor())?;
    let (resources, next) = match kind {
        "board" => {
            let boards = app.board_list(cx, None, page).await?;
            let resources: Vec<_> = boards
                .items
                .iter()
                .map(|b| {
                    resource(
                        ResourceKind::Board,
                        b.id.to_string(),
                        b.name.as_str(),
                        &b.id.short_id(),
                    )
                })
                .collect();
            let next = boards
                .next
                .map_or("session:".to_owned(), |id| format!("board:{id}"));
            (resources, Some(next))
        }
        "session" => {
            let sessions = app.session_list(cx, SessionQuery::default(), page);
            let sessions = sessions.await?;
            let resources = sessions
                .items
                .iter()
                .map(|s| {
                    resource(
                        ResourceKind::Session,
                        s.id.to_string(),
                        s.title.as_str(),
                        &s.id.short_id(),
                    )
                })
                .collect();
            let next = sessions
                .next
                .map_or("worktree:".to_owned(), |id| format!("session:{id}"));
            (resources, Some(next))
        }
        "worktree" => {
            let worktrees = app.worktree_list(cx, WorktreeQuery::default(), page);
            let worktrees = worktrees.await?;
            let named = |look: &WorktreeLook| {
                let worktree = &look.worktree;
                let (id, short) = (worktree.id.to_string(), worktree.id.short_id());
                resource(ResourceKind::Worktree, id, worktree.name.as_str(), &short)
            };
            let mut resources: Vec<_> = worktrees.items.iter().map(named).collect();
            if worktrees.next.is_none() {
                resources.push(agents());
            }
            (resources, worktrees.next.map(|id| format!("worktree:{id}")))
        }
        _ => return Err(bad_cursor().into()),
    };
    let mut result = ListResourcesResult::with_all_items(resources);
    result.next_cursor = next;
    Ok(result)
}

fn resource(kind: ResourceKind, id: String, title: &str, short: &str) -> Resource {
    Resource::new(kind.address(&id), short)
        .with_title(title)
        .with_mime_type(MIME)
}

fn agents() -> Resource {
    let (kind, row) = (ResourceKind::Agents, ResourceKind::Agents.row());
    Resource::new(kind.template(), row.name)
        .with_description(row.description)
        .with_mime_type(MIME)
}

/// Reads one resource.
pub(crate) async fn read(
    app: &App,
    cx: &OpContext,
    uri: &str,
) -> Result<ReadResourceResult, Refused> {
    let refused = |error: AppError| read_error(uri, error);
    let text = match Address::parse(uri).ok_or_else(|| not_found(uri))? {
        Address::Board(id) => {
            let board = app.board_get(cx, &id).await.map_err(refused)?;
            json(&BoardView::new(&board, &cx.principal))
        }
        Address::Session(id) => {
            let found = app.session_get(cx, &id).await.map_err(refused)?;
            json(&SessionView::from(&found.session).with(
                found.tools,
                found.shared,
                &found.models,
                &found.commands,
            ))
        }
        Address::Worktree(id) => {
            let look = app.worktree_get(cx, &id).await.map_err(refused)?;
            json(&WorktreeView::from(look))
        }
        Address::WorktreeFile { worktree, path } => {
            let contents = files::read(app, cx, &worktree, &path, uri).await;
            return Ok(ReadResourceResult::new(vec![contents.map_err(refused)?]));
        }
        Address::Agents => {
            let agents = app.agent_list(cx).await.map_err(refused)?;
            json(&AgentListView {
                agents: agents.into_iter().map(AgentView::from).collect(),
            })
        }
        Address::SessionMessages(id) => json(&newest_messages(app, cx, id).await.map_err(refused)?),
        Address::SessionDiff(id) => json(&session_diff(app, cx, &id).await.map_err(refused)?),
    };
    let contents = ResourceContents::text(text?, uri).with_mime_type(MIME);
    Ok(ReadResourceResult::new(vec![contents]))
}

/// Reads the end of a transcript.
async fn newest_messages(
    app: &App,
    cx: &OpContext,
    session: Reference,
) -> Result<MessageListView, AppError> {
    let found = app.session_get(cx, &session).await?.session;
    let before = found.last_seq.saturating_sub(MESSAGES_MAX);
    let query = MessageQuery {
        session,
        after: Some(Reference::parse(&before.to_string())?),
        include_system: false,
        with_tools: false,
        summarize: Summarize::No,
        limit: PageLimit::MAX,
        bytes_max: MESSAGES_BYTES_MAX,
    };
    let read = app.message_list(cx, &query).await?;
    let (session, messages) = (&read.session, read.messages);
    let depth = MessageDepth::Words;
    Ok(MessageListView::new(
        session,
        messages,
        read.next_after,
        None,
        depth,
    ))
}

/// Reads what a session changed, as far as one page of it goes; worktree_diff shows the rest.
async fn session_diff(
    app: &App,
    cx: &OpContext,
    session: &Reference,
) -> Result<WorktreeDiffView, AppError> {
    let session = app.session_get(cx, session).await?.session;
    let worktree = session.worktree;
    let worktree = worktree.ok_or_else(|| AppError::not_found(wh_app::Resource::Worktree))?;
    let request = WorktreeDiffRequest {
        worktree: worktree.to_string(),
        ..WorktreeDiffRequest::default()
    };
    let diff = app.worktree_diff(cx, request.try_into()?).await?;
    Ok(WorktreeDiffView::from(diff))
}

fn json(view: &impl Serialize) -> Result<String, ErrorData> {
    serde_json::to_string(view).map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

fn read_error(uri: &str, error: AppError) -> Refused {
    match error.code() {
        ErrorCode::NotFound | ErrorCode::InvalidInput => not_found(uri).into(),
        _ => error.into(),
    }
}

fn not_found(uri: &str) -> ErrorData {
    let data = serde_json::json!({ "uri": wh_domain::redact(uri) });
    ErrorData::resource_not_found("Resource not found", Some(data))
}

fn bad_cursor() -> ErrorData {
    ErrorData::invalid_params("the cursor is not one that a list returned", None)
}
