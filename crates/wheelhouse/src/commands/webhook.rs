//! `wheelhouse webhook`.

use clap::{Args, Subcommand};
use wh_api::{
    WebhookCreateRequest, WebhookListRequest, WebhookListView, WebhookUpdateRequest, WebhookView,
};

use super::page::PageArgs;
use crate::context::Context;
use crate::exit::CliResult;
use crate::ui::{Table, Ui};

/// Make, see, turn off and delete webhooks: addresses that are told of what happens
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  wheelhouse webhook create https://hooks.example/wheelhouse --event session.state_changed --event 'approval.*'
  wheelhouse webhook list
  wheelhouse webhook on 89abcdef")]
pub(crate) enum WebhookCommand {
    /// List webhooks, newest first, with their last error
    List(PageArgs),
    /// Make a webhook and show its secret, once
    Create(CreateArgs),
    /// Turn a webhook on again
    On {
        /// The webhook's id or its last 8 digits
        #[arg(value_name = "ID")]
        webhook: String,
    },
    /// Turn a webhook off
    Off {
        /// The webhook's id or its last 8 digits
        #[arg(value_name = "ID")]
        webhook: String,
    },
    /// Delete a webhook and what it was to be told
    Delete {
        /// The webhook's id or its last 8 digits
        #[arg(value_name = "ID")]
        webhook: String,
    },
}

#[derive(Debug, Args)]
pub(crate) struct CreateArgs {
    /// Where to send: an https address
    url: String,
    /// A kind of event, such as session.state_changed or approval.*; may be repeated; all unless given
    #[arg(long = "event", value_name = "KIND")]
    events: Vec<String>,
    /// Only what happens on this board
    #[arg(long, value_name = "ID")]
    board: Option<String>,
    /// Only what happens in this session
    #[arg(long, value_name = "ID")]
    session: Option<String>,
}

pub(crate) async fn run(cx: &Context, command: WebhookCommand) -> CliResult {
    let client = cx.client()?;
    let turn = |webhook: String, active: bool| WebhookUpdateRequest {
        webhook,
        active,
        idempotency_key: None,
    };
    let webhook = match command {
        WebhookCommand::List(PageArgs { limit, cursor }) => {
            let request = WebhookListRequest { limit, cursor };
            let list = client.webhook_list(&request).await?;
            return cx.ui.answer(&list, |ui| table(ui, &list));
        }
        WebhookCommand::Create(args) => {
            let request = WebhookCreateRequest {
                url: args.url,
                events: args.events,
                board: args.board,
                session: args.session,
                idempotency_key: None,
            };
            let made = client.webhook_create(&request).await?;
            return cx.ui.answer(&made, |ui| {
                show(ui, &made.webhook)?;
                ui.fields(&[("secret", made.secret.clone())])?;
                ui.note("the secret is not shown again")
            });
        }
        WebhookCommand::On { webhook } => client.webhook_update(&turn(webhook, true)).await?,
        WebhookCommand::Off { webhook } => client.webhook_update(&turn(webhook, false)).await?,
        WebhookCommand::Delete { webhook } => client.webhook_delete(&webhook).await?,
    };
    cx.ui.answer(&webhook, |ui| show(ui, &webhook))
}

fn table(ui: &Ui, list: &WebhookListView) -> CliResult {
    let mut table = Table::new(&["ID", "STATE", "WAITING", "DEAD", "URL", "LAST ERROR"]);
    for webhook in &list.webhooks {
        table.row([
            &webhook.short_id,
            &webhook.state,
            &webhook.pending.to_string(),
            &webhook.dead.to_string(),
            &webhook.url,
            webhook.last_error.as_deref().unwrap_or("-"),
        ]);
    }
    ui.table(
        &table,
        "no webhooks yet; make one with `wheelhouse webhook create URL`",
    )?;
    ui.more(list.webhooks.len(), list.total, list.next_cursor.as_ref())
}

fn show(ui: &Ui, webhook: &WebhookView) -> CliResult {
    ui.fields(&[
        ("id", Some(webhook.id.clone())),
        ("url", Some(webhook.url.clone())),
        ("events", Some(webhook.events.join(", "))),
        ("board", webhook.board_id.clone()),
        ("session", webhook.session_id.clone()),
        ("state", Some(webhook.state.clone())),
        ("waiting", Some(webhook.pending.to_string())),
        ("given up", Some(webhook.dead.to_string())),
        ("last error", webhook.last_error.clone()),
    ])
}
