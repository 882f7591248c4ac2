//! Commands that people do not type: the per-session process, its helper, and the built-in agent.
//!
//! They run beside every agent, so they are found before the command line is parsed: the tables of the parser would be most of
//! what such a process holds in memory, and most of the time it takes to start.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

use tokio_util::task::TaskTracker;

use super::echo_commit::committer;
use crate::exit::{CliError, CliResult};
use crate::ui::Ui;

/// One of these commands.
enum Hidden {
    /// `runner --run-dir DIR`: runs the agent of one session; started by the server.
    Runner(PathBuf),
    /// `contain …`: stands between a runner and its agent, so that nothing the agent starts can outlive it.
    Contain(Vec<OsString>),
    /// `agent echo`: speaks ACP on stdio; each line of a prompt is a command.
    Echo,
}

impl Hidden {
    fn of(arguments: &[OsString]) -> Option<Self> {
        let (command, rest) = arguments.split_first()?;
        match (command.to_str()?, rest) {
            (wh_runner::process::CONTAIN_COMMAND, rest) => Some(Self::Contain(rest.to_vec())),
            ("runner", [option, dir]) if option == "--run-dir" => Some(Self::Runner(dir.into())),
            ("agent", [name]) if name == "echo" => Some(Self::Echo),
            _ => None,
        }
    }
}

/// Runs the command, if it is one of these. Call it before anything has made a thread.
pub(crate) fn run_hidden() -> Option<ExitCode> {
    let arguments: Vec<_> = std::env::args_os().skip(1).collect();
    let ended = match Hidden::of(&arguments)? {
        Hidden::Contain(arguments) => return Some(wh_runner::process::contain(arguments)),
        Hidden::Runner(dir) => {
            wh_runner::close_inherited();
            crate::block_on(false, as_task(run(dir)))
        }
        Hidden::Echo => crate::block_on(false, as_task(echo())),
    };
    Some(match ended {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            Ui::new(false, false, true).error(&error);
            error.exit.into()
        }
    })
}

/// Runs as a task of the runtime. Waking what the runtime was entered with costs two calls of the kernel each time, and these two
/// are woken with every word of an agent.
async fn as_task(command: impl Future<Output = CliResult> + Send + 'static) -> CliResult {
    match TaskTracker::new().spawn(command).await {
        Ok(ended) => ended,
        Err(panicked) => std::panic::resume_unwind(panicked.into_panic()),
    }
}

/// Runs a session's agent to its end.
async fn run(dir: PathBuf) -> CliResult {
    let ended = wh_runner::run(wh_runner::RunDir::new(dir)).await;
    ended.map_err(|error| CliError::failed(format!("the runner ended: {error}")))
}

async fn echo() -> CliResult {
    let ended = wh_runner::echo::serve_stdio(committer()).await;
    ended.map_err(|error| CliError::failed(format!("echo cannot read its stdin: {error}")))
}
