//! `wheelhouse serve`.

use std::net::SocketAddr;
use std::path::Path;
use std::time::Duration;

use clap::Args;
use wh_client::Client;

use crate::config::{Config, Flags, Source, parse_listen};
use crate::context::Context;
use crate::exit::{CliError, CliResult};
use crate::logs;
use crate::serve::{self, ServeOptions, refusal, server_file};
use crate::ui::shortened;

/// What is logged when nobody said what.
///
/// rmcp serves each stateless request as a connection of its own and says at `info` that it begins, that it ends and
/// why: three lines for every call, none of which names it.
const LOG_UNLESS_SET: &str = "info,rmcp=warn";

/// How much of a title is shown of a session that was ended.
const TITLE_CHARS_MAX: usize = 60;

/// Run the server until Ctrl-C or SIGTERM
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  wheelhouse serve
  wheelhouse serve --listen 127.0.0.1:0 --data-dir /tmp/try
  wheelhouse serve --listen 0.0.0.0:4180 --allow-remote --host wheelhouse.example.org
  wheelhouse serve --kill-all

A server that stops leaves the agents at work, and the next one takes them up again. --kill-all ends them too: it stops the
server of this data directory if one runs, then every session's process with everything it started, tells what that was and
exits. What the sessions said and did stays, and `wheelhouse resume` goes on with them.

Every value can also stand in the configuration file or in a WHEELHOUSE_* variable; `wheelhouse config show` tells which
is in force and why. When the server is ready it writes server.json into the data directory.")]
pub(crate) struct ServeArgs {
    /// Where to listen; port 0 picks a free one [env: WHEELHOUSE_LISTEN] [default: 127.0.0.1:4180]
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = parse_listen)]
    listen: Option<SocketAddr>,

    /// Allow an address that other machines can reach [env: WHEELHOUSE_ALLOW_REMOTE]
    #[arg(long)]
    allow_remote: bool,

    /// Another name the server is reached by; may be repeated [env: WHEELHOUSE_HOSTS]
    #[arg(long = "host", value_name = "NAME")]
    hosts: Vec<String>,

    /// Another web origin that may call the server; may be repeated [env: WHEELHOUSE_ORIGINS]
    #[arg(long = "origin", value_name = "URL")]
    origins: Vec<String>,

    /// Open the dashboard in a browser, signed in [env: WHEELHOUSE_OPEN]
    #[arg(long)]
    open: bool,

    /// Do not serve: end the server and every agent of the data directory, with all they started
    #[arg(long, conflicts_with_all = ["listen", "allow_remote", "hosts", "origins", "open"])]
    kill_all: bool,
}

pub(crate) async fn run(cx: &Context, args: ServeArgs) -> CliResult {
    if args.kill_all {
        return kill_all(cx).await;
    }
    let config = cx.config_with(Flags {
        listen: args.listen,
        allow_remote: args.allow_remote,
        hosts: args.hosts,
        origins: args.origins,
        open: args.open,
        ..Flags::default()
    })?;
    config.check_listen()?;
    logs::start(&config, LOG_UNLESS_SET);
    let mut serving = std::pin::pin!(serve::run(options(&config)));
    let ended = if config.open.value {
        tokio::select! {
            ended = &mut serving => ended,
            () = open_dashboard(&config.data_dir.value) => serving.await,
        }
    } else {
        serving.await
    };
    ended.map_err(|error| refusal(error, &config.data_dir.value, &naming(&config)))
}

/// Returns what a command needs besides to reach the server of this configuration.
fn naming(config: &Config) -> String {
    match &config.data_dir.source {
        Source::Flag(flag) => format!(" {flag} {}", config.data_dir.value.display()),
        _ => String::new(),
    }
}

/// Ends everything and tells what that was.
async fn kill_all(cx: &Context) -> CliResult {
    let config = cx.config()?;
    let ended = serve::kill_all(&options(&config)).await?;
    cx.ui.answer(&ended, |ui| {
        if let Some(pid) = ended.server {
            ui.line(&format!("ended the server (process {pid})"))?;
        }
        for session in &ended.sessions {
            let title = shortened(&session.title, TITLE_CHARS_MAX);
            ui.line(&format!(
                "ended {} of {}, {}: {title}",
                session.id, session.agent, session.state
            ))?;
        }
        match ended.killed {
            0 if ended.server.is_none() && ended.sessions.is_empty() => {
                ui.note("nothing was running")
            }
            0 => Ok(()),
            killed => ui.line(&format!("killed {killed} that did not stop")),
        }
    })?;
    match ended.not_recorded {
        Some(error) => Err(CliError::from(error).hint(
            "the processes are gone; the sessions are interrupted once the server runs again",
        )),
        None => Ok(()),
    }
}

/// Returns what the server needs of the configuration.
pub(crate) fn options(config: &Config) -> ServeOptions {
    ServeOptions {
        listen: config.listen.value,
        data_dir: config.data_dir.value.clone(),
        database: Some(config.database.value.clone()),
        allow_remote: config.allow_remote.value,
        local_admin: config.local_admin.value,
        tool_timeout: config.tool_timeout.value,
        agents: config.agents.clone(),
        model: config.model.value.clone(),
        local_roots: config.local_roots.value.clone(),
        repos: config.repos.clone(),
        webhooks: config.webhooks,
        hooks: config.hooks.clone(),
        containment: config.containment.clone(),
        config_file: Some(config.file.value.clone()),
        start_values: config.values(),
        hosts: config.hosts.value.clone(),
        origins: config.origins.value.clone(),
    }
}

/// Waits until this process answers, then opens a browser. Nothing depends on it, so a failure is only logged.
async fn open_dashboard(data_dir: &Path) {
    let ours = std::process::id();
    while !matches!(server_file(data_dir), Ok(Some(file)) if file.pid == ours) {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    let link = match Client::local(data_dir) {
        Ok(client) => client.login_link_create(&Default::default()).await,
        Err(error) => Err(error),
    };
    match link {
        Ok(link) => open_browser(&link.url),
        Err(error) => tracing::warn!(%error, "cannot make a link for the browser"),
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "the desktop's opener is neither git nor an agent; it gets one address that the server made"
)]
fn open_browser(url: &str) {
    let opener = if cfg!(target_os = "macos") {
        "open"
    } else {
        "xdg-open"
    };
    let quiet = std::process::Stdio::null;
    let started = std::process::Command::new(opener)
        .arg(url)
        .stdin(quiet())
        .stdout(quiet())
        .stderr(quiet())
        .spawn();
    if let Err(error) = started {
        tracing::warn!(%error, opener, "cannot open a browser");
    }
}
