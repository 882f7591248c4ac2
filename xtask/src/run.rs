//! Running other programs: the one place in xtask that starts a process.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::ui;

/// How often a process that must end within a limit is looked at.
const POLL_INTERVAL: Duration = Duration::from_millis(50);

/// How long the output of a process that has ended may stay open.
const STREAM_END_WITHIN: Duration = Duration::from_secs(2);

/// Starts describing a process; nothing else in xtask names `Command::new`.
#[expect(
    clippy::disallowed_methods,
    reason = "xtask is not the product: it runs cargo, npm and the like"
)]
pub(crate) fn command(program: impl AsRef<OsStr>) -> Command {
    Command::new(program)
}

/// Describes a run of the cargo that runs us.
pub(crate) fn cargo() -> Command {
    command(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
}

/// What a finished process printed, and how it ended.
#[derive(Debug)]
pub(crate) struct Captured {
    pub(crate) status: ExitStatus,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Captured {
    pub(crate) fn success(&self) -> bool {
        self.status.success()
    }

    /// Both streams, standard output first.
    pub(crate) fn text(&self) -> String {
        format!("{}{}", self.stdout, self.stderr)
    }
}

/// Runs to the end with our own streams, after printing the command.
pub(crate) fn visibly(command: &mut Command) -> Result<ExitStatus> {
    ui::progress(&shown(command));
    command.status().with_context(|| cannot_start(command))
}

/// Like [`visibly`], and an unsuccessful end is an error.
pub(crate) fn visibly_ok(command: &mut Command) -> Result<()> {
    let status = visibly(command)?;
    if !status.success() {
        bail!("`{}` ended with {status}", shown(command));
    }
    Ok(())
}

/// Runs to the end without showing anything.
pub(crate) fn quietly(command: &mut Command) -> Result<Captured> {
    let output = command.output().with_context(|| cannot_start(command))?;
    Ok(Captured {
        status: output.status,
        stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
        stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
    })
}

/// Which lines of a process are shown while it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Echo {
    Show,
    Hide,
}

/// Runs to the end, keeping what it prints. After `limit` the process is killed, which is an error.
pub(crate) fn within(limit: Duration, echo: Echo, command: &mut Command) -> Result<Captured> {
    if echo == Echo::Show {
        ui::progress(&shown(command));
    }
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .with_context(|| cannot_start(command))?;
    let stdout = Reader::start(child.stdout.take().context("stdout was asked for")?, echo);
    let stderr = Reader::start(child.stderr.take().context("stderr was asked for")?, echo);
    let status = wait(&mut child, limit)?;
    let Some(status) = status else {
        child
            .kill()
            .context("killing a process that took too long")?;
        child.wait().context("waiting for a killed process")?;
        bail!(
            "`{}` did not end within {} s and was killed",
            shown(command),
            limit.as_secs()
        );
    };
    Ok(Captured {
        status,
        stdout: stdout.finish()?,
        stderr: stderr.finish()?,
    })
}

/// Waits up to `limit`; `None` when the process still runs.
pub(crate) fn wait(child: &mut Child, limit: Duration) -> Result<Option<ExitStatus>> {
    let deadline = Instant::now() + limit;
    loop {
        if let Some(status) = child.try_wait().context("waiting for a process")? {
            return Ok(Some(status));
        }
        if Instant::now() >= deadline {
            return Ok(None);
        }
        thread::sleep(POLL_INTERVAL);
    }
}

/// Keeps, and shows if asked to, what comes from a stream.
struct Reader {
    text: Arc<Mutex<String>>,
    thread: JoinHandle<()>,
}

impl Reader {
    fn start(stream: impl Read + Send + 'static, echo: Echo) -> Self {
        let text = Arc::new(Mutex::new(String::new()));
        let kept = Arc::clone(&text);
        let thread = thread::spawn(move || {
            let mut stream = BufReader::new(stream);
            let mut bytes = Vec::new();
            // A stream that cannot be read any further has ended, as far as we are concerned.
            while stream
                .read_until(b'\n', &mut bytes)
                .is_ok_and(|count| count > 0)
            {
                let line = String::from_utf8_lossy(&bytes);
                if echo == Echo::Show {
                    ui::passed_on(line.trim_end_matches('\n'));
                }
                lock(&kept).push_str(&line);
                bytes.clear();
            }
        });
        Self { text, thread }
    }

    /// Returns everything read. A process that was left behind can hold the stream open for ever; it is not waited for.
    fn finish(self) -> Result<String> {
        let deadline = Instant::now() + STREAM_END_WITHIN;
        while !self.thread.is_finished() && Instant::now() < deadline {
            thread::sleep(POLL_INTERVAL);
        }
        if self.thread.is_finished() && self.thread.join().is_err() {
            bail!("reading a program's output panicked");
        }
        Ok(lock(&self.text).clone())
    }
}

/// A text that a panicking reader left behind is still the text it read.
fn lock(text: &Mutex<String>) -> MutexGuard<'_, String> {
    text.lock().unwrap_or_else(PoisonError::into_inner)
}

fn shown(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words
        .map(|word| word.to_string_lossy())
        .collect::<Vec<_>>()
        .join(" ")
}

fn cannot_start(command: &Command) -> String {
    format!("cannot start `{}`", command.get_program().to_string_lossy())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = command("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn both_streams_and_the_exit_are_kept() {
        let limit = Duration::from_secs(20);
        let ended = within(
            limit,
            Echo::Hide,
            &mut shell("echo out; echo err >&2; exit 3"),
        )
        .unwrap();
        assert_eq!(ended.status.code(), Some(3));
        assert_eq!(ended.text(), "out\nerr\n");
    }

    #[test]
    fn a_process_over_its_limit_is_killed() {
        let started = Instant::now();
        let error = within(
            Duration::from_millis(200),
            Echo::Hide,
            &mut shell("exec sleep 60"),
        )
        .unwrap_err();
        assert!(error.to_string().contains("did not end within"), "{error}");
        assert!(started.elapsed() < Duration::from_secs(30));
    }

    #[test]
    fn a_missing_program_is_named() {
        let error = quietly(&mut command("no-such-program-here")).unwrap_err();
        assert!(error.to_string().contains("no-such-program-here"));
    }

    #[test]
    fn a_process_left_behind_is_not_waited_for() {
        let started = Instant::now();
        let ended = within(
            Duration::from_secs(20),
            Echo::Hide,
            &mut shell("echo done; sleep 15 &"),
        );
        assert_eq!(ended.unwrap().stdout, "done\n");
        assert!(started.elapsed() < Duration::from_secs(12));
    }
}
