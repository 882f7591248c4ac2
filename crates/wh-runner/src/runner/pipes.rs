//! What the actor waits for: the agent's pipes, its end, and the clock.

use std::io;

use tokio::{
    io::{AsyncWriteExt, BufReader},
    process::{ChildStdin, ChildStdout},
    sync::mpsc,
    task::JoinHandle,
};

use crate::{
    acp::lines::{Line, Lines},
    link::{Outcome, Refusal, server::Reply},
    process::Tree,
};

/// What waits to be written to the agent, in order.
pub(super) enum ToAgent {
    Line(Vec<u8>),
    /// A reply to the server, sent once all lines before it are written.
    Confirm(Reply, Outcome),
}

pub(super) async fn write_lines(mut stdin: ChildStdin, mut queue: mpsc::Receiver<ToAgent>) {
    // When the agent closes its end, the end of its process is what counts; the server learns that nothing was written.
    let mut is_open = true;
    while let Some(next) = queue.recv().await {
        match next {
            ToAgent::Line(line) if is_open => is_open = stdin.write_all(&line).await.is_ok(),
            ToAgent::Line(_) => {}
            ToAgent::Confirm(reply, outcome) if is_open => reply.send(outcome),
            ToAgent::Confirm(reply, _) => reply.send(not_written()),
        }
    }
}

/// Returns the reply to an answer that the agent cannot be sent, now or any more.
pub(super) fn not_written() -> Outcome {
    Outcome::Refused {
        code: Refusal::Stuck,
        message: "the agent does not read its input".to_owned(),
    }
}

pub(super) async fn wait_for(tree: &mut Option<Tree>) -> io::Result<std::process::ExitStatus> {
    match tree {
        Some(tree) => tree.child().wait().await,
        None => std::future::pending().await,
    }
}

/// Waits for the end of a task, if there is one.
pub(super) async fn ended(task: &mut Option<JoinHandle<()>>) {
    match task {
        Some(task) => task.await.unwrap_or_default(),
        None => std::future::pending().await,
    }
}

pub(super) async fn read_line(
    stdout: &mut Option<Lines<BufReader<ChildStdout>>>,
) -> io::Result<Option<Line>> {
    match stdout {
        Some(lines) => lines.next().await,
        None => std::future::pending().await,
    }
}

/// The runner's clock: what happened is told with the time it happened, however late the server hears of it.
#[expect(
    clippy::disallowed_methods,
    reason = "a runner is its own source of time"
)]
pub(super) fn now_micros() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
    })
}
