//! A server that a step starts, waits for, and ends by its process id.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::run;
use crate::ui;

const READY_WITHIN: Duration = Duration::from_secs(30);
/// Short enough for a start to be timed.
const READY_POLL: Duration = Duration::from_millis(1);
/// How long a server may take to end after SIGTERM before it is killed.
const END_WITHIN: Duration = Duration::from_secs(10);
const LOG_LINES_SHOWN: usize = 20;

/// A running server. Dropping it ends the process.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    log: PathBuf,
}

impl Server {
    /// Starts the server with its output going to `log`.
    pub(crate) fn start(command: &mut Command, log: &Path) -> Result<Self> {
        let output = File::create(log).with_context(|| format!("creating {}", log.display()))?;
        let program = command.get_program().to_string_lossy().into_owned();
        let child = command
            .stdin(Stdio::null())
            .stdout(output.try_clone().context("sharing the log file")?)
            .stderr(output)
            .spawn()
            .with_context(|| format!("cannot start `{program}`"))?;
        Ok(Self {
            child,
            log: log.to_owned(),
        })
    }

    /// Waits until `ready` gives a value. An end of the process, or taking too long, is an error that shows the log.
    pub(crate) fn wait_until<T>(&mut self, ready: impl Fn(&Path) -> Option<T>) -> Result<T> {
        let deadline = Instant::now() + READY_WITHIN;
        loop {
            if let Some(value) = ready(&self.log) {
                return Ok(value);
            }
            if let Some(status) = self.child.try_wait().context("waiting for the server")? {
                bail!(
                    "the server ended with {status} before it was ready:\n{}",
                    self.log_tail()
                );
            }
            if Instant::now() >= deadline {
                let seconds = READY_WITHIN.as_secs();
                bail!(
                    "the server was not ready within {seconds} s:\n{}",
                    self.log_tail()
                );
            }
            thread::sleep(READY_POLL);
        }
    }

    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The end of what the server printed.
    pub(crate) fn log_tail(&self) -> String {
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<_> = log.lines().collect();
        lines[lines.len().saturating_sub(LOG_LINES_SHOWN)..].join("\n")
    }

    fn end(&mut self) -> Result<()> {
        if self
            .child
            .try_wait()
            .context("waiting for the server")?
            .is_some()
        {
            return Ok(());
        }
        let pid = self.child.id().to_string();
        // The shell's own `kill`: the program of that name is not on every machine.
        run::quietly(run::command("sh").args(["-c", "kill -TERM \"$0\"", &pid]))?;
        if run::wait(&mut self.child, END_WITHIN)?.is_none() {
            let seconds = END_WITHIN.as_secs();
            ui::progress(&format!(
                "the server {pid} did not end within {seconds} s of SIGTERM; killing it"
            ));
            self.child.kill().context("killing the server")?;
            self.child.wait().context("waiting for the killed server")?;
        }
        Ok(())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Err(error) = self.end() {
            ui::error(&format!("ending a server: {error:#}"));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str, name: &str) -> (Server, PathBuf) {
        let log = std::env::temp_dir().join(format!("xtask-server-{name}-{}", std::process::id()));
        let mut command = run::command("sh");
        command.args(["-c", script]);
        (Server::start(&mut command, &log).unwrap(), log)
    }

    #[test]
    fn waits_for_the_line_and_ends_the_process() {
        let (mut server, log) = shell("echo ready; exec sleep 60", "ready");
        let line = server.wait_until(|log| {
            fs::read_to_string(log)
                .ok()
                .filter(|text| text.contains("ready"))
        });
        assert_eq!(line.unwrap(), "ready\n");
        let proc = PathBuf::from(format!("/proc/{}", server.child.id()));
        assert!(proc.exists());
        drop(server);
        assert!(!proc.exists());
        fs::remove_file(log).unwrap();
    }

    #[test]
    fn an_early_end_shows_what_was_printed() {
        let (mut server, log) = shell("echo the port is taken >&2; exit 7", "early");
        let error = server.wait_until(|_| None::<()>).unwrap_err().to_string();
        assert!(
            error.contains("the port is taken") && error.contains('7'),
            "{error}"
        );
        fs::remove_file(log).unwrap();
    }
}
