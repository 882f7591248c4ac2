//! Boards.

use http::Method;
use wh_api::{
    BoardCardsView, BoardCreateRequest, BoardDeleteRequest, BoardDuplicateRequest, BoardGetRequest,
    BoardListRequest, BoardListView, BoardShareRequest, BoardUpdateRequest, BoardView, DeletedView,
    cursor_of,
};
use wh_domain::Operation;

use crate::table::{Route, change, create, get};

pub(super) fn routes() -> Vec<Route> {
    vec![
        get(
            "/boards",
            Operation::BoardList,
            "Lists boards, newest first",
            |server, cx, request: BoardListRequest| async move {
                let page = request.page().by_id()?;
                let page = match request.shared {
                    Some(true) => server.app.board_list_shared(&cx, page).await?,
                    _ => server.app.board_list(&cx, None, page).await?,
                };
                Ok(BoardListView {
                    boards: page.items.iter().map(Into::into).collect(),
                    next_cursor: cursor_of(page.next),
                    total: page.total,
                })
            },
        ),
        create(
            "/boards",
            Operation::BoardCreate,
            "Makes a board",
            location,
            |server, cx, request: BoardCreateRequest| async move {
                let board = server.app.board_create(&cx, request.try_into()?).await?;
                Ok(BoardView::new(&board, &cx.principal))
            },
        ),
        get(
            "/boards/{board}",
            Operation::BoardGet,
            "Shows a board with its zones and what lies on it",
            |server, cx, request: BoardGetRequest| async move {
                let board = server.app.board_get(&cx, &request.board()?).await?;
                Ok(BoardView::new(&board, &cx.principal))
            },
        ),
        get(
            "/boards/{board}/cards",
            Operation::BoardGet,
            "Shows the sessions and worktrees that belong to a board or lie on it",
            |server, cx, request: BoardGetRequest| async move {
                let cards = server.app.board_cards(&cx, &request.board()?).await?;
                Ok(BoardCardsView::from(&cards))
            },
        )
        .named("board_cards"),
        change(
            Method::PATCH,
            "/boards/{board}",
            Operation::BoardUpdate,
            "Changes a board; what is absent stays",
            |server, cx, request: BoardUpdateRequest| async move {
                let board = server.app.board_update(&cx, request.try_into()?).await?;
                Ok(BoardView::new(&board, &cx.principal))
            },
        ),
        change(
            Method::DELETE,
            "/boards/{board}",
            Operation::BoardDelete,
            "Deletes a board. Refuses when something depends on it, unless forced",
            |server, cx, request: BoardDeleteRequest| async move {
                let (board, mode) = (request.board()?, request.mode());
                let (board, dependents) = server.app.board_delete(&cx, &board, mode).await?;
                Ok(DeletedView::of_board(&board, dependents))
            },
        ),
        change(
            Method::PUT,
            "/boards/{board}/shares",
            Operation::BoardShare,
            "Shares a board and the sessions on it with everyone or with a user, or no longer",
            |server, cx, request: BoardShareRequest| async move {
                let board = server.app.board_share(&cx, request.try_into()?).await?;
                Ok(BoardView::new(&board, &cx.principal))
            },
        ),
        create(
            "/boards/{board}/duplicate",
            Operation::BoardDuplicate,
            "Copies a board",
            location,
            |server, cx, request: BoardDuplicateRequest| async move {
                let board = server.app.board_duplicate(&cx, request.try_into()?).await?;
                Ok(BoardView::new(&board, &cx.principal))
            },
        ),
    ]
}

fn location(board: &BoardView) -> Option<String> {
    Some(format!("/boards/{}", board.id))
}
