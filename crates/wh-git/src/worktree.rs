//! Checkouts under a managed root, by the paths that were recorded when they were made.

use std::{
    fs, io,
    path::{Component, Path, PathBuf},
};

use wh_domain::{BranchName, WorktreePaths};

use crate::{
    CommitId, GitError, RepoHandle,
    repo::{branch_of_head, read_small},
    view::View,
};

/// A worktree that commands can be run on.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorktreeHandle {
    pub(crate) repo: RepoHandle,
    pub(crate) paths: WorktreePaths,
}

/// Why something could not be done with a worktree.
#[derive(Debug, thiserror::Error)]
pub enum WorktreeError {
    #[error("the worktree at {path} is gone: {why:?}")]
    Missing { path: PathBuf, why: Missing },
    #[error("{path} is not a worktree of this repository")]
    Foreign { path: PathBuf },
    #[error("the managed root {root} lies inside the checkout {checkout}")]
    RootInsideCheckout { root: PathBuf, checkout: PathBuf },
    #[error("{name:?} cannot name a worktree's directory")]
    Name { name: String },
    #[error("there is something at {path} already")]
    Taken { path: PathBuf },
    #[error("there is a branch {} already", branch.as_str())]
    BranchExists { branch: BranchName },
    #[error("there is no branch {}", branch.as_str())]
    NoBranch { branch: BranchName },
    #[error("the repository has no commit yet")]
    NoCommit,
    #[error("branch {} is checked out at {at}", branch.as_str())]
    CheckedOut { branch: BranchName, at: PathBuf },
    #[error("the checkout would have more than {limit} {what}")]
    TooLarge { what: &'static str, limit: u64 },
    #[error("the directory {path} cannot be used")]
    Directory {
        path: PathBuf,
        #[source]
        source: io::Error,
    },
    #[error(transparent)]
    Git(#[from] GitError),
}

/// How a worktree is missing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Missing {
    /// There is nothing at its path.
    DirectoryGone,
    /// There is a link or a file at its path.
    Replaced,
    /// Git's own directory for it is gone, as after `git worktree remove` or `prune`.
    GitDirGone,
}

/// A checkout of a repository as git lists it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Checkout {
    pub path: PathBuf,
    pub head: Option<CommitId>,
    /// The branch it has, unless its head is detached.
    pub branch: Option<BranchName>,
    pub locked: bool,
}

impl WorktreeHandle {
    /// Opens a worktree by its recorded paths. A missing one can be opened too: `missing` tells.
    pub fn open(repo: &RepoHandle, paths: WorktreePaths) -> Result<Self, WorktreeError> {
        let admin = repo.common_dir().join("worktrees");
        let plain = |c: Component<'_>| matches!(c, Component::RootDir | Component::Normal(_));
        let ours = paths.git_dir.parent() == Some(&admin)
            && paths.path.is_absolute()
            && paths.path.components().all(plain);
        if !ours {
            return Err(WorktreeError::Foreign { path: paths.path });
        }
        Ok(Self {
            repo: repo.clone(),
            paths,
        })
    }

    /// Returns the paths to record.
    pub fn paths(&self) -> &WorktreePaths {
        &self.paths
    }

    /// Returns the repository this is a worktree of.
    pub fn repo(&self) -> &RepoHandle {
        &self.repo
    }

    pub(crate) fn path(&self) -> &Path {
        &self.paths.path
    }

    pub(crate) fn index(&self) -> PathBuf {
        self.paths.git_dir.join("index")
    }

    /// Tells whether the worktree was taken away or replaced behind our back.
    pub fn missing(&self) -> Option<Missing> {
        match fs::symlink_metadata(&self.paths.path) {
            Err(_) => return Some(Missing::DirectoryGone),
            Ok(found) if !found.is_dir() => return Some(Missing::Replaced),
            Ok(_) => {}
        }
        match fs::symlink_metadata(&self.paths.git_dir) {
            Ok(found) if found.is_dir() && self.paths.git_dir.join("HEAD").is_file() => None,
            _ => Some(Missing::GitDirGone),
        }
    }

    /// Refuses to go on when the worktree is missing.
    pub(crate) fn check(&self) -> Result<(), WorktreeError> {
        self.mend()?;
        self.missing().map_or(Ok(()), |why| {
            Err(WorktreeError::Missing {
                path: self.paths.path.clone(),
                why,
            })
        })
    }

    /// Writes the worktree's `commondir` anew when it leads elsewhere.
    ///
    /// Git finds references through this file, whatever `GIT_COMMON_DIR` says, and an agent can write it. There is only
    /// one right value, so a wrong one is put right rather than reported.
    pub(crate) fn mend(&self) -> Result<(), WorktreeError> {
        const RIGHT: &str = "../..\n";
        let git_dir = &self.paths.git_dir;
        let file = git_dir.join("commondir");
        let is_dir = fs::symlink_metadata(git_dir).is_ok_and(|found| found.is_dir());
        if !is_dir || read_small(&file).is_ok_and(|text| text == RIGHT) {
            return Ok(());
        }
        let mend = || {
            let mut new = tempfile::NamedTempFile::new_in(git_dir)?;
            io::Write::write_all(&mut new, RIGHT.as_bytes())?;
            new.persist(&file)?;
            Ok(())
        };
        mend().map_err(|source| WorktreeError::Directory {
            path: file.clone(),
            source,
        })
    }

    /// Returns the commit the worktree is at, unless nothing was committed yet.
    pub async fn head(&self) -> Result<Option<CommitId>, WorktreeError> {
        self.check()?;
        Ok(self.repo.resolve_in(&self.paths.git_dir, "HEAD").await?)
    }

    /// Returns the branch the worktree has, unless its head is detached.
    pub async fn branch(&self) -> Result<Option<BranchName>, WorktreeError> {
        self.check()?;
        Ok(branch_of_head(&self.repo, &self.paths.git_dir).await?)
    }

    /// Returns a view of the files with the worktree's own index and head.
    pub(crate) async fn view(&self) -> Result<View, WorktreeError> {
        let head = self.head().await?;
        Ok(View::of(&self.repo)?
            .over(self.path(), &self.index())
            .at(head.as_ref())?)
    }

    /// The same with a copy of the index, which may be changed.
    pub(crate) async fn view_of_copy(&self) -> Result<View, WorktreeError> {
        let head = self.head().await?;
        Ok(View::of(&self.repo)?
            .over_copy(self.path(), &self.index())?
            .at(head.as_ref())?)
    }
}

impl RepoHandle {
    /// Returns every checkout that git knows of: the user's own first, then the worktrees.
    pub async fn checkouts(&self) -> Result<Vec<Checkout>, GitError> {
        let said = self
            .refs_git()
            .args(["worktree", "list", "--porcelain", "-z"])
            .bytes()
            .await?;
        let mut checkouts: Vec<Checkout> = Vec::new();
        for field in said.split(|byte| *byte == 0) {
            let text = String::from_utf8_lossy(field);
            let (name, value) = text.split_once(' ').unwrap_or((&text, ""));
            if name == "worktree" {
                checkouts.push(Checkout {
                    path: path_of(&field[b"worktree ".len()..]),
                    head: None,
                    branch: None,
                    locked: false,
                });
            }
            let Some(last) = checkouts.last_mut() else {
                continue;
            };
            match name {
                "HEAD" => last.head = CommitId::parse(value).ok().filter(|id| !is_zero(id)),
                "branch" => {
                    let short = value.strip_prefix("refs/heads/");
                    last.branch = short.and_then(|name| BranchName::parse(name).ok());
                }
                "locked" => last.locked = true,
                _ => {}
            }
        }
        Ok(checkouts)
    }
}

fn is_zero(id: &CommitId) -> bool {
    id.as_str().bytes().all(|byte| byte == b'0')
}

/// Makes a path of the bytes that git printed.
pub(crate) fn path_of(bytes: &[u8]) -> PathBuf {
    use std::os::unix::ffi::OsStrExt;
    PathBuf::from(std::ffi::OsStr::from_bytes(bytes))
}
