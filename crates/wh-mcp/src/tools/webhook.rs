//! Tools about webhooks.

use std::sync::Arc;

use wh_api::{
    WebhookCreateRequest, WebhookCreatedView, WebhookDeleteRequest, WebhookListRequest,
    WebhookListView, WebhookUpdateRequest, WebhookView, cursor_of,
};
use wh_app::{App, OpContext, Result, WebhookStanding};
use wh_domain::Operation;

use super::Tool;
use crate::toolset::Toolset;

pub(super) fn tools() -> Vec<Tool> {
    let set = Toolset::Admin;
    vec![
        Tool::new(
            set,
            Operation::WebhookCreate,
            "Makes a webhook: an https address that is sent a signed request for each event of the kinds given. Returns its secret, once.",
            webhook_create,
        ),
        Tool::new(
            set,
            Operation::WebhookList,
            "Lists webhooks: address, kinds of events, whether it is on, deliveries that wait or were given up, last error.",
            webhook_list,
        ),
        Tool::new(
            set,
            Operation::WebhookUpdate,
            "Turns a webhook on or off; one that failed too often was turned off by the server.",
            webhook_update,
        ),
        Tool::new(
            set,
            Operation::WebhookDelete,
            "Deletes a webhook and what it was to be told.",
            webhook_delete,
        ),
    ]
}

async fn webhook_create(
    app: Arc<App>,
    cx: OpContext,
    request: WebhookCreateRequest,
) -> Result<WebhookCreatedView> {
    let made = app.webhook_create(&cx, request.try_into()?).await?;
    let webhook = view(&made.standing);
    Ok(WebhookCreatedView::new(webhook, made.secret.as_ref()))
}

async fn webhook_list(
    app: Arc<App>,
    cx: OpContext,
    request: WebhookListRequest,
) -> Result<WebhookListView> {
    let page = app.webhook_list(&cx, request.page().by_id()?).await?;
    Ok(WebhookListView {
        webhooks: page.items.iter().map(view).collect(),
        next_cursor: cursor_of(page.next),
        total: page.total,
    })
}

async fn webhook_update(
    app: Arc<App>,
    cx: OpContext,
    request: WebhookUpdateRequest,
) -> Result<WebhookView> {
    let webhook = request.webhook()?;
    let turned = app.webhook_update(&cx, &webhook, request.active).await?;
    Ok(view(&turned))
}

async fn webhook_delete(
    app: Arc<App>,
    cx: OpContext,
    request: WebhookDeleteRequest,
) -> Result<WebhookView> {
    let deleted = app.webhook_delete(&cx, &request.webhook()?).await?;
    Ok(view(&deleted))
}

fn view(standing: &WebhookStanding) -> WebhookView {
    WebhookView::new(&standing.webhook, standing.pending, standing.dead)
}
