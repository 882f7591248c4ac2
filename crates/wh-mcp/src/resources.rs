//! Resources: boards, sessions and worktrees under `wheelhouse://` addresses.

use rmcp::{
    ErrorData,
    model::{
        ListResourcesResult, ReadResourceResult, Resource, ResourceContents, ResourceTemplate,
    },
};
use serde::Serialize;
use uuid::Uuid;
use wh_api::{BoardView, PageQuery, SessionView, WorktreeView};
use wh_app::{App, AppError, OpContext, SessionQuery, WorktreeQuery};
use wh_domain::{ErrorCode, Event, Reference, ShortId, SubjectKind, WorktreeLook};

use crate::{
    error::{error_body, error_line},
    files::{self, FileAddress},
};

const MIME: &str = "application/json";

/// What an address means.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) kind: AddressKind,
    pub(crate) id: Reference,
}

/// The kinds of things that have an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum AddressKind {
    Board,
    Session,
    Worktree,
}

impl AddressKind {
    fn prefix(self) -> &'static str {
        match self {
            Self::Board => "wheelhouse://board/",
            Self::Session => "wheelhouse://session/",
            Self::Worktree => "wheelhouse://worktree/",
        }
    }

    /// Returns the kind of thing whose changes concern the address.
    pub(crate) fn subject(self) -> SubjectKind {
        match self {
            Self::Board => SubjectKind::Board,
            Self::Session => SubjectKind::Session,
            Self::Worktree => SubjectKind::Worktree,
        }
    }
}

impl Address {
    /// Reads an address.
    pub(crate) fn parse(uri: &str) -> Option<Self> {
        let read = |kind: AddressKind| {
            let id = Reference::parse(uri.strip_prefix(kind.prefix())?).ok()?;
            Some(Self { kind, id })
        };
        use AddressKind::{Board, Session, Worktree};
        [Board, Session, Worktree].into_iter().find_map(read)
    }

    /// Returns the whole id of what the address means, if the caller may see it.
    pub(crate) async fn resolve(&self, app: &App, cx: &OpContext) -> Result<Uuid, AppError> {
        let id = match self.kind {
            AddressKind::Board => app.board_get(cx, &self.id).await?.id.to_string(),
            AddressKind::Session => app.session_get(cx, &self.id).await?.session.id.to_string(),
            AddressKind::Worktree => {
                let look = app.worktree_get(cx, &self.id).await?;
                look.worktree.id.to_string()
            }
        };
        Uuid::try_parse(&id).map_err(|_| AppError::not_found("resource"))
    }
}

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
    let template = |kind: AddressKind, name: &str, description: &str| {
        ResourceTemplate::new(format!("{}{{id}}", kind.prefix()), name)
            .with_description(description)
            .with_mime_type(MIME)
    };
    vec![
        template(
            AddressKind::Board,
            "board",
            "A board: its zones and what lies where",
        ),
        template(
            AddressKind::Session,
            "session",
            "A session: state, place, last words, cost",
        ),
        template(
            AddressKind::Worktree,
            "worktree",
            "A worktree: state, what is not committed, sessions in it",
        ),
        files::template(),
    ]
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
                        AddressKind::Board,
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
                        AddressKind::Session,
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
                resource(AddressKind::Worktree, id, worktree.name.as_str(), &short)
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

fn resource(kind: AddressKind, id: String, title: &str, short: &str) -> Resource {
    Resource::new(format!("{}{id}", kind.prefix()), short)
        .with_title(title)
        .with_mime_type(MIME)
}

/// Reads one resource.
pub(crate) async fn read(
    app: &App,
    cx: &OpContext,
    uri: &str,
) -> Result<ReadResourceResult, ErrorData> {
    if let Some(file) = FileAddress::parse(uri) {
        let contents = file.read(app, cx, uri).await;
        let contents = contents.map_err(|e| read_error(uri, &e))?;
        return Ok(ReadResourceResult::new(vec![contents]));
    }
    let address = Address::parse(uri).ok_or_else(|| not_found(uri))?;
    let text = match address.kind {
        AddressKind::Board => {
            let board = app.board_get(cx, &address.id).await;
            json(&BoardView::from(&*board.map_err(|e| read_error(uri, &e))?))
        }
        AddressKind::Session => {
            let found = app.session_get(cx, &address.id).await;
            let found = found.map_err(|e| read_error(uri, &e))?;
            json(&SessionView::with_tools(&found.session, found.tools))
        }
        AddressKind::Worktree => {
            let look = app.worktree_get(cx, &address.id).await;
            json(&WorktreeView::from(look.map_err(|e| read_error(uri, &e))?))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_read_back() {
        let address = Address::parse("wheelhouse://board/89abcdef").unwrap();
        assert_eq!(address.kind, AddressKind::Board);
        assert_eq!(address.id.as_str(), "89abcdef");
        for bad in [
            "",
            "wheelhouse://board/",
            "file:///etc/passwd",
            "wheelhouse://user/1",
        ] {
            assert_eq!(Address::parse(bad), None, "{bad}");
        }
    }
}
