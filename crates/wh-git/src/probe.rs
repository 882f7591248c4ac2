//! Asking a remote repository whether it can be read, without transferring anything of it.

use wh_domain::BranchName;

use crate::{
    GitError, Transfer,
    command::Git,
    fetch::{default_branch, prepared},
};

/// What came of asking.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RemoteAccess {
    /// It can be read.
    Readable,
    /// The host asks for another credential, or for one at all.
    Refused,
    /// The host knows no such repository. Some hosts say so of what the caller may not read.
    NotFound,
    /// The host did not answer as a git server does.
    Unreachable,
}

/// How a remote repository answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RemoteProbe {
    pub access: RemoteAccess,
    pub default_branch: Option<BranchName>,
}

/// What git prints, in its English, when the host refuses.
const REFUSED: &[&str] = &[
    "could not read Username",
    "Authentication failed",
    "returned error: 401",
    "returned error: 403",
    "Permission denied",
];

/// What git prints when there is no such repository.
const NOT_FOUND: &[&str] = &[
    "' not found",
    "returned error: 404",
    "does not appear to be a git",
];

/// Asks a remote repository for its `HEAD`.
pub async fn probe(transfer: &Transfer<'_>) -> Result<RemoteProbe, GitError> {
    // No repository is used, and none is found by walking up from here.
    let dir = tempfile::Builder::new().prefix("wheelhouse-").tempdir();
    let dir = dir.map_err(GitError::Start)?;
    let parent = dir.path().parent().unwrap_or(dir.path());
    let git = Git::new()
        .env("GIT_CEILING_DIRECTORIES", parent)
        .arg("-C")
        .arg(dir.path());
    let git = prepared(git, transfer).args(["ls-remote", "--symref", "--"]);
    let git = git.arg(transfer.source.as_text()).arg("HEAD");
    let said = git.said().await?;
    if said.code == 0 {
        let printed = String::from_utf8_lossy(&said.stdout);
        return Ok(RemoteProbe {
            access: RemoteAccess::Readable,
            default_branch: default_branch(&printed),
        });
    }
    let has_any = |texts: &[&str]| texts.iter().any(|text| said.stderr.contains(text));
    let access = if has_any(REFUSED) {
        RemoteAccess::Refused
    } else if has_any(NOT_FOUND) {
        RemoteAccess::NotFound
    } else {
        RemoteAccess::Unreachable
    };
    Ok(RemoteProbe {
        access,
        default_branch: None,
    })
}
