//! Resources: boards, sessions and worktrees under `wheelhouse://` addresses.

use rmcp::{
    ErrorData,
    model::{
        ListResourcesResult, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
    },
};
use serde::Serialize;
use wh_api::{BoardView, PageQuery, SessionView, WorktreeView};
use wh_app::{App, AppError, OpContext, SessionQuery, WorktreeQuery};
use wh_domain::{ErrorCode, Event, ShortId, SubjectKind, WorktreeLook};

use crate::{
    address::{Address, ResourceKind},
    error::{error_body, error_line},
    files,
};

const MIME: &str = "application/json";

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
    let readable = |kind: &ResourceKind| {
        // These have an address and news, and no reading yet.
        use ResourceKind::{Agents, SessionDiff, SessionMessages};
        !matches!(kind, Agents | SessionDiff | SessionMessages)
    };
    kinds.filter(readable).map(ResourceKind::shown).collect()
}

/// Lists boards, then sessions, then worktrees, a page at a time.
pub(crate) async fn list(
    app: &App,
    cx: &OpContext,
    cursor: Option<String>,
) -> Result<ListResourcesResult, ErrorData> {
    let cursor = cursor.unwrap_or_else(|| "board:".to_owned());
    let (kind, after) = cursor.split_once(':').ok_or_else(bad_cursor)?;
    let query = PageQuery {
        limit: None,
        cursor: (!after.is_empty()).then(|| after.to_owned()),
    };
    let page = query.by_id().map_err(|_| bad_cursor())?;
    let (resources, next) = match kind {
        "board" => {
            let boards = app.board_list(cx, page).await.map_err(protocol_error)?;
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
            let sessions = sessions.await.map_err(protocol_error)?;
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
            let worktrees = worktrees.await.map_err(protocol_error)?;
            let named = |look: &WorktreeLook| {
                let worktree = &look.worktree;
                let (id, short) = (worktree.id.to_string(), worktree.id.short_id());
                resource(ResourceKind::Worktree, id, worktree.name.as_str(), &short)
            };
            let resources = worktrees.items.iter().map(named).collect();
            (resources, worktrees.next.map(|id| format!("worktree:{id}")))
        }
        _ => return Err(bad_cursor()),
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

/// Reads one resource.
pub(crate) async fn read(
    app: &App,
    cx: &OpContext,
    uri: &str,
) -> Result<ReadResourceResult, ErrorData> {
    let refused = |error: AppError| read_error(uri, &error);
    let text = match Address::parse(uri).ok_or_else(|| not_found(uri))? {
        Address::Board(id) => {
            let board = app.board_get(cx, &id).await.map_err(refused)?;
            json(&BoardView::from(&*board))
        }
        Address::Session(id) => {
            let found = app.session_get(cx, &id).await.map_err(refused)?;
            json(&SessionView::with_tools(&found.session, found.tools))
        }
        Address::Worktree(id) => {
            let look = app.worktree_get(cx, &id).await.map_err(refused)?;
            json(&WorktreeView::from(look))
        }
        Address::WorktreeFile { worktree, path } => {
            let contents = files::read(app, cx, &worktree, &path, uri).await;
            return Ok(ReadResourceResult::new(vec![contents.map_err(refused)?]));
        }
        Address::Agents | Address::SessionMessages(_) | Address::SessionDiff(_) => {
            return Err(not_found(uri));
        }
    };
    let contents = ResourceContents::text(text?, uri).with_mime_type(MIME);
    Ok(ReadResourceResult::new(vec![contents]))
}

fn json(view: &impl Serialize) -> Result<String, ErrorData> {
    serde_json::to_string(view).map_err(|error| ErrorData::internal_error(error.to_string(), None))
}

fn read_error(uri: &str, error: &AppError) -> ErrorData {
    match error.code {
        ErrorCode::NotFound | ErrorCode::InvalidInput => not_found(uri),
        _ => protocol_error_of(error),
    }
}

fn not_found(uri: &str) -> ErrorData {
    let data = serde_json::json!({ "uri": wh_domain::redact(uri) });
    ErrorData::resource_not_found("Resource not found", Some(data))
}

fn bad_cursor() -> ErrorData {
    ErrorData::invalid_params("the cursor is not one that a list returned", None)
}

/// Shows a refusal where the protocol has no result to carry it.
pub(crate) fn protocol_error(error: AppError) -> ErrorData {
    protocol_error_of(&error)
}

fn protocol_error_of(error: &AppError) -> ErrorData {
    let data = serde_json::to_value(error_body(error)).ok();
    match error.code {
        ErrorCode::Internal | ErrorCode::Unavailable => {
            ErrorData::internal_error(error_line(error), data)
        }
        _ => ErrorData::invalid_params(error_line(error), data),
    }
}
