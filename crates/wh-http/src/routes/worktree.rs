//! Worktrees.

use http::Method;
use wh_api::{
    WorktreeCreateRequest, WorktreeDiffRequest, WorktreeDiffView, WorktreeGetRequest,
    WorktreeListRequest, WorktreeListView, WorktreeMergeRequest, WorktreeMergedView,
    WorktreeRemoveRequest, WorktreeRemovedView, WorktreeView, cursor_of,
};
use wh_app::WorktreeQuery;
use wh_domain::Operation;

use crate::table::{Route, change, create, get};

pub(super) fn routes() -> Vec<Route> {
    let routes = vec![
        get(
            "/worktrees",
            Operation::WorktreeList,
            "Lists worktrees, newest first",
            |server, cx, request: WorktreeListRequest| async move {
                let query = WorktreeQuery {
                    repo: request.repo()?,
                    board: request.board()?,
                    states: request.states()?,
                    finished: request.finished.unwrap_or(false),
                };
                let page = request.page().by_id()?;
                let page = server.app.worktree_list(&cx, query, page).await?;
                Ok(WorktreeListView {
                    worktrees: page.items.into_iter().map(Into::into).collect(),
                    next_cursor: cursor_of(page.next),
                    total: page.total,
                })
            },
        ),
        create(
            "/worktrees",
            Operation::WorktreeCreate,
            "Makes a worktree",
            |view: &WorktreeView| Some(format!("/worktrees/{}", view.id)),
            |server, cx, request: WorktreeCreateRequest| async move {
                let made = server.app.worktree_create(&cx, request.try_into()?).await?;
                Ok(WorktreeView::from(made))
            },
        ),
        get(
            "/worktrees/{worktree}",
            Operation::WorktreeGet,
            "Shows a worktree: its state, what is not committed, its size and its sessions",
            |server, cx, request: WorktreeGetRequest| async move {
                let look = server.app.worktree_get(&cx, &request.worktree()?).await?;
                Ok(WorktreeView::from(look))
            },
        ),
        get(
            "/worktrees/{worktree}/diff",
            Operation::WorktreeDiff,
            "Shows what a worktree changed, committed or not",
            |server, cx, request: WorktreeDiffRequest| async move {
                let diff = server.app.worktree_diff(&cx, request.try_into()?).await?;
                Ok(WorktreeDiffView::from(diff))
            },
        ),
        change(
            Method::POST,
            "/worktrees/{worktree}/merge",
            Operation::WorktreeMerge,
            "Merges a worktree's branch into another, or changes nothing",
            |server, cx, request: WorktreeMergeRequest| async move {
                let merged = server.app.worktree_merge(&cx, request.try_into()?).await?;
                Ok(WorktreeMergedView::from(merged))
            },
        ),
        change(
            Method::DELETE,
            "/worktrees/{worktree}",
            Operation::WorktreeRemove,
            "Removes a worktree; its branch stays. Refuses when something would be lost, or saves it first",
            |server, cx, request: WorktreeRemoveRequest| async move {
                let (worktree, how) = (request.worktree()?, request.how()?);
                let gone = server.app.worktree_remove(&cx, &worktree, how).await?;
                Ok(WorktreeRemovedView::from(gone))
            },
        ),
    ];
    let time = |route: Route| route.time_max(|limits| limits.git_time_max);
    routes.into_iter().map(time).collect()
}
