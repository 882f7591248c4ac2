//! `wheelhouse login`.

use clap::Args;

use crate::context::Context;
use crate::exit::CliResult;
use crate::ui::moment;

/// Print a fresh link that signs a browser in, once
#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  xdg-open \"$(wheelhouse login --quiet)\"")]
pub(crate) struct LoginArgs {}

pub(crate) async fn run(cx: &Context, LoginArgs {}: LoginArgs) -> CliResult {
    let link = cx.client()?.login_link_create().await?;
    cx.ui.answer(&link, |ui| {
        ui.line(&link.url)?;
        let until = moment(&link.expires_at);
        ui.note(&format!("it works once, until {until} UTC"))
    })
}
