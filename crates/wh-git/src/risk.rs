//! What would be lost if a worktree were simply deleted.

use std::path::PathBuf;

use wh_domain::BranchName;

use crate::{
    DiskUse, GitError, WorktreeError, WorktreeHandle,
    child::Ours,
    process::processes_inside,
    repo::read_small,
    snapshot::{Snapshot, is_below},
    walk::blocking,
};

/// One reason not to delete a worktree without a rescue.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Risk {
    /// Tracked files differ from the head.
    Dirty { files: Vec<PathBuf> },
    /// Files git does not know.
    Untracked { files: Vec<PathBuf> },
    /// Files git was told to ignore, which may still be somebody's (`.env`).
    Ignored { use_: DiskUse },
    /// Stash entries made on the worktree's branch.
    Stashed { entries: u64 },
    /// Commits that no other branch, tag or remote has.
    Unpushed { commits: u64 },
    /// Commits that no branch has at all, because the head is detached.
    Detached { commits: u64 },
    /// A merge, rebase or the like that is not finished.
    InProgress { what: &'static str },
    /// Submodules or other repositories inside. A rescue does not save these; it refuses.
    Nested { paths: Vec<PathBuf> },
    /// Processes that live inside. A rescue refuses too.
    Processes { pids: Vec<u32> },
    /// Somebody locked the worktree. A rescue refuses too.
    Locked,
}

impl Risk {
    /// Tells whether this stops a removal also when everything else can be rescued.
    pub fn stops_rescue(&self) -> bool {
        matches!(
            self,
            Self::Nested { .. } | Self::Processes { .. } | Self::Locked
        )
    }
}

/// Files in a worktree's git directory that tell of unfinished work.
pub(crate) const IN_PROGRESS: &[(&str, &str)] = &[
    ("MERGE_HEAD", "merge"),
    ("rebase-merge", "rebase"),
    ("rebase-apply", "rebase"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
    ("sequencer", "sequence of picks"),
    ("BISECT_LOG", "bisection"),
];

impl WorktreeHandle {
    /// Returns everything that speaks against deleting the worktree. Nothing is changed.
    pub async fn removal_risks(&self) -> Result<Vec<Risk>, WorktreeError> {
        self.check()?;
        let mut risks = Vec::new();
        let status = self.status(None).await?;
        let snapshot = self.snapshot().await?;
        let mut dirty = [&status.staged, &status.unstaged, &status.conflicted]
            .into_iter()
            .flatten()
            .cloned()
            .collect::<Vec<_>>();
        dirty.sort();
        dirty.dedup();
        if !dirty.is_empty() {
            risks.push(Risk::Dirty { files: dirty });
        }
        if !status.untracked.is_empty() {
            let files = status.untracked;
            risks.push(Risk::Untracked { files });
        }
        let use_ = ignored_use(&snapshot, &status.ignored);
        if use_.files > 0 {
            risks.push(Risk::Ignored { use_ });
        }
        risks.extend(self.history_risks(status.branch.as_ref()).await?);
        risks.extend(self.blockers(&snapshot).await);
        Ok(risks)
    }

    /// Returns what stops even a rescue.
    pub(crate) async fn blockers(&self, snapshot: &Snapshot) -> Vec<Risk> {
        let mut risks = Vec::new();
        if !snapshot.nested.is_empty() {
            let paths = snapshot.nested.clone();
            risks.push(Risk::Nested { paths });
        }
        let pids = self.processes().await;
        if !pids.is_empty() {
            risks.push(Risk::Processes { pids });
        }
        if self.paths.git_dir.join("locked").exists() {
            risks.push(Risk::Locked);
        }
        risks
    }

    /// Returns the processes that live in the worktree, but for those of our own that look at it.
    pub(crate) async fn processes(&self) -> Vec<u32> {
        let path = self.paths.path.clone();
        let ours = Ours::now();
        let pids = blocking(move || Ok(processes_inside(&path))).await;
        let mut pids = pids.unwrap_or_default();
        pids.retain(|pid| ours.excludes(*pid));
        pids
    }

    async fn history_risks(&self, branch: Option<&BranchName>) -> Result<Vec<Risk>, GitError> {
        let mut risks = Vec::new();
        let entries = self.stashes(branch)?.len() as u64;
        if entries > 0 {
            risks.push(Risk::Stashed { entries });
        }
        let commits = self.commits_elsewhere_missing(branch).await?;
        match (commits, branch) {
            (0, _) => {}
            (_, Some(_)) => risks.push(Risk::Unpushed { commits }),
            (_, None) => risks.push(Risk::Detached { commits }),
        }
        for (file, what) in IN_PROGRESS {
            if self.paths.git_dir.join(file).exists() {
                risks.push(Risk::InProgress { what });
            }
        }
        Ok(risks)
    }

    /// Counts the commits of the head that no other branch, tag or remote has.
    async fn commits_elsewhere_missing(
        &self,
        branch: Option<&BranchName>,
    ) -> Result<u64, GitError> {
        let git_dir = &self.paths.git_dir;
        if self.repo.resolve_in(git_dir, "HEAD").await?.is_none() {
            return Ok(0);
        }
        let mut git = self.repo.refs_git_in(git_dir);
        git = git.args(["rev-list", "--count", "HEAD", "--not"]);
        if let Some(branch) = branch {
            // A valid branch name holds no pattern characters.
            git = git.arg(format!("--exclude=refs/heads/{}", branch.as_str()));
        }
        let said = git
            .args(["--glob=refs/heads/*", "--tags", "--remotes"])
            .text()
            .await?;
        said.parse()
            .map_err(|_| GitError::failed("git printed no count"))
    }

    /// Returns the stash commits that were made on `branch`, by what the stash's log says of itself.
    pub(crate) fn stashes(&self, branch: Option<&BranchName>) -> Result<Vec<String>, GitError> {
        let on = match branch {
            Some(branch) => format!("n {}: ", branch.as_str()),
            None => "n (no branch): ".to_owned(),
        };
        let log = match read_small(&self.repo.common_dir().join("logs/refs/stash")) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            other => other.map_err(GitError::Start)?,
        };
        let commit = |line: &str| {
            let (ids, message) = line.split_once('\t')?;
            let ours = message
                .strip_prefix("WIP o")
                .or_else(|| message.strip_prefix('O'))?
                .starts_with(&on);
            ours.then(|| ids.split(' ').nth(1).map(str::to_owned))?
        };
        Ok(log.lines().filter_map(commit).collect())
    }
}

/// Adds up the files of a snapshot that git ignores.
fn ignored_use(snapshot: &Snapshot, ignored: &[PathBuf]) -> DiskUse {
    let mut sum = DiskUse::default();
    for file in &snapshot.files {
        if is_below(&file.path, ignored) {
            sum.files += 1;
            sum.bytes += file.stamp.size;
        }
    }
    sum
}
