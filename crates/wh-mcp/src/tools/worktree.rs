//! Tools about worktrees.

use std::sync::Arc;

use wh_api::{
    WorktreeCreateRequest, WorktreeDiffRequest, WorktreeDiffView, WorktreeGetRequest,
    WorktreeListRequest, WorktreeListView, WorktreeMergeRequest, WorktreeMergedView,
    WorktreeRemoveRequest, WorktreeRemovedView, WorktreeView, cursor_of,
};
use wh_app::{App, OpContext, Result, WorktreeQuery};
use wh_domain::Operation;

use super::Tool;
use crate::toolset::Toolset;

pub(super) fn tools() -> Vec<Tool> {
    let tool = Toolset::Worktree;
    vec![
        Tool::new(
            tool,
            Operation::WorktreeList,
            "Lists worktrees, newest first. finished: true shows what could be cleaned up, how large it is and what would be lost; nothing is changed.",
            worktree_list,
        ),
        Tool::new(
            tool,
            Operation::WorktreeGet,
            "Shows one worktree: branch, commits ahead and behind, what is not committed, size, sessions in it, and what speaks against removing it.",
            worktree_get,
        ),
        Tool::new(
            tool,
            Operation::WorktreeCreate,
            "Makes a worktree of a repository on a new or an existing branch, and returns it with the branch and base that applied.",
            worktree_create,
        )
        .for_leads(),
        Tool::new(
            tool,
            Operation::WorktreeDiff,
            "Shows what a worktree changed since it began, committed or not: files, counts of lines, patches. Bounded; next_cursor gives the rest.",
            worktree_diff,
        ),
        Tool::new(
            tool,
            Operation::WorktreeMerge,
            "Merges a worktree's branch into the repository's default branch or another. commit commits uncommitted changes first; remove_after removes the worktree and branch afterwards. A conflict is reported with its files and leaves the target unchanged.",
            worktree_merge,
        ),
        Tool::new(
            tool,
            Operation::WorktreeRemove,
            "Removes a worktree; its branch stays. Refuses and names the risks when something would be lost; rescue: true saves everything under a git reference first.",
            worktree_remove,
        ),
    ]
}

async fn worktree_list(
    app: Arc<App>,
    cx: OpContext,
    request: WorktreeListRequest,
) -> Result<WorktreeListView> {
    let query = WorktreeQuery {
        repo: request.repo()?,
        board: request.board()?,
        states: request.states()?,
        finished: request.finished.unwrap_or(false),
    };
    let page = app
        .worktree_list(&cx, query, request.page().by_id()?)
        .await?;
    Ok(WorktreeListView {
        worktrees: page.items.into_iter().map(Into::into).collect(),
        next_cursor: cursor_of(page.next),
        total: page.total,
    })
}

async fn worktree_get(
    app: Arc<App>,
    cx: OpContext,
    request: WorktreeGetRequest,
) -> Result<WorktreeView> {
    let look = app.worktree_get(&cx, &request.worktree()?).await?;
    Ok(WorktreeView::from(look))
}

async fn worktree_create(
    app: Arc<App>,
    cx: OpContext,
    request: WorktreeCreateRequest,
) -> Result<WorktreeView> {
    let made = app.worktree_create(&cx, request.try_into()?).await?;
    Ok(WorktreeView::from(made))
}

async fn worktree_diff(
    app: Arc<App>,
    cx: OpContext,
    request: WorktreeDiffRequest,
) -> Result<WorktreeDiffView> {
    let diff = app.worktree_diff(&cx, request.try_into()?).await?;
    Ok(WorktreeDiffView::from(diff))
}

async fn worktree_merge(
    app: Arc<App>,
    cx: OpContext,
    request: WorktreeMergeRequest,
) -> Result<WorktreeMergedView> {
    let merged = app.worktree_merge(&cx, request.try_into()?).await?;
    Ok(WorktreeMergedView::from(merged))
}

async fn worktree_remove(
    app: Arc<App>,
    cx: OpContext,
    request: WorktreeRemoveRequest,
) -> Result<WorktreeRemovedView> {
    let (worktree, how) = (request.worktree()?, request.how()?);
    let gone = app.worktree_remove(&cx, &worktree, how).await?;
    Ok(WorktreeRemovedView::from(gone))
}
