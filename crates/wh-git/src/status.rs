//! What has changed in a worktree.

use std::path::PathBuf;

use wh_domain::BranchName;

use crate::{
    CommitId, GitError, WorktreeError, WorktreeHandle, command::Git, view::View, worktree::path_of,
};

/// What has changed in a worktree since its head.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Status {
    pub head: Option<CommitId>,
    /// The branch, or none when the head is detached.
    pub branch: Option<BranchName>,
    pub staged: Vec<PathBuf>,
    pub unstaged: Vec<PathBuf>,
    pub untracked: Vec<PathBuf>,
    pub conflicted: Vec<PathBuf>,
    /// Ignored files; a wholly ignored directory is one entry that ends in `/`.
    pub ignored: Vec<PathBuf>,
    /// Commits since the base and commits of the base that are missing here, when a base was given.
    pub ahead_behind: Option<(u64, u64)>,
}

impl Status {
    /// Tells whether a tracked file differs from the head.
    pub fn is_dirty(&self) -> bool {
        !(self.staged.is_empty() && self.unstaged.is_empty() && self.conflicted.is_empty())
    }

    /// Tells whether there is nothing that is not committed, ignored files aside.
    pub fn is_clean(&self) -> bool {
        !self.is_dirty() && self.untracked.is_empty()
    }

    /// Tells whether the head is at a commit and not on a branch.
    pub fn is_detached(&self) -> bool {
        self.branch.is_none()
    }
}

impl WorktreeHandle {
    /// Looks at what has changed, and how far the head is from `base`.
    pub async fn status(&self, base: Option<&CommitId>) -> Result<Status, WorktreeError> {
        let view = self.view().await?;
        let mut status = status_in(&view).await?;
        status.head = self.head().await?;
        status.branch = self.branch().await?;
        if let (Some(base), Some(head)) = (base, &status.head) {
            status.ahead_behind = Some(ahead_behind(view.git(), base, head).await?);
        }
        Ok(status)
    }
}

/// Looks at the files of a view.
pub(crate) async fn status_in(view: &View) -> Result<Status, GitError> {
    let said = view
        .git()
        .args(["status", "--porcelain=v2", "-z", "--no-renames"])
        .args(["--untracked-files=all", "--ignored=traditional"])
        // What a submodule has checked out is compared; looking further would run git there, with its configuration.
        .arg("--ignore-submodules=dirty")
        .long()
        .bytes()
        .await?;
    let mut status = Status::default();
    for record in said.split(|byte| *byte == 0) {
        read_record(&mut status, record);
    }
    Ok(status)
}

/// Reads one record of `--porcelain=v2`; renames are off, so each has one path.
fn read_record(status: &mut Status, record: &[u8]) {
    let field = |n: usize| record.splitn(n, |byte| *byte == b' ').last();
    match record.first() {
        Some(b'1') => {
            let Some(path) = field(9).map(path_of) else {
                return;
            };
            if record.get(2).is_some_and(|x| *x != b'.') {
                status.staged.push(path.clone());
            }
            if record.get(3).is_some_and(|y| *y != b'.') {
                status.unstaged.push(path);
            }
        }
        Some(b'u') => status.conflicted.extend(field(11).map(path_of)),
        Some(b'?') => status.untracked.extend(field(2).map(path_of)),
        Some(b'!') => status.ignored.extend(field(2).map(path_of)),
        _ => {}
    }
}

/// Counts the commits on each side of two histories.
async fn ahead_behind(git: Git, base: &CommitId, head: &CommitId) -> Result<(u64, u64), GitError> {
    let said = git
        .args(["rev-list", "--count", "--left-right"])
        .arg(format!("{base}...{head}"))
        .text()
        .await?;
    let mut counts = said.split_whitespace().map(str::parse);
    match (counts.next(), counts.next()) {
        (Some(Ok(behind)), Some(Ok(ahead))) => Ok((ahead, behind)),
        _ => Err(GitError::failed("git printed no counts")),
    }
}
