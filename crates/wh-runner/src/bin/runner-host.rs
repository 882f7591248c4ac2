//! The runner, its helper and the two test agents in one small program, so that this crate's tests need not build the product.
//! It is not installed; `wheelhouse` has the same commands, hidden.

#[expect(
    unreachable_pub,
    reason = "it is public where it is a module of the test kit"
)]
#[path = "../../../wh-testkit/src/scripted.rs"]
mod scripted;

use std::{ffi::OsString, process::ExitCode, sync::Arc};

use wh_runner::{RunDir, echo::NoWorktree};

fn main() -> ExitCode {
    let mut args = std::env::args_os().skip(1);
    let command = args.next().unwrap_or_default();
    let rest: Vec<OsString> = args.collect();
    match command.to_str() {
        Some("contain") => return wh_runner::process::contain(rest),
        Some("scripted") => scripted::main(),
        Some("runner") => return in_runtime(runner(rest)),
        Some("echo") => return in_runtime(wh_runner::echo::serve_stdio(Arc::new(NoWorktree))),
        _ => return ExitCode::from(2),
    }
    ExitCode::SUCCESS
}

async fn runner(args: Vec<OsString>) -> Result<(), wh_runner::RunError> {
    let dir = args.into_iter().nth(1).unwrap_or_default();
    wh_runner::run(RunDir::new(dir)).await
}

/// One thread: the helper dies with the thread that started it.
#[expect(clippy::print_stderr, reason = "stderr is the runner's log")]
fn in_runtime<E: std::fmt::Display>(work: impl Future<Output = Result<(), E>>) -> ExitCode {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    match runtime.map(|runtime| runtime.block_on(work)) {
        Ok(Ok(())) => ExitCode::SUCCESS,
        Ok(Err(error)) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
