//! Users.

use axum::http::Method;
use wh_api::{
    DeletedView, UserCreateRequest, UserDeleteRequest, UserGetRequest, UserListRequest,
    UserListView, UserUpdateRequest, UserView, cursor_of,
};
use wh_domain::Operation;

use crate::table::{Route, change, create, get};

pub(super) fn routes() -> Vec<Route> {
    vec![
        get(
            "/users",
            Operation::UserList,
            "Lists users, newest first",
            |server, cx, request: UserListRequest| async move {
                let page = server.app.user_list(&cx, request.page().by_id()?).await?;
                Ok(UserListView {
                    users: page.items.into_iter().map(Into::into).collect(),
                    next_cursor: cursor_of(page.next),
                    total: page.total,
                })
            },
        ),
        create(
            "/users",
            Operation::UserCreate,
            "Makes a user",
            |user: &UserView| Some(format!("/users/{}", user.id)),
            |server, cx, request: UserCreateRequest| async move {
                Ok(server
                    .app
                    .user_create(&cx, request.try_into()?)
                    .await?
                    .into())
            },
        ),
        get(
            "/users/{user}",
            Operation::UserGet,
            "Shows a user, by id or name",
            |server, cx, request: UserGetRequest| async move {
                let user = server.app.user_get(&cx, request.user()?).await?;
                Ok(UserView::from(user))
            },
        ),
        change(
            Method::PATCH,
            "/users/{user}",
            Operation::UserUpdate,
            "Changes a user's role, email or allowed directories, or disables the user and stops their sessions",
            |server, cx, request: UserUpdateRequest| async move {
                let user = request.user()?;
                let user = server.app.user_update(&cx, user, request.patch()?).await?;
                Ok(UserView::from(user))
            },
        ),
        change(
            Method::DELETE,
            "/users/{user}",
            Operation::UserDelete,
            "Deletes a user; with force also one who owns something, which becomes the caller's",
            |server, cx, request: UserDeleteRequest| async move {
                let (user, mode) = (request.user()?, request.mode());
                let (user, dependents) = server.app.user_delete(&cx, &user, mode).await?;
                Ok(DeletedView::of_user(&user, dependents))
            },
        ),
    ]
}
