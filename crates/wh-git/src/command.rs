//! How git is run: the same environment and the same defences for every command.

use std::{
    ffi::OsStr,
    path::{Path, PathBuf},
    process::Stdio,
    time::Duration,
};

use tokio::process::Command;

/// Why a git command did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    #[error("{path} is not a git repository")]
    NotARepository { path: PathBuf },
    #[error("the git program cannot be run")]
    Start(#[source] std::io::Error),
    #[error("git took longer than {limit:?}")]
    TimedOut { limit: Duration },
    #[error("git failed: {message}")]
    Failed { message: String },
}

/// How long a command that only looks may take.
const LOOK_TIMEOUT: Duration = Duration::from_secs(10);

/// The most of git's complaint that is kept.
const STDERR_BYTES_MAX: usize = 2_000;

/// Settings that no repository may override: each would run a program of the repository's choice.
const DEFENCES: &[&str] = &[
    "core.hooksPath=/dev/null",
    "core.fsmonitor=false",
    "core.sshCommand=ssh",
    "diff.external=",
    "credential.helper=",
    "protocol.allow=never",
    "protocol.https.allow=always",
    "protocol.ssh.allow=always",
    "submodule.recurse=false",
    "safe.directory=*",
];

/// Runs a command that only looks at the repository in `git_dir` and returns what it printed.
pub(crate) async fn look<S: AsRef<OsStr>>(git_dir: &Path, args: &[S]) -> Result<String, GitError> {
    let mut command = hardened();
    command.arg("--git-dir").arg(git_dir).args(args);
    let output = tokio::time::timeout(LOOK_TIMEOUT, command.output())
        .await
        .map_err(|_| GitError::TimedOut {
            limit: LOOK_TIMEOUT,
        })?
        .map_err(GitError::Start)?;
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let mut message = String::from_utf8_lossy(&output.stderr).trim().to_owned();
    message.truncate(message.floor_char_boundary(STDERR_BYTES_MAX));
    Err(GitError::Failed { message })
}

/// Returns a git command with a fixed environment and the defences set.
#[expect(
    clippy::disallowed_methods,
    reason = "this is the one place that runs git"
)]
fn hardened() -> Command {
    let mut command = Command::new("git");
    command
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .env("HOME", "/nonexistent")
        .env("LC_ALL", "C")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_ALLOW_PROTOCOL", "https:ssh")
        .env("GIT_OPTIONAL_LOCKS", "0")
        .stdin(Stdio::null())
        .kill_on_drop(true);
    for setting in DEFENCES {
        command.args(["-c", setting]);
    }
    command
}
