//! The token that GitHub's command line program keeps for a host.

use std::{process::Stdio, time::Duration};

use tokio::process::Command;
use wh_domain::{GitHost, SecretText};

use crate::child::{Group, read_bounded};

/// How long the program may take.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum number of bytes of a token.
const TOKEN_BYTES_MAX: usize = 4_096;

/// What the program needs to find its files, and the keyring in which it may keep tokens.
const VARIABLES: &[&str] = &[
    "PATH",
    "HOME",
    "GH_CONFIG_DIR",
    "XDG_CONFIG_HOME",
    "XDG_STATE_HOME",
    "XDG_RUNTIME_DIR",
    "DBUS_SESSION_BUS_ADDRESS",
];

/// Why there is no token. What the program printed is not part of it.
#[derive(Debug, thiserror::Error)]
pub enum GhError {
    #[error("the program gh cannot be run; install it, or remove gh = true from the configuration")]
    Start(#[source] std::io::Error),
    #[error("gh timed out after {TIMEOUT:?}")]
    TimedOut,
    #[error("gh has no token for {host}; run `gh auth login --hostname {host}`")]
    NoToken { host: GitHost },
}

/// Returns the token of `gh auth token --hostname HOST`.
#[expect(
    clippy::disallowed_methods,
    reason = "gh belongs to what fetching needs, like git"
)]
pub async fn gh_token(host: &GitHost) -> Result<SecretText, GhError> {
    let mut command = Command::new("gh");
    command
        .args(["auth", "token", "--hostname", host.as_str()])
        .env_clear()
        .envs(VARIABLES.iter().filter_map(|name| {
            let value = std::env::var_os(name)?;
            Some((name, value))
        }))
        .env("GH_PROMPT_DISABLED", "1")
        .env("GH_NO_UPDATE_NOTIFIER", "1")
        .current_dir("/")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .process_group(0)
        .kill_on_drop(true);
    let run = async {
        let mut child = command.spawn()?;
        let group = Group::of(&child);
        let read = read_bounded(child.stdout.take(), TOKEN_BYTES_MAX).await?;
        let status = child.wait().await?;
        group.done();
        Ok((status, read))
    };
    let run = tokio::time::timeout(TIMEOUT, run).await;
    let (status, (bytes, truncated)) = run
        .map_err(|_| GhError::TimedOut)?
        .map_err(GhError::Start)?;
    let token = String::from_utf8(bytes).unwrap_or_default();
    match token.trim() {
        token if status.success() && !truncated && !token.is_empty() => {
            Ok(SecretText::new(token.to_owned()))
        }
        _ => Err(GhError::NoToken { host: host.clone() }),
    }
}
