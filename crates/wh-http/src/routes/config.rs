//! Settings that change at run time.

use http::Method;
use wh_api::{ConfigGetRequest, ConfigSetRequest, ConfigView, SettingView};
use wh_app::OpContext;
use wh_domain::Operation;

use crate::{
    state::Server,
    table::{Route, change, get},
};

pub(super) fn routes() -> Vec<Route> {
    vec![
        get(
            "/config",
            Operation::ConfigGet,
            "Shows every setting that changes at run time",
            show,
        ),
        get(
            "/config/{key}",
            Operation::ConfigGet,
            "Shows one setting",
            show,
        )
        .named("config_get_one"),
        change(
            Method::PUT,
            "/config/{key}",
            Operation::ConfigSet,
            "Changes a setting, or goes back to its default",
            |server, cx, request: ConfigSetRequest| async move {
                let setting = server.app.config_set(&cx, request.try_into()?).await?;
                Ok(SettingView::from(setting))
            },
        ),
    ]
}

async fn show(
    server: Server,
    cx: OpContext,
    request: ConfigGetRequest,
) -> wh_app::Result<ConfigView> {
    let settings = server.app.config_get(&cx, request.key()?).await?;
    Ok(ConfigView {
        settings: settings.into_iter().map(Into::into).collect(),
    })
}
