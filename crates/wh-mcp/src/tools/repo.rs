//! Tools about repositories.

use std::sync::Arc;

use wh_api::{
    DeletedView, RepoAddRequest, RepoCheckRequest, RepoCheckView, RepoDeleteRequest,
    RepoListRequest, RepoListView, RepoTrustRequest, RepoTrustView, RepoView, cursor_of,
};
use wh_app::{App, OpContext, Result};
use wh_domain::Operation;

use super::Tool;
use crate::toolset::Toolset;

pub(super) fn tools() -> Vec<Tool> {
    vec![
        Tool::new(
            Toolset::Repo,
            Operation::RepoList,
            "Lists the git repositories the server knows, newest first.",
            repo_list,
        )
        .for_keys()
        .for_leads(),
        Tool::new(
            Toolset::Repo,
            Operation::RepoAdd,
            "Makes a git repository known to the server, by path or address. A local one is looked at now; a remote one is cloned in the background and its state is pending until then.",
            repo_add,
        )
        .for_keys(),
        Tool::new(
            Toolset::Repo,
            Operation::RepoCheck,
            "Checks that a repository can be read: whether its host is reachable, which credential is used and whether it is accepted, and the default branch. Use it when a repository is failed or private.",
            repo_check,
        ),
        Tool::new(
            Toolset::Repo,
            Operation::RepoDelete,
            "Deletes a repository from the server; a directory of the machine is left as it is. Refused while something depends on it, with what that is; with force, loops are stopped, sessions stopped and archived, and worktrees removed after everything in them was saved.",
            repo_delete,
        ),
        Tool::new(
            Toolset::Repo,
            Operation::RepoTrust,
            "Shows the project configuration that coding agents would load from a repository (.claude/, .mcp.json, .codex/, …) with its SHA-256, and approves what `approve` names. Only a person should decide that: it starts commands and changes permissions.",
            repo_trust,
        ),
    ]
}

async fn repo_list(app: Arc<App>, cx: OpContext, request: RepoListRequest) -> Result<RepoListView> {
    let page = app.repo_list(&cx, request.page().by_id()?).await?;
    Ok(RepoListView {
        repos: page.items.into_iter().map(RepoView::from).collect(),
        next_cursor: cursor_of(page.next),
        total: page.total,
    })
}

async fn repo_add(app: Arc<App>, cx: OpContext, request: RepoAddRequest) -> Result<RepoView> {
    app.repo_add(&cx, request.try_into()?)
        .await
        .map(RepoView::from)
}

async fn repo_check(
    app: Arc<App>,
    cx: OpContext,
    request: RepoCheckRequest,
) -> Result<RepoCheckView> {
    app.repo_check(&cx, &request.repo()?)
        .await
        .map(RepoCheckView::from)
}

async fn repo_delete(
    app: Arc<App>,
    cx: OpContext,
    request: RepoDeleteRequest,
) -> Result<DeletedView> {
    let gone = app
        .repo_delete(&cx, &request.repo()?, request.mode())
        .await?;
    let kept = gone.kept.as_deref();
    Ok(DeletedView::of_repo(&gone.repo, gone.dependents, kept))
}

async fn repo_trust(
    app: Arc<App>,
    cx: OpContext,
    request: RepoTrustRequest,
) -> Result<RepoTrustView> {
    app.repo_trust(&cx, request.try_into()?)
        .await
        .map(RepoTrustView::from)
}
