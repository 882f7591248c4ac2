//! `wheelhouse mcp`: MCP on stdin and stdout, and telling MCP clients about it.

mod install;

use clap::{Args, Subcommand};
use serde_json::{Map, Value};
use tokio::signal::unix::{SignalKind, signal};

use super::serve;
use crate::bridge::{self, Connector, Tools};
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
  wheelhouse mcp --dialect agor
  wheelhouse mcp --dialect 'iteratr?list=release'
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

    /// Serve the tools of a dialect in place of our own: agor, clawed-abode or iteratr, with the parameters of its address
    #[arg(long, value_name = "NAME[?PARAMETERS]", value_parser = dialect, conflicts_with = "toolsets")]
    dialect: Option<Tools>,
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

/// Reads the name of a dialect, and the parameters of its address behind it.
fn dialect(text: &str) -> Result<Tools, String> {
    let (name, query) = text.split_once('?').unwrap_or((text, ""));
    let known = wh_domain::Dialect::ALL.map(wh_domain::Dialect::as_str);
    if !known.contains(&name) {
        return Err(format!("must be among {}", known.join(", ")));
    }
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    let parameters = pairs.map(|pair| {
        let pair = pair.split_once('=');
        let (name, value) = pair.ok_or("a parameter is written NAME=VALUE")?;
        Ok((name.to_owned(), Value::from(value)))
    });
    Ok(Tools {
        dialect: Some(name.to_owned()),
        parameters: parameters.collect::<Result<Map<_, _>, &str>>()?.into(),
    })
}

/// Names the session in whose environment this process was started, for a dialect that has a current session.
fn name_session(tools: &mut Tools) {
    const VARIABLE: &str = "AGOR_SESSION_ID";
    let is_agor = tools.dialect.as_deref() == Some(wh_domain::Dialect::Agor.as_str());
    let session = std::env::var(VARIABLE)
        .ok()
        .filter(|it| is_agor && !it.is_empty());
    if let (Some(session), Some(parameters)) = (session, tools.parameters.as_object_mut()) {
        let given = parameters.entry("sessionId");
        given.or_insert_with(|| session.into());
    }
}

pub(crate) async fn run(cx: &Context, args: McpArgs) -> CliResult {
    if let Some(McpCommand::Install(args)) = args.command {
        return install::run(cx, args).await;
    }
    let config = cx.config()?;
    // A client shows what its servers say on stderr to its user: only what matters.
    logs::start(&config, "warn");
    let embed = cx.url().is_none().then(|| serve::options(&config));
    let mut tools = args.dialect.unwrap_or_else(|| Tools {
        dialect: None,
        parameters: serde_json::json!({ "toolsets": args.toolsets }),
    });
    name_session(&mut tools);
    let connector = Connector::new(cx.client()?, tools, embed);
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
