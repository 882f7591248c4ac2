//! Tools about boards.

use std::sync::Arc;

use wh_api::{
    BoardCreateRequest, BoardDeleteRequest, BoardDuplicateRequest, BoardGetRequest,
    BoardListRequest, BoardListView, BoardShareRequest, BoardSummaryView, BoardUpdateRequest,
    BoardView, DeletedView, cursor_of,
};
use wh_app::{App, OpContext, Result};
use wh_domain::Operation;

use super::Tool;
use crate::toolset::Toolset;

pub(super) fn tools() -> Vec<Tool> {
    let tool = Toolset::Board;
    vec![
        Tool::new(
            tool,
            Operation::BoardList,
            "Lists boards, newest first: id, name, how many zones and items. Start here to find a board; board_get shows one.",
            board_list,
        ),
        Tool::new(
            tool,
            Operation::BoardGet,
            "Shows one board: its zones and what lies where.",
            board_get,
        ),
        Tool::new(
            tool,
            Operation::BoardCreate,
            "Makes a board, with zones if given, and returns it.",
            board_create,
        )
        .for_leads(),
        Tool::new(
            tool,
            Operation::BoardUpdate,
            "Changes a board: name, description, zones (add, change, remove), items (place, move, take off). What is not given stays; a mistake changes nothing.",
            board_update,
        ),
        Tool::new(
            tool,
            Operation::BoardDuplicate,
            "Copies a board with its zones and, if asked, its worktrees, under a new name.",
            board_duplicate,
        ),
        Tool::new(
            tool,
            Operation::BoardShare,
            "Shares a board, and the sessions on it, with everyone or with one user: read, prompt (read, and send prompts to its sessions) or none (no longer). Returns the board.",
            board_share,
        ),
        Tool::new(
            tool,
            Operation::BoardDelete,
            "Deletes a board. Refused while something depends on it, with what that is; with force, sessions, worktrees and loops stay without a board, and its tasks, notes and webhooks are deleted.",
            board_delete,
        ),
    ]
}

async fn board_list(
    app: Arc<App>,
    cx: OpContext,
    request: BoardListRequest,
) -> Result<BoardListView> {
    let page = request.page().by_id()?;
    let page = match request.shared {
        Some(true) => app.board_list_shared(&cx, page).await?,
        _ => app.board_list(&cx, None, page).await?,
    };
    Ok(BoardListView {
        boards: page.items.iter().map(BoardSummaryView::from).collect(),
        next_cursor: cursor_of(page.next),
        total: page.total,
    })
}

async fn board_get(app: Arc<App>, cx: OpContext, request: BoardGetRequest) -> Result<BoardView> {
    let board = app.board_get(&cx, &request.board()?).await?;
    Ok(BoardView::new(&board, &cx.principal))
}

async fn board_create(
    app: Arc<App>,
    cx: OpContext,
    request: BoardCreateRequest,
) -> Result<BoardView> {
    let board = app.board_create(&cx, request.try_into()?).await?;
    Ok(BoardView::new(&board, &cx.principal))
}

async fn board_update(
    app: Arc<App>,
    cx: OpContext,
    request: BoardUpdateRequest,
) -> Result<BoardView> {
    let board = app.board_update(&cx, request.try_into()?).await?;
    Ok(BoardView::new(&board, &cx.principal))
}

async fn board_share(
    app: Arc<App>,
    cx: OpContext,
    request: BoardShareRequest,
) -> Result<BoardView> {
    let board = app.board_share(&cx, request.try_into()?).await?;
    Ok(BoardView::new(&board, &cx.principal))
}

async fn board_delete(
    app: Arc<App>,
    cx: OpContext,
    request: BoardDeleteRequest,
) -> Result<DeletedView> {
    let (board, dependents) = app
        .board_delete(&cx, &request.board()?, request.mode())
        .await?;
    Ok(DeletedView::of_board(&board, dependents))
}

async fn board_duplicate(
    app: Arc<App>,
    cx: OpContext,
    request: BoardDuplicateRequest,
) -> Result<BoardView> {
    let board = app.board_duplicate(&cx, request.try_into()?).await?;
    Ok(BoardView::new(&board, &cx.principal))
}
