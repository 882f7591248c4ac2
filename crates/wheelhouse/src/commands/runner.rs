//! Commands that people do not type: the per-session process, its helper, and the built-in agent. Hidden from help.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Subcommand};

use crate::exit::{CliError, CliResult};

/// Runs the agent of one session; started by the server.
#[derive(Debug, Args)]
pub(crate) struct RunnerArgs {
    /// The run's directory, with its spec.json
    #[arg(long, value_name = "DIR")]
    run_dir: PathBuf,
}

/// Stands between a runner and its agent, so that nothing the agent starts can outlive it.
#[derive(Debug, Args)]
pub(crate) struct ContainArgs {
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<OsString>,
}

/// Agents that are part of this program.
#[derive(Debug, Subcommand)]
pub(crate) enum AgentCommand {
    /// Speak ACP on stdio: each line of a prompt is a command
    Echo,
}

/// Runs a session's agent to its end.
pub(crate) async fn run(args: RunnerArgs) -> CliResult {
    let ended = wh_runner::run(wh_runner::RunDir::new(args.run_dir)).await;
    ended.map_err(|error| CliError::failed(format!("the runner ended: {error}")))
}

/// Runs the helper. Call it before anything has made a thread.
pub(crate) fn contain(args: ContainArgs) -> ExitCode {
    wh_runner::process::contain(args.args)
}

/// Runs a built-in agent.
pub(crate) async fn agent(command: AgentCommand) -> CliResult {
    let AgentCommand::Echo = command;
    let ended = wh_runner::echo::serve_stdio().await;
    ended.map_err(|error| CliError::failed(format!("echo cannot read its stdin: {error}")))
}
