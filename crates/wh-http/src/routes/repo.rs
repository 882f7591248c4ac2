//! Repositories.

use http::Method;
use wh_api::{
    DeletedView, RepoAddRequest, RepoCheckRequest, RepoCheckView, RepoDeleteRequest,
    RepoListRequest, RepoListView, RepoTrustRequest, RepoTrustView, RepoView, cursor_of,
};
use wh_domain::Operation;

use crate::table::{Route, change, create, get};

pub(super) fn routes() -> Vec<Route> {
    vec![
        get(
            "/repos",
            Operation::RepoList,
            "Lists repositories, newest first",
            |server, cx, request: RepoListRequest| async move {
                let page = server.app.repo_list(&cx, request.page().by_id()?).await?;
                Ok(RepoListView {
                    repos: page.items.into_iter().map(Into::into).collect(),
                    next_cursor: cursor_of(page.next),
                    total: page.total,
                })
            },
        ),
        create(
            "/repos",
            Operation::RepoAdd,
            "Adds a repository",
            |_| None,
            |server, cx, request: RepoAddRequest| async move {
                let repo = server.app.repo_add(&cx, request.try_into()?).await?;
                Ok(RepoView::from(repo))
            },
        ),
        get(
            "/repos/{repo}/check",
            Operation::RepoCheck,
            "Checks that a repository can be read, and with which credential",
            |server, cx, request: RepoCheckRequest| async move {
                let check = server.app.repo_check(&cx, &request.repo()?).await?;
                Ok(RepoCheckView::from(check))
            },
        )
        .time_max(|limits| limits.git_time_max),
        change(
            Method::DELETE,
            "/repos/{repo}",
            Operation::RepoDelete,
            "Deletes a repository from the server. Refuses when something depends on it, unless forced",
            |server, cx, request: RepoDeleteRequest| async move {
                let (repo, mode) = (request.repo()?, request.mode());
                let gone = server.app.repo_delete(&cx, &repo, mode).await?;
                let kept = gone.kept.as_deref();
                Ok(DeletedView::of_repo(&gone.repo, gone.dependents, kept))
            },
        )
        .time_max(|limits| limits.git_time_max),
        change(
            Method::POST,
            "/repos/{repo}/trust",
            Operation::RepoTrust,
            "Shows the project configuration of coding agents in a repository, and approves it by its SHA-256",
            |server, cx, request: RepoTrustRequest| async move {
                let report = server.app.repo_trust(&cx, request.try_into()?).await?;
                Ok(RepoTrustView::from(report))
            },
        )
        .time_max(|limits| limits.git_time_max),
    ]
}
