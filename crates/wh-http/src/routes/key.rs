//! Keys.

use http::Method;
use wh_api::{
    KeyCreateRequest, KeyCreatedView, KeyListRequest, KeyListView, KeyRevokeRequest, KeyView,
    cursor_of,
};
use wh_app::KeyQuery;
use wh_domain::Operation;

use crate::table::{Route, change, create, get};

pub(super) fn routes() -> Vec<Route> {
    vec![
        get(
            "/keys",
            Operation::KeyList,
            "Lists keys without their secrets, newest first",
            |server, cx, request: KeyListRequest| async move {
                let query = KeyQuery {
                    user: request.user()?,
                    include_automatic: request.include_automatic.unwrap_or(false),
                };
                let page = server
                    .app
                    .key_list(&cx, query, request.page().by_id()?)
                    .await?;
                let keys = page.items.into_iter().map(|key| KeyView::at(key, cx.now));
                Ok(KeyListView {
                    keys: keys.collect(),
                    next_cursor: cursor_of(page.next),
                    total: page.total,
                })
            },
        ),
        create(
            "/keys",
            Operation::KeyCreate,
            "Makes a key and shows its secret, this once",
            |_| None,
            |server, cx, request: KeyCreateRequest| async move {
                let made = server.app.key_create(&cx, request.try_into()?).await?;
                Ok(KeyCreatedView {
                    key: made.secret.map(|secret| secret.expose().to_owned()),
                    about: KeyView::at(made.key, cx.now),
                })
            },
        ),
        change(
            Method::DELETE,
            "/keys/{key}",
            Operation::KeyRevoke,
            "Revokes a key: from now on it lets nobody in",
            |server, cx, request: KeyRevokeRequest| async move {
                let key = server.app.key_revoke(&cx, request.key()?).await?;
                Ok(KeyView::at(key, cx.now))
            },
        ),
    ]
}
