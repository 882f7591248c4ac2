//! Webhooks.

use http::Method;
use wh_api::{
    WebhookCreateRequest, WebhookCreatedView, WebhookDeleteRequest, WebhookListRequest,
    WebhookListView, WebhookUpdateRequest, WebhookView, cursor_of,
};
use wh_app::WebhookStanding;
use wh_domain::Operation;

use crate::table::{Route, change, create, get};

pub(super) fn routes() -> Vec<Route> {
    vec![
        get(
            "/webhooks",
            Operation::WebhookList,
            "Lists webhooks, newest first",
            |server, cx, request: WebhookListRequest| async move {
                let page = request.page().by_id()?;
                let page = server.app.webhook_list(&cx, page).await?;
                Ok(WebhookListView {
                    webhooks: page.items.iter().map(view).collect(),
                    next_cursor: cursor_of(page.next),
                    total: page.total,
                })
            },
        ),
        create(
            "/webhooks",
            Operation::WebhookCreate,
            "Makes a webhook and shows its secret, once",
            |made: &WebhookCreatedView| Some(format!("/webhooks/{}", made.webhook.id)),
            |server, cx, request: WebhookCreateRequest| async move {
                let made = server.app.webhook_create(&cx, request.try_into()?).await?;
                let webhook = view(&made.standing);
                Ok(WebhookCreatedView::new(webhook, made.secret.as_ref()))
            },
        ),
        change(
            Method::PATCH,
            "/webhooks/{webhook}",
            Operation::WebhookUpdate,
            "Turns a webhook on or off",
            |server, cx, request: WebhookUpdateRequest| async move {
                let webhook = request.webhook()?;
                let turned = server.app.webhook_update(&cx, &webhook, request.active);
                Ok(view(&turned.await?))
            },
        ),
        change(
            Method::DELETE,
            "/webhooks/{webhook}",
            Operation::WebhookDelete,
            "Deletes a webhook and what it was to be told",
            |server, cx, request: WebhookDeleteRequest| async move {
                let deleted = server.app.webhook_delete(&cx, &request.webhook()?).await?;
                Ok(view(&deleted))
            },
        ),
    ]
}

fn view(standing: &WebhookStanding) -> WebhookView {
    WebhookView::new(&standing.webhook, standing.pending, standing.dead)
}
