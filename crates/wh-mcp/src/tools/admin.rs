//! Tools about users, keys, settings and the audit log.

use std::sync::Arc;

use wh_api::{
    AuditListRequest, AuditListView, ConfigGetRequest, ConfigSetRequest, ConfigView, DeletedView,
    KeyCreateRequest, KeyCreatedView, KeyListRequest, KeyListView, KeyRevokeRequest, KeyView,
    SettingView, UserCreateRequest, UserDeleteRequest, UserGetRequest, UserListRequest,
    UserListView, UserUpdateRequest, UserView, cursor_of,
};
use wh_app::{App, KeyQuery, OpContext, Result};
use wh_domain::Operation;

use super::Tool;
use crate::toolset::Toolset;

pub(super) fn tools() -> Vec<Tool> {
    let set = Toolset::Admin;
    vec![
        Tool::new(
            set,
            Operation::UserCreate,
            "Makes a user. Administrators only.",
            user_create,
        ),
        Tool::new(
            set,
            Operation::UserGet,
            "Shows a user by id or name, or you.",
            user_get,
        ),
        Tool::new(
            set,
            Operation::UserList,
            "Lists the users you may see.",
            user_list,
        ),
        Tool::new(
            set,
            Operation::UserUpdate,
            "Changes a user's role, email or allowed directories, or disables the user: access is revoked and running sessions are stopped. Administrators only.",
            user_update,
        ),
        Tool::new(
            set,
            Operation::UserDelete,
            "Deletes a user. Refused while the user owns something, with what that is; with force, sessions are stopped, what the user owns becomes yours, and keys are revoked. Administrators only.",
            user_delete,
        ),
        Tool::new(
            set,
            Operation::KeyCreate,
            "Makes a key and returns its secret, once. Store it now: it is never shown again.",
            key_create,
        ),
        Tool::new(
            set,
            Operation::KeyList,
            "Lists keys, without secrets: scope, last use, status.",
            key_list,
        ),
        Tool::new(
            set,
            Operation::KeyRevoke,
            "Ends a key at once, for good.",
            key_revoke,
        ),
        Tool::new(
            set,
            Operation::ConfigGet,
            "Shows settings that change at run time: value, default or set, what it may be.",
            config_get,
        ),
        Tool::new(
            set,
            Operation::ConfigSet,
            "Sets a setting, or goes back to its default when no value is given. Administrators only.",
            config_set,
        ),
        Tool::new(
            set,
            Operation::AuditList,
            "Lists who called what with what outcome, newest first: everybody's calls for administrators, your own otherwise.",
            audit_list,
        ),
    ]
}

async fn user_create(app: Arc<App>, cx: OpContext, request: UserCreateRequest) -> Result<UserView> {
    app.user_create(&cx, request.try_into()?)
        .await
        .map(UserView::from)
}

async fn user_get(app: Arc<App>, cx: OpContext, request: UserGetRequest) -> Result<UserView> {
    app.user_get(&cx, request.user()?).await.map(UserView::from)
}

async fn user_list(app: Arc<App>, cx: OpContext, request: UserListRequest) -> Result<UserListView> {
    let page = app.user_list(&cx, request.page().by_id()?).await?;
    Ok(UserListView {
        users: page.items.into_iter().map(UserView::from).collect(),
        next_cursor: cursor_of(page.next),
        total: page.total,
    })
}

async fn user_update(app: Arc<App>, cx: OpContext, request: UserUpdateRequest) -> Result<UserView> {
    let user = request.user()?;
    let updated = app.user_update(&cx, user, request.patch()?).await;
    updated.map(UserView::from)
}

async fn user_delete(
    app: Arc<App>,
    cx: OpContext,
    request: UserDeleteRequest,
) -> Result<DeletedView> {
    let deleted = app.user_delete(&cx, &request.user()?, request.mode()).await;
    deleted.map(|(user, dependents)| DeletedView::of_user(&user, dependents))
}

async fn key_create(
    app: Arc<App>,
    cx: OpContext,
    request: KeyCreateRequest,
) -> Result<KeyCreatedView> {
    let made = app.key_create(&cx, request.try_into()?).await?;
    Ok(KeyCreatedView {
        key: made.secret.map(|secret| secret.expose().to_owned()),
        about: KeyView::at(made.key, cx.now),
    })
}

async fn key_list(app: Arc<App>, cx: OpContext, request: KeyListRequest) -> Result<KeyListView> {
    let query = KeyQuery {
        user: request.user()?,
        include_automatic: request.include_automatic.unwrap_or(false),
    };
    let page = app.key_list(&cx, query, request.page().by_id()?).await?;
    let view = |key| KeyView::at(key, cx.now);
    Ok(KeyListView {
        keys: page.items.into_iter().map(view).collect(),
        next_cursor: cursor_of(page.next),
        total: page.total,
    })
}

async fn key_revoke(app: Arc<App>, cx: OpContext, request: KeyRevokeRequest) -> Result<KeyView> {
    let key = app.key_revoke(&cx, request.key()?).await?;
    Ok(KeyView::at(key, cx.now))
}

async fn config_get(app: Arc<App>, cx: OpContext, request: ConfigGetRequest) -> Result<ConfigView> {
    let settings = app.config_get(&cx, request.key()?).await?;
    Ok(ConfigView {
        settings: settings.into_iter().map(SettingView::from).collect(),
    })
}

async fn config_set(
    app: Arc<App>,
    cx: OpContext,
    request: ConfigSetRequest,
) -> Result<SettingView> {
    app.config_set(&cx, request.try_into()?)
        .await
        .map(SettingView::from)
}

async fn audit_list(
    app: Arc<App>,
    cx: OpContext,
    request: AuditListRequest,
) -> Result<AuditListView> {
    let (query, page) = ((&request).try_into()?, request.page().by_number()?);
    let list = app.audit_list(&cx, query, page).await;
    list.map(AuditListView::from)
}
