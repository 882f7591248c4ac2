//! The server itself: who is calling, signing in and out, backups.

use std::path::PathBuf;

use http::{Method, header};
use wh_api::{
    BackupCreateRequest, BackupCreatedView, Empty, LoginLinkCreateRequest, LoginLinkView,
    ServerConfigView, StartValueView, WhoAmIView,
};
use wh_domain::Operation;

use crate::{
    login,
    table::{Route, change, create, get},
};

pub(super) fn routes() -> Vec<Route> {
    vec![
        get(
            "/whoami",
            Operation::WhoAmI,
            "Says who is calling",
            |server, cx, _: Empty| async move {
                let (principal, user) = server.app.whoami(&cx).await?;
                Ok(WhoAmIView::new(&principal, user))
            },
        ),
        get(
            "/server/config",
            Operation::ServerConfigGet,
            "Returns the values that the server was started with",
            |server, cx, _: Empty| async move {
                let values = server.app.server_config_get(&cx).await?;
                let values = values.into_iter().map(|it| StartValueView {
                    key: it.key,
                    value: it.value,
                    source: it.source,
                    about: it.about,
                });
                Ok(ServerConfigView {
                    values: values.collect(),
                })
            },
        ),
        create(
            "/login-links",
            Operation::LoginLinkCreate,
            "Makes a link that signs a browser in, once",
            |_| None,
            |server, cx, request: LoginLinkCreateRequest| async move {
                let link = server.app.login_link_create(&cx, request.user()?).await?;
                Ok(LoginLinkView {
                    url: login::url(&server.config, &link.token),
                    expires_at: link.expires_at.to_string(),
                })
            },
        ),
        change(
            Method::POST,
            "/logout",
            Operation::Logout,
            "Signs the calling browser out",
            |server, cx, _: Empty| async move { server.app.logout(&cx).await.map(|()| Empty {}) },
        )
        .header(header::SET_COOKIE, login::COOKIE_CLEARED),
        create(
            "/backups",
            Operation::BackupCreate,
            "Copies the database into a file on the server's machine",
            |_| None,
            |server, cx, request: BackupCreateRequest| async move {
                let file = PathBuf::from(&request.file);
                let through = server.app.backup_create(&cx, file).await?;
                Ok(BackupCreatedView {
                    file: request.file,
                    through,
                })
            },
        )
        .time_max(|limits| limits.backup_time_max),
    ]
}
