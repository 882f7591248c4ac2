//! Commands of the operator that run beside loops: once, for a time, without a shell.

use std::{collections::BTreeMap, io, path::PathBuf, process::Stdio, time::Duration};

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::{
    io::{AsyncRead, AsyncReadExt},
    process::{Child, Command},
    time::timeout,
};

/// The most bytes of a command's output that are kept, of each of its two streams; the rest is read and dropped.
pub const OUTPUT_BYTES_MAX: usize = 8 << 10;

/// How long the pipes of a command that has ended, or was ended, are read: what it has started may hold them.
const DRAIN_WITHIN: Duration = Duration::from_secs(1);

/// A command to run.
#[derive(Clone, Debug)]
pub struct HookCommand {
    /// The program and its arguments.
    pub command: Vec<String>,
    /// All variables that it has.
    pub environment: BTreeMap<String, String>,
    pub directory: PathBuf,
    pub time_limit: Duration,
}

/// What came of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HookOutcome {
    /// Why it has failed, if it has.
    pub failure: Option<String>,
    /// What it said on both streams, shortened.
    pub output: String,
}

/// Runs a command to its end, or ends it and what it has started when its time is over.
///
/// # Cancel safety
///
/// Dropping the future ends the command.
pub async fn run_hook(hook: &HookCommand) -> HookOutcome {
    match start(hook) {
        Ok(child) => wait(child, hook.time_limit).await,
        Err(error) => {
            let program = hook.command.first().map_or("", String::as_str);
            HookOutcome {
                failure: Some(format!("{program} cannot be run: {error}")),
                output: String::new(),
            }
        }
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "commands of the operator are run here and nowhere else"
)]
fn start(hook: &HookCommand) -> io::Result<Child> {
    let mut words = hook.command.iter();
    let program = words
        .next()
        .ok_or_else(|| io::Error::other("it names nothing"))?;
    Command::new(program)
        .args(words)
        .env_clear()
        .envs(&hook.environment)
        .current_dir(&hook.directory)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true)
        .spawn()
}

/// Ends the group that a command leads, also when nobody waits for it any more.
struct Group(Option<Pid>);

impl Drop for Group {
    fn drop(&mut self) {
        if let Some(leader) = self.0 {
            // Most often there is nobody left.
            kill_process_group(leader, Signal::KILL).ok();
        }
    }
}

async fn wait(mut child: Child, time_limit: Duration) -> HookOutcome {
    let leader = child.id().and_then(|id| i32::try_from(id).ok());
    let group = Group(leader.and_then(Pid::from_raw));
    let (mut said, mut complained) = (Vec::new(), Vec::new());
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let failure = {
        let reading = async {
            tokio::join!(keep(stdout, &mut said), keep(stderr, &mut complained));
        };
        tokio::pin!(reading);
        let ended = async {
            tokio::select! {
                status = child.wait() => (status, false),
                // Its pipes may close before it ends.
                () = &mut reading => (child.wait().await, true),
            }
        };
        let (failure, is_read) = match timeout(time_limit, ended).await {
            Ok((Ok(status), is_read)) if status.success() => (None, is_read),
            Ok((Ok(status), is_read)) => (Some(format!("it ended with {status}")), is_read),
            Ok((Err(error), is_read)) => {
                (Some(format!("it cannot be waited for: {error}")), is_read)
            }
            Err(_) => {
                let seconds = time_limit.as_secs_f64();
                (
                    Some(format!("it was ended: it took longer than {seconds} s")),
                    false,
                )
            }
        };
        // Whatever it has left behind in its group ends with it, and so do the pipes.
        drop(group);
        if !is_read {
            timeout(DRAIN_WITHIN, reading).await.ok();
        }
        failure
    };
    HookOutcome {
        failure,
        output: words(&said, &complained),
    }
}

/// Keeps the beginning of what comes and drops the rest, so that nobody waits for us.
async fn keep(pipe: Option<impl AsyncRead + Unpin>, kept: &mut Vec<u8>) {
    let Some(mut pipe) = pipe else { return };
    let mut piece = [0; 4096];
    while let Ok(read @ 1..) = pipe.read(&mut piece).await {
        let room = OUTPUT_BYTES_MAX.saturating_sub(kept.len()).min(read);
        kept.extend_from_slice(&piece[..room]);
    }
}

fn words(said: &[u8], complained: &[u8]) -> String {
    let text = |bytes: &[u8]| {
        let mut text = String::from_utf8_lossy(bytes).trim_end().to_owned();
        if bytes.len() >= OUTPUT_BYTES_MAX {
            text.push_str("\n…");
        }
        text
    };
    let both = [text(said), text(complained)];
    let both: Vec<_> = both.into_iter().filter(|it| !it.is_empty()).collect();
    both.join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn run(script: &str, time_limit: Duration) -> HookOutcome {
        let hook = HookCommand {
            command: ["/bin/sh", "-c", script].map(str::to_owned).to_vec(),
            environment: BTreeMap::from([("GREETING".to_owned(), "hello".to_owned())]),
            directory: std::env::temp_dir(),
            time_limit,
        };
        run_hook(&hook).await
    }

    const LONG: Duration = Duration::from_secs(30);

    #[tokio::test]
    async fn what_it_says_is_kept_and_its_environment_is_its_own() {
        let outcome = run("echo $GREETING $HOME.; echo sorry >&2", LONG).await;
        assert_eq!(outcome.failure, None);
        assert_eq!(outcome.output, "hello .\nsorry");
        let outcome = run("exit 3", LONG).await;
        assert!(outcome.failure.unwrap().contains('3'));
    }

    #[tokio::test]
    async fn it_ends_when_its_time_is_over_with_all_it_started() {
        let begun = std::time::Instant::now();
        let outcome = run("sleep 100 & sleep 100", Duration::from_millis(200)).await;
        assert!(outcome.failure.unwrap().contains("longer than 0.2 s"));
        assert!(begun.elapsed() < Duration::from_secs(10));
    }

    #[tokio::test]
    async fn a_flood_is_cut_and_does_not_hold_it_up() {
        let outcome = run("head -c 1000000 /dev/zero | tr '\\0' x", LONG).await;
        assert_eq!(outcome.failure, None);
        assert!(outcome.output.len() < OUTPUT_BYTES_MAX + 10);
    }

    #[tokio::test]
    async fn a_program_that_is_not_there_has_failed() {
        let hook = HookCommand {
            command: vec!["/nowhere/to/be/found".to_owned()],
            environment: BTreeMap::new(),
            directory: std::env::temp_dir(),
            time_limit: LONG,
        };
        assert!(run_hook(&hook).await.failure.is_some());
    }
}
