//! Completion of ids, by what they begin with or by what the thing is called.

use rmcp::{
    ErrorData,
    model::{
        CompleteRequestParams, CompleteResult, CompletionInfo, Reference as CompletionReference,
    },
};
use wh_app::{App, OpContext, SessionQuery, WorktreeQuery};
use wh_domain::{PageLimit, PageRequest};

use crate::resources::protocol_error;

/// What an argument names.
enum Wanted {
    Board,
    Session,
    Worktree,
}

/// Returns values for an argument of a prompt or a resource address.
pub(crate) async fn complete(
    app: &App,
    cx: &OpContext,
    request: &CompleteRequestParams,
) -> Result<CompleteResult, ErrorData> {
    let typed = request.argument.value.to_lowercase();
    let named = match wanted(request) {
        Some(Wanted::Board) => boards(app, cx).await?,
        Some(Wanted::Session) => sessions(app, cx).await?,
        Some(Wanted::Worktree) => worktrees(app, cx).await?,
        None => vec![],
    };
    let fits = |(id, name): &(String, String)| {
        id.starts_with(&typed) || id.ends_with(&typed) || name.to_lowercase().contains(&typed)
    };
    let values = named.into_iter().filter(fits).map(|(id, _)| id);
    let values: Vec<_> = values.take(CompletionInfo::MAX_VALUES).collect();
    let info =
        CompletionInfo::new(values).map_err(|error| ErrorData::internal_error(error, None))?;
    Ok(CompleteResult::new(info))
}

fn wanted(request: &CompleteRequestParams) -> Option<Wanted> {
    match &request.r#ref {
        CompletionReference::Prompt(_) if request.argument.name == "session" => {
            Some(Wanted::Session)
        }
        CompletionReference::Resource(template) => {
            if template.uri.starts_with("wheelhouse://board/") {
                Some(Wanted::Board)
            } else if template.uri.starts_with("wheelhouse://session/") {
                Some(Wanted::Session)
            } else if template.uri.starts_with("wheelhouse://worktree/")
                && request.argument.name == "id"
            {
                Some(Wanted::Worktree)
            } else {
                None
            }
        }
        _ => None,
    }
}

async fn boards(app: &App, cx: &OpContext) -> Result<Vec<(String, String)>, ErrorData> {
    let page = PageRequest::first(PageLimit::MAX);
    let boards = app.board_list(cx, page).await.map_err(protocol_error)?;
    let named = |board: wh_domain::Board| (board.id.to_string(), board.name.to_string());
    Ok(boards.items.into_iter().map(named).collect())
}

async fn sessions(app: &App, cx: &OpContext) -> Result<Vec<(String, String)>, ErrorData> {
    let page = PageRequest::first(PageLimit::MAX);
    let sessions = app.session_list(cx, SessionQuery::default(), page);
    let sessions = sessions.await.map_err(protocol_error)?;
    let named = |session: wh_domain::Session| (session.id.to_string(), session.title.to_string());
    Ok(sessions.items.into_iter().map(named).collect())
}

async fn worktrees(app: &App, cx: &OpContext) -> Result<Vec<(String, String)>, ErrorData> {
    let page = PageRequest::first(PageLimit::MAX);
    let worktrees = app.worktree_list(cx, WorktreeQuery::default(), page);
    let worktrees = worktrees.await.map_err(protocol_error)?;
    let named = |look: wh_domain::WorktreeLook| {
        let worktree = look.worktree;
        (worktree.id.to_string(), worktree.name.to_string())
    };
    Ok(worktrees.items.into_iter().map(named).collect())
}
