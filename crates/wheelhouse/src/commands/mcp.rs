//! `wheelhouse mcp`: MCP on stdin and stdout, and telling MCP clients about it.

mod install;

use clap::{Args, Subcommand};
use tokio::signal::unix::{SignalKind, signal};

use super::serve;
use crate::bridge::{self, Connector};
use crate::context::Context;
use crate::exit::{CliError, CliResult};
use crate::logs;

/// Speak MCP on standard input and output, for clients that start their servers themselves
#[derive(Debug, Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "\
Examples:
  wheelhouse mcp install claude-code
  wheelhouse mcp --toolsets session,board
  WHEELHOUSE_KEY=wh_full_… wheelhouse --url https://wheelhouse.example.org mcp

Lines go to the running server and back. When none runs, one is started in this process. When the server restarts, the
bridge connects again and the client notices nothing but an error for calls that were under way.

`wheelhouse mcp install CLIENT` writes the configuration of claude-code, codex, gemini, opencode or vscode."
)]
pub(crate) struct McpArgs {
    #[command(subcommand)]
    command: Option<McpCommand>,

    /// Which groups of tools are listed, separated by commas: all, session, board, repo, admin
    #[arg(long, value_name = "SETS", value_parser = toolsets)]
    toolsets: Option<String>,
}

#[derive(Debug, Subcommand)]
enum McpCommand {
    Install(install::InstallArgs),
}

impl McpArgs {
    /// Tells whether lines are bridged, which may take a server of our own.
    pub(crate) fn is_bridge(&self) -> bool {
        self.command.is_none()
    }
}

/// Checks names of toolsets here, because an MCP client would hide the server's answer.
pub(crate) fn toolsets(text: &str) -> Result<String, String> {
    wh_mcp::Toolsets::parse(text).map(|_| text.to_owned())
}

pub(crate) async fn run(cx: &Context, args: McpArgs) -> CliResult {
    if let Some(McpCommand::Install(args)) = args.command {
        return install::run(cx, args).await;
    }
    let config = cx.config()?;
    // A client shows what its servers say on stderr to its user: only what matters.
    logs::start(&config, "warn");
    let embed = cx.url().is_none().then(|| serve::options(&config));
    let connector = Connector::new(cx.client()?, args.toolsets, embed);
    let stop = stop_signal()?;
    bridge::run(connector, tokio::io::stdin(), tokio::io::stdout(), stop).await
}

/// Resolves when somebody tells the process to end.
pub(super) fn stop_signal() -> CliResult<impl Future<Output = ()>> {
    let listen = |kind| {
        signal(kind).map_err(|error| CliError::failed(format!("cannot wait for signals: {error}")))
    };
    let mut terminate = listen(SignalKind::terminate())?;
    let mut interrupt = listen(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
}
