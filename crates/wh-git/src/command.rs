//! How git is run: the same environment and the same defences for every command.

use std::{ffi::OsStr, path::PathBuf, process::Stdio, time::Duration};

use tokio::{io::AsyncReadExt, process::Command};

use crate::child::{Group, feed, read_bounded};

/// Why a git command did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    #[error("{path} is not a git repository")]
    NotARepository { path: PathBuf },
    #[error("the git program cannot be run")]
    Start(#[source] std::io::Error),
    #[error("git took longer than {limit:?}")]
    TimedOut { limit: Duration },
    #[error("more than {limit} bytes were received")]
    TooLarge { limit: u64 },
    #[error("git failed: {message}")]
    Failed { message: String },
}

impl GitError {
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self::Failed {
            message: message.into(),
        }
    }
}

/// How long a command that only looks may take.
const LOOK_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a command that writes objects or files may take.
pub(crate) const WORK_TIMEOUT: Duration = Duration::from_secs(600);

/// The most that a command may print when all of it is needed; more is an error.
const OUTPUT_BYTES_MAX: usize = 64 << 20;

/// The most of git's complaint that is kept.
const STDERR_BYTES_MAX: usize = 2_000;

/// How often a command is tried again when somebody holds a lock file, and how long apart.
const LOCK_TRIES: u32 = 6;
const LOCK_PAUSE: Duration = Duration::from_millis(80);

/// Settings that no repository may override: each would run a program of the repository's choice, or change what git
/// believes about history.
const DEFENCES: &[&str] = &[
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.sshCommand=ssh",
    "core.gitProxy=",
    "core.askPass=",
    "core.editor=false",
    "core.pager=cat",
    "core.attributesFile=/dev/null",
    "core.excludesFile=/dev/null",
    // Runs a program when another repository's objects are borrowed.
    "core.alternateRefsCommand=",
    // A planted commit-graph file could claim that unsaved commits are reachable.
    "core.commitGraph=false",
    "core.multiPackIndex=false",
    // A link to a file outside must stay a link whatever the repository says.
    "core.symlinks=true",
    "core.protectNTFS=true",
    "core.protectHFS=true",
    "diff.external=",
    "credential.helper=",
    "commit.gpgSign=false",
    "tag.gpgSign=false",
    "gpg.program=false",
    "gpg.ssh.program=false",
    "gc.auto=0",
    "maintenance.auto=false",
    "protocol.allow=never",
    "protocol.https.allow=always",
    "protocol.ssh.allow=always",
    "submodule.recurse=false",
    "fetch.recurseSubmodules=false",
    "advice.detachedHead=false",
    // The git directory is always named by us, so who owns it decides nothing.
    "safe.directory=*",
];

/// One git command: what to run, what to feed it, and how long and how much it may take.
pub(crate) struct Git {
    command: Command,
    stdin: Option<Vec<u8>>,
    timeout: Duration,
    output_bytes_max: usize,
}

/// What a command said.
pub(crate) struct Said {
    pub(crate) code: i32,
    pub(crate) stdout: Vec<u8>,
    /// Tells that there was more than the bound, and that the command was stopped there.
    pub(crate) truncated: bool,
    pub(crate) stderr: String,
}

impl Git {
    /// Returns a git command with a fixed environment and the defences set, and no repository yet.
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the one place that runs git"
    )]
    pub(crate) fn new() -> Self {
        let mut command = Command::new("git");
        command
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", "/nonexistent")
            .env("LC_ALL", "C")
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_ATTR_NOSYSTEM", "1")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_ASKPASS", "")
            .env("GIT_ALLOW_PROTOCOL", "https:ssh")
            // `status` must not write the index that the agent is using.
            .env("GIT_OPTIONAL_LOCKS", "0")
            // A promisor remote would be contacted with whatever transport the repository names.
            .env("GIT_NO_LAZY_FETCH", "1")
            // History as it is, not as `refs/replace` or a graft file retells it.
            .env("GIT_NO_REPLACE_OBJECTS", "1")
            .env("GIT_GRAFT_FILE", "/dev/null")
            // A file may be called `:(top)*`.
            .env("GIT_LITERAL_PATHSPECS", "1")
            .current_dir("/")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            // A group of its own, so that its helpers can be ended with it.
            .process_group(0)
            .kill_on_drop(true);
        command.arg("--no-pager");
        for setting in DEFENCES {
            command.args(["-c", setting]);
        }
        Self {
            command,
            stdin: None,
            timeout: LOOK_TIMEOUT,
            output_bytes_max: OUTPUT_BYTES_MAX,
        }
    }

    pub(crate) fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.command.arg(arg);
        self
    }

    pub(crate) fn args<S: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = S>) -> Self {
        self.command.args(args);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(name, value);
        self
    }

    pub(crate) fn stdin(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.stdin = Some(bytes.into());
        self
    }

    /// Allows the time that writing objects or files can take.
    pub(crate) fn long(mut self) -> Self {
        self.timeout = WORK_TIMEOUT;
        self
    }

    pub(crate) fn timeout(mut self, limit: Duration) -> Self {
        self.timeout = limit;
        self
    }

    pub(crate) fn output_bytes_max(mut self, bytes: usize) -> Self {
        self.output_bytes_max = bytes;
        self
    }

    /// Gives up the builder for callers that stream.
    pub(crate) fn into_command(self) -> Command {
        self.command
    }

    /// Runs the command and returns whatever it said, also when it failed or said too much.
    pub(crate) async fn said(mut self) -> Result<Said, GitError> {
        if self.stdin.is_some() {
            self.command.stdin(Stdio::piped());
        }
        let limit = self.timeout;
        tokio::time::timeout(limit, self.said_whenever())
            .await
            .map_err(|_| GitError::TimedOut { limit })?
    }

    async fn said_whenever(mut self) -> Result<Said, GitError> {
        let mut child = self.command.spawn().map_err(GitError::Start)?;
        // Dropped by a time-out or by the caller: the whole group goes.
        let group = Group::of(&child);
        let (stdin, stdout, stderr) =
            (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (_, out, err) = tokio::join!(
            feed(stdin, self.stdin.unwrap_or_default()),
            async {
                let read = read_bounded(stdout, self.output_bytes_max).await;
                if matches!(read, Ok((_, true))) {
                    group.kill();
                }
                read
            },
            async {
                let mut kept = Vec::new();
                if let Some(mut stderr) = stderr {
                    let mut chunk = [0; 4096];
                    while let Ok(n @ 1..) = stderr.read(&mut chunk).await {
                        let room = STDERR_BYTES_MAX.saturating_sub(kept.len());
                        kept.extend_from_slice(&chunk[..n.min(room)]);
                    }
                }
                kept
            }
        );
        let status = child.wait().await.map_err(GitError::Start)?;
        group.done();
        let (stdout, truncated) = out.map_err(GitError::Start)?;
        let stderr = String::from_utf8_lossy(&err).trim().to_owned();
        let code = status.code().unwrap_or(-1);
        Ok(Said {
            code,
            stdout,
            truncated,
            stderr,
        })
    }

    /// Runs the command and returns what it printed; anything but success is an error.
    pub(crate) async fn bytes(self) -> Result<Vec<u8>, GitError> {
        let said = self.said().await?;
        if said.truncated {
            return Err(GitError::failed("it printed more than can be used"));
        }
        if said.code == 0 {
            Ok(said.stdout)
        } else {
            Err(said.into_error())
        }
    }

    /// Runs the command and returns what it printed as text without the last line's end.
    pub(crate) async fn text(self) -> Result<String, GitError> {
        let bytes = self.bytes().await?;
        Ok(String::from_utf8_lossy(&bytes).trim_end().to_owned())
    }
}

impl Said {
    pub(crate) fn into_error(self) -> GitError {
        GitError::failed(if self.stderr.is_empty() {
            format!("exit status {}", self.code)
        } else {
            self.stderr
        })
    }
}

/// Runs a command again while somebody else holds a lock file for a moment.
pub(crate) async fn text_despite_locks(make: impl Fn() -> Git) -> Result<String, GitError> {
    let mut tries = 0;
    loop {
        tries += 1;
        match make().text().await {
            Err(GitError::Failed { message })
                if tries < LOCK_TRIES
                    && message.contains(".lock'")
                    && message.contains("File exists") =>
            {
                tokio::time::sleep(LOCK_PAUSE * tries).await;
            }
            other => return other,
        }
    }
}
