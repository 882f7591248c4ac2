//! Boards, and the users who own them.

use schemars::JsonSchema;
use serde::Deserialize;
use wh_app::{Resource, Result, WorktreeQuery};
use wh_domain::{
    BoardChange, BoardDuplicate, DeleteMode, Description, Name, NewBoard, NewUser, Operation,
    PageLimit, PageRequest, Reference, UserName, UserRole,
};

use super::{
    Named, board_named, default_limit, naming, optional, skipping,
    views::{BoardMade, BoardView, Created, Listed, UserView},
};
use crate::dialect::tool::{Call, DialectTool, Reply, field, reference};

pub(super) fn tools() -> Vec<DialectTool> {
    use Operation as Op;
    vec![
        DialectTool::new(
            "agor_boards_get",
            Op::BoardGet,
            "Get information about a board, including zones and layout",
            get,
        ),
        DialectTool::new(
            "agor_boards_list",
            Op::BoardList,
            "List all boards accessible to the current user, newest first",
            list,
        ),
        DialectTool::new(
            "agor_boards_create",
            Op::BoardCreate,
            "Create a new board for organizing worktrees and sessions",
            create,
        ),
        DialectTool::new(
            "agor_boards_duplicate",
            Op::BoardDuplicate,
            "Duplicate an existing board with all its zones, and with new worktrees if told to",
            duplicate,
        ),
        DialectTool::new("agor_boards_find", Op::BoardList, "List boards", list).alias(),
        DialectTool::new(
            "agor_boards_patch",
            Op::BoardUpdate,
            "Update a board",
            patch,
        )
        .alias(),
        DialectTool::new(
            "agor_boards_remove",
            Op::BoardDelete,
            "Delete a board that nothing belongs to",
            remove,
        )
        .alias(),
        DialectTool::new(
            "agor_users_create",
            Op::UserCreate,
            "Create a new user",
            users_create,
        ),
        DialectTool::new(
            "agor_users_get",
            Op::UserGet,
            "Get user information",
            users_get,
        ),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Get {
    /// Board ID (UUIDv7 or short ID)
    board_id: String,
}

async fn get(call: Call, request: Get) -> Result<Reply<BoardView>> {
    let board = reference("boardId", &request.board_id)?;
    let board = call.app.board_get(&call.cx, &board).await;
    let board = board.map_err(naming([board_named(Some(&request.board_id))]))?;
    Ok(shown(&call, &board).await?.into())
}

/// Shows a board with all its worktrees.
async fn shown(call: &Call, board: &wh_domain::Board) -> Result<BoardView> {
    let query = WorktreeQuery {
        board: Some(Reference::from(board.id)),
        ..WorktreeQuery::default()
    };
    let mut made_for_it = Vec::new();
    let mut next = Some(PageRequest::first(PageLimit::MAX));
    while let Some(page) = next {
        let found = call.app.worktree_list(&call.cx, query.clone(), page);
        let found = found.await?;
        made_for_it.extend(found.items.iter().map(|look| look.worktree.id));
        next = found.next.map(|last| page.after(Some(last)));
    }
    Ok(BoardView::whole(board, made_for_it.into_iter()))
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct List {
    /// Maximum number of results
    #[serde(default = "default_limit")]
    limit: u32,
    /// Number of results to skip
    #[serde(default)]
    skip: u32,
    /// Filter by owner user ID
    #[serde(default)]
    owner_id: Option<String>,
}

async fn list(call: Call, request: List) -> Result<Reply<Listed<BoardView>>> {
    let page = skipping(request.skip, request.limit);
    let named = request.owner_id.as_deref();
    let owner = optional("ownerId", named)?;
    let found = call.app.board_list(&call.cx, owner.as_ref(), page).await;
    let found = found.map_err(naming([(Resource::User, "User", "ownerId", named)]))?;
    let data = found.items.iter().map(BoardView::listed).collect();
    Ok(Listed::new(&page, found.total, data).into())
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Create {
    /// Board name
    name: String,
    /// Board description
    #[serde(default)]
    description: Option<String>,
    /// Owner user ID
    owner_id: String,
}

async fn create(call: Call, request: Create) -> Result<Reply<BoardMade>> {
    let description = request.description.as_deref().map(Description::parse);
    let new = NewBoard {
        name: field("name", Name::parse(&request.name))?,
        owner: Some(reference("ownerId", &request.owner_id)?),
        description: field("description", description.transpose())?,
        zones: Vec::new(),
    };
    let board = call.app.board_create(&call.cx, new).await;
    let board = board.map_err(naming([user_named("ownerId", &request.owner_id)]))?;
    let entity = shown(&call, &board).await?;
    Ok(BoardMade {
        board_id: board.id.to_string(),
        made: Created::new(board.id, entity),
    }
    .into())
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Patch {
    /// Board ID
    id: String,
    data: BoardData,
}

/// What may be changed about a board.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct BoardData {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    description: Option<String>,
}

async fn patch(call: Call, request: Patch) -> Result<Reply<BoardView>> {
    let name = request.data.name.as_deref().map(Name::parse);
    let description = request.data.description.as_deref().map(Description::parse);
    let change = BoardChange {
        board: reference("id", &request.id)?,
        name: field("name", name.transpose())?,
        description: field("description", description.transpose())?,
        zones: Vec::new(),
        zones_removed: Vec::new(),
        placements: Vec::new(),
        items_removed: Vec::new(),
    };
    let board = call.app.board_update(&call.cx, change).await;
    let board = board.map_err(naming([board_named(Some(&request.id))]))?;
    Ok(shown(&call, &board).await?.into())
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct Remove {
    /// Board ID
    id: String,
}

async fn remove(call: Call, request: Remove) -> Result<Reply<BoardView>> {
    let board = reference("id", &request.id)?;
    let missing = || naming([board_named(Some(&request.id))]);
    let found = call.app.board_get(&call.cx, &board).await;
    let view = shown(&call, &*found.map_err(missing())?).await?;
    let removed = call
        .app
        .board_delete(&call.cx, &board, DeleteMode::IfUnused);
    removed.await.map_err(missing())?;
    Ok(view.into())
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Duplicate {
    /// Board to duplicate
    board_id: String,
    /// Name for duplicated board
    new_name: String,
    /// Make a new worktree for each one of the board, on a branch that begins at the original's
    #[serde(default)]
    include_worktrees: bool,
}

async fn duplicate(call: Call, request: Duplicate) -> Result<Reply<Created<BoardView>>> {
    let copy = BoardDuplicate {
        board: reference("boardId", &request.board_id)?,
        name: field("newName", Name::parse(&request.new_name))?,
        with_worktrees: false,
    };
    let board = match request.include_worktrees {
        true => call.app.board_duplicate_apart(&call.cx, copy).await,
        false => call.app.board_duplicate(&call.cx, copy).await,
    };
    let board = board.map_err(naming([board_named(Some(&request.board_id))]))?;
    let entity = shown(&call, &board).await?;
    Ok(Created::new(board.id, entity).into())
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct UsersCreate {
    /// Username (optional for anonymous)
    #[serde(default)]
    username: Option<String>,
    /// Email (optional)
    #[serde(default)]
    email: Option<String>,
    /// Avatar URL (optional)
    #[serde(default)]
    avatar_url: Option<String>,
}

async fn users_create(call: Call, request: UsersCreate) -> Result<Reply<Created<UserView>>> {
    // Nobody else has the request's id.
    let anonymous = || format!("anonymous-{}", call.cx.request.simple());
    let name = request.username.unwrap_or_else(anonymous);
    let new = NewUser {
        name: field("username", UserName::parse(&name))?,
        role: UserRole::Member,
        email: request.email,
        avatar_url: request.avatar_url,
    };
    let user = call.app.user_create(&call.cx, new).await?;
    Ok(Created::new(user.id, UserView::from(user)).into())
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct UsersGet {
    /// User ID, or name
    user_id: String,
}

async fn users_get(call: Call, request: UsersGet) -> Result<Reply<UserView>> {
    let user = reference("userId", &request.user_id)?;
    let user = call.app.user_get(&call.cx, Some(user)).await;
    let user = user.map_err(naming([user_named("userId", &request.user_id)]))?;
    Ok(UserView::from(user).into())
}

fn user_named<'a>(parameter: &'static str, id: &'a str) -> Named<'a> {
    (Resource::User, "User", parameter, Some(id))
}
