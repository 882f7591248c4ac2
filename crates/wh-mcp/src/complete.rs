//! Completion of ids and names, by what they begin with or by what the thing is called.

use std::path::Path;

use rmcp::{
    ErrorData,
    model::{
        CompleteRequestParams, CompleteResult, CompletionInfo, Reference as CompletionReference,
    },
};
use wh_app::{App, OpContext, WorktreeQuery};
use wh_domain::{Agent, PageLimit, PageRequest, Principal, Reference, SessionQuery, WorktreeFile};

use crate::{address::ResourceKind, error::Refused, prompts};

/// What an argument names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Completes {
    Agent,
    Board,
    Session,
    Worktree,
    /// A path in the worktree whose id was given before.
    Path,
}

/// Returns values for an argument of a prompt or a resource address.
pub(crate) async fn complete(
    app: &App,
    cx: &OpContext,
    request: &CompleteRequestParams,
) -> Result<CompleteResult, Refused> {
    let named = match wanted(&cx.principal, request) {
        Some(Completes::Agent) => agents(app, cx).await?,
        Some(Completes::Board) => boards(app, cx).await?,
        Some(Completes::Session) => sessions(app, cx).await?,
        Some(Completes::Worktree) => worktrees(app, cx).await?,
        Some(Completes::Path) => return values(paths(app, cx, request).await?),
        None => vec![],
    };
    let typed = request.argument.value.to_lowercase();
    let fits = |(id, name): &(String, String)| {
        id.starts_with(&typed) || id.ends_with(&typed) || name.to_lowercase().contains(&typed)
    };
    let found = named.into_iter().filter(fits).map(|(id, _)| id);
    values(found.collect())
}

/// Shows as many values as one answer may hold.
fn values(mut found: Vec<String>) -> Result<CompleteResult, Refused> {
    let all = found.len();
    found.truncate(CompletionInfo::MAX_VALUES);
    let more = all > found.len();
    let info = CompletionInfo::with_pagination(found, None, more);
    let info = info.map_err(|error| ErrorData::internal_error(error, None))?;
    Ok(CompleteResult::new(info))
}

fn wanted(principal: &Principal, request: &CompleteRequestParams) -> Option<Completes> {
    let argument = request.argument.name.as_str();
    match &request.r#ref {
        CompletionReference::Prompt(prompt) => {
            prompts::completes(principal, &prompt.name, argument)
        }
        CompletionReference::Resource(template) => {
            let mut kinds = ResourceKind::ALL.into_iter();
            let kind = kinds.find(|kind| kind.template() == template.uri)?;
            match (kind, argument) {
                (ResourceKind::Board, "id") => Some(Completes::Board),
                (
                    ResourceKind::Session
                    | ResourceKind::SessionMessages
                    | ResourceKind::SessionDiff,
                    "id",
                ) => Some(Completes::Session),
                (ResourceKind::Worktree | ResourceKind::WorktreeFile, "id") => {
                    Some(Completes::Worktree)
                }
                (ResourceKind::WorktreeFile, "path") => Some(Completes::Path),
                _ => None,
            }
        }
        _ => None,
    }
}

async fn agents(app: &App, cx: &OpContext) -> Result<Vec<(String, String)>, Refused> {
    let agents = app.agent_list(cx).await?;
    let ready = agents.into_iter().filter(Agent::is_ready);
    Ok(ready
        .map(|agent| (agent.name.to_string(), agent.title))
        .collect())
}

async fn boards(app: &App, cx: &OpContext) -> Result<Vec<(String, String)>, Refused> {
    let page = PageRequest::first(PageLimit::MAX);
    let boards = app.board_list(cx, None, page).await?;
    let named = |board: wh_domain::Board| (board.id.to_string(), board.name.to_string());
    Ok(boards.items.into_iter().map(named).collect())
}

async fn sessions(app: &App, cx: &OpContext) -> Result<Vec<(String, String)>, Refused> {
    let page = PageRequest::first(PageLimit::MAX);
    let sessions = app.session_list(cx, SessionQuery::default(), page);
    let sessions = sessions.await?;
    let named = |session: wh_domain::Session| (session.id.to_string(), session.title.to_string());
    Ok(sessions.items.into_iter().map(named).collect())
}

async fn worktrees(app: &App, cx: &OpContext) -> Result<Vec<(String, String)>, Refused> {
    let page = PageRequest::first(PageLimit::MAX);
    let worktrees = app.worktree_list(cx, WorktreeQuery::default(), page);
    let worktrees = worktrees.await?;
    let named = |look: wh_domain::WorktreeLook| {
        let worktree = look.worktree;
        (worktree.id.to_string(), worktree.name.to_string())
    };
    Ok(worktrees.items.into_iter().map(named).collect())
}

/// Returns what the directory holds whose name was typed so far; nothing if it cannot be read.
async fn paths(
    app: &App,
    cx: &OpContext,
    request: &CompleteRequestParams,
) -> Result<Vec<String>, Refused> {
    let context = request.context.as_ref();
    let worktree = context.and_then(|context| context.get_argument("id"));
    let Some(worktree) = worktree.and_then(|id| Reference::parse(id).ok()) else {
        return Ok(vec![]);
    };
    let typed = request.argument.value.as_str();
    let (above, begun) = typed.rsplit_once('/').unwrap_or(("", typed));
    let read = app.worktree_file(cx, &worktree, Path::new(above)).await;
    let Ok(WorktreeFile::Directory { names, .. }) = read else {
        return Ok(vec![]);
    };
    let whole = |name: String| match above {
        "" => name,
        above => format!("{above}/{name}"),
    };
    let fits = names.into_iter().filter(|name| name.starts_with(begun));
    Ok(fits.map(whole).collect())
}
