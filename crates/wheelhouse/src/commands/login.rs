//! `wheelhouse login`.

use clap::Args;
use wh_api::LoginLinkCreateRequest;

use crate::context::Context;
use crate::exit::CliResult;
use crate::ui::moment_ago;

/// Print a fresh link that signs a browser in, once
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  xdg-open \"$(wheelhouse login --quiet)\"
  wheelhouse login --user mia")]
pub(crate) struct LoginArgs {
    /// Sign this user in, by id or name, instead of you
    #[arg(long, value_name = "USER")]
    user: Option<String>,
}

pub(crate) async fn run(cx: &Context, LoginArgs { user }: LoginArgs) -> CliResult {
    let request = LoginLinkCreateRequest { user };
    let link = cx.client()?.login_link_create(&request).await?;
    cx.ui.answer(&link, |ui| {
        ui.line(&link.url)?;
        let until = moment_ago(&link.expires_at);
        ui.note(&format!("it works once, until {until}"))
    })
}
