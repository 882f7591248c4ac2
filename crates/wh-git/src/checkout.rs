//! How large a checkout would be, told before any file is written.
//!
//! Trees can share subtrees, so a small repository can stand for any number of files.

use std::{process::Stdio, time::Duration};

use tokio::io::{AsyncBufReadExt, BufReader};
use wh_domain::CheckoutLimits;

use crate::{CommitId, GitError, RepoHandle, WorktreeError, child::Group, view::View};

/// How long the files may take to be counted. Directories without files are walked too, and take only time.
const COUNT_WITHIN: Duration = Duration::from_secs(30);

impl RepoHandle {
    /// Refuses a commit whose checkout would be larger than the repository's limits.
    pub(crate) async fn check_checkout(
        &self,
        view: &View,
        commit: &CommitId,
    ) -> Result<(), WorktreeError> {
        let limits = self.checkout_limits();
        let check = check(view, commit, limits);
        match tokio::time::timeout(COUNT_WITHIN, check).await {
            Ok(checked) => checked,
            Err(_) => Err(too_large("files", limits.files_max)),
        }
    }
}

/// Reads the sizes of the files until one limit is passed; git is ended there, however much there would be.
async fn check(
    view: &View,
    commit: &CommitId,
    limits: CheckoutLimits,
) -> Result<(), WorktreeError> {
    let git = view.git().args(["ls-tree", "-r", "--format=%(objectsize)"]);
    let mut command = git.arg(commit.as_str()).into_command();
    let mut child = command
        .stderr(Stdio::null())
        .spawn()
        .map_err(GitError::Start)?;
    let group = Group::of(&child);
    let (mut files, mut bytes) = (0_u64, 0_u64);
    if let Some(stdout) = child.stdout.take() {
        let mut lines = BufReader::new(stdout).lines();
        while let Some(line) = lines.next_line().await.map_err(GitError::Start)? {
            files += 1;
            // A submodule has no size.
            bytes = bytes.saturating_add(line.trim().parse().unwrap_or(0));
            if files > limits.files_max {
                return Err(too_large("files", limits.files_max));
            }
            if bytes > limits.bytes_max {
                return Err(too_large("bytes", limits.bytes_max));
            }
        }
    }
    let status = child.wait().await.map_err(GitError::Start)?;
    group.done();
    match status.success() {
        true => Ok(()),
        false => Err(GitError::failed("the files of the commit cannot be listed").into()),
    }
}

fn too_large(what: &'static str, limit: u64) -> WorktreeError {
    WorktreeError::TooLarge { what, limit }
}
