//! The `wheelhouse` binary: `serve` puts store, application and surfaces together; every other command is a client of
//! a running server, over its local socket or over the network with a key.
//!
//! A command is one file under `commands/`: its arguments with their help, then a function that parses, calls and
//! shows. Rules live in the server. Configuration and the environment are read here and nowhere else.

mod bridge;
mod cli;
mod commands;
mod config;
mod context;
mod exit;
mod follow;
mod install;
mod logs;
mod serve;
mod ui;

use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;

use crate::cli::Cli;
use crate::context::Context;
use crate::exit::{CliError, CliResult, Exit};
use crate::ui::Ui;

/// Costs about a tenth less processor time per call than the system's allocator.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    if let Some(code) = commands::runner::run_hidden() {
        return code;
    }
    let Cli { globals, command } = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) => return refuse(&error),
    };
    let context = Context::new(globals);
    let serves = command.is_server();
    match block_on(serves, commands::run(&context, command)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            context.ui.error(&error);
            error.exit.into()
        }
    }
}

/// Tells what is wrong with the command line; with `--json`, as JSON like every other error.
fn refuse(error: &clap::Error) -> ExitCode {
    let is_help = matches!(
        error.kind(),
        ErrorKind::DisplayHelp
            | ErrorKind::DisplayVersion
            | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    );
    if is_help || !std::env::args_os().any(|argument| argument == "--json") {
        // Nobody is left to tell when even this cannot be written.
        error.print().ok();
        return ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(Exit::Usage as u8));
    }
    let text = error.to_string();
    let text = text.replace("For more information, try '--help'.", "");
    let lines: Vec<_> = text.lines().map(str::trim).collect();
    let usage = lines.iter().position(|line| line.starts_with("Usage:"));
    let message = lines[..usage.unwrap_or(lines.len())].join(" ");
    let message = message.strip_prefix("error: ").unwrap_or(&message).trim();
    let hint = usage.map_or("see --help", |at| lines[at]);
    let error = CliError::usage(message).hint(hint);
    Ui::new(true, false, true).error(&error);
    error.exit.into()
}

/// After how many tasks a thread looks for new data on sockets. With tokio's 61, a request waits behind that many tasks of busy callers.
const EVENT_INTERVAL: u32 = 8;

/// Runs a command. A client waits for one thing at a time; only what serves others needs threads.
fn block_on(serves: bool, command: impl Future<Output = CliResult>) -> CliResult {
    let mut builder = match serves {
        true => tokio::runtime::Builder::new_multi_thread(),
        false => tokio::runtime::Builder::new_current_thread(),
    };
    let runtime = builder
        .enable_all()
        .event_interval(EVENT_INTERVAL)
        .build()
        .map_err(|error| CliError::failed(format!("cannot start the runtime: {error}")))?;
    let result = runtime.block_on(command);
    // A read of the terminal cannot be cancelled; it must not keep a finished command.
    runtime.shutdown_background();
    result
}
