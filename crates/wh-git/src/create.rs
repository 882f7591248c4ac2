//! Making a worktree.

use std::{
    fs::{self, DirBuilder, File},
    io,
    os::unix::fs::{DirBuilderExt, MetadataExt},
    path::{Path, PathBuf},
};

use rustix::fs::{AtFlags, Mode, OFlags};
use wh_domain::BranchName;

use crate::{
    CommitId, RepoHandle, WorktreeError, WorktreeHandle, WorktreePaths,
    command::text_despite_locks, repo::read_small, view::View,
};

/// What a new worktree is to have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Start {
    /// A new branch that begins at `base`.
    NewBranch { branch: BranchName, base: Base },
    /// A branch that exists and is checked out nowhere else.
    Branch(BranchName),
}

/// Where a new branch begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Base {
    /// What the repository's own `HEAD` is at; in a mirror, where the source has gone on from there.
    Head,
    /// The tip of a branch: of the repository or else of `origin`, as it was last fetched.
    Branch(BranchName),
    /// A commit.
    Commit(CommitId),
}

/// The longest name of a worktree's directory.
const NAME_BYTES_MAX: usize = 100;

impl RepoHandle {
    /// Makes a worktree at `<root>/<name>` and returns it with the commit it is at.
    ///
    /// The directory is made exclusively under the held root. A branch that this call made is taken back when the rest
    /// fails, as long as it is still where it was put.
    pub async fn worktree_create(
        &self,
        root: &Path,
        name: &str,
        start: &Start,
    ) -> Result<(WorktreeHandle, CommitId), WorktreeError> {
        check_name(name)?;
        let (root, root_fd) = self.hold_root(root)?;
        let (branch, commit) = self.start_point(start).await?;
        let path = root.join(name);
        make_directory(&root_fd, &path, name)?;
        let made = self.worktree_fill(&path, &branch, start, &commit).await;
        let made = match made {
            Ok(made) if is_same(&root_fd, name, &path) => Ok(made),
            Ok(_) => Err(WorktreeError::Taken { path: path.clone() }),
            Err(error) => Err(error),
        };
        if made.is_err() {
            self.take_back(&root_fd, &path, name, &branch, start, &commit)
                .await;
        }
        made.map(|worktree| (worktree, commit))
    }

    /// Opens the managed root without following a link in its place, and refuses one inside the user's checkout.
    pub(crate) fn hold_root(&self, root: &Path) -> Result<(PathBuf, File), WorktreeError> {
        let failed = |source| WorktreeError::Directory {
            path: root.to_owned(),
            source,
        };
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(root)
            .map_err(failed)?;
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let held = rustix::fs::open(root, flags, Mode::empty()).map_err(|e| failed(e.into()))?;
        let real = root.canonicalize().map_err(failed)?;
        let checkout = self.paths().work_tree.iter();
        for checkout in checkout.chain([&self.paths().common_dir]) {
            if real.starts_with(checkout) {
                return Err(WorktreeError::RootInsideCheckout {
                    root: real,
                    checkout: checkout.clone(),
                });
            }
        }
        Ok((real, held.into()))
    }

    async fn start_point(&self, start: &Start) -> Result<(BranchName, CommitId), WorktreeError> {
        match start {
            Start::Branch(branch) => {
                let tip = self.branch_tip(branch).await?;
                let branch = branch.clone();
                let Some(tip) = tip else {
                    return Err(WorktreeError::NoBranch { branch });
                };
                if let Some(at) = self.checkout_of(&branch).await? {
                    return Err(WorktreeError::CheckedOut { branch, at });
                }
                Ok((branch, tip))
            }
            Start::NewBranch { branch, base } => {
                let commit = self.commit_at(base).await?;
                if self.branch_tip(branch).await?.is_some() {
                    let branch = branch.clone();
                    return Err(WorktreeError::BranchExists { branch });
                }
                Ok((branch.clone(), commit))
            }
        }
    }

    /// Returns the commit that a base stands for.
    pub async fn commit_at(&self, base: &Base) -> Result<CommitId, WorktreeError> {
        let branch = match base {
            Base::Head => return self.newest_head().await?.ok_or(WorktreeError::NoCommit),
            Base::Commit(id) => {
                let found = self.resolve_in(self.common_dir(), id.as_str()).await?;
                return found.ok_or(WorktreeError::NoCommit);
            }
            Base::Branch(branch) => branch,
        };
        if let Some(tip) = self.branch_tip(branch).await? {
            return Ok(tip);
        }
        let branch = branch.clone();
        let found = self.origin_tip(&branch).await?;
        found.ok_or(WorktreeError::NoBranch { branch })
    }

    /// Returns where `origin` has a branch, as it was last fetched.
    async fn origin_tip(&self, branch: &BranchName) -> Result<Option<CommitId>, WorktreeError> {
        let name = format!("refs/remotes/origin/{}", branch.as_str());
        Ok(self.resolve_in(self.common_dir(), &name).await?)
    }

    /// Returns where new work begins: at the head. A mirror's head stays where it was cloned, so when `origin` has gone
    /// on from there, it is there.
    pub(crate) async fn newest_head(&self) -> Result<Option<CommitId>, WorktreeError> {
        let Some(head) = self.head().await? else {
            return Ok(None);
        };
        let branch = self.default_branch().await?;
        let Some(branch) = branch.filter(|_| self.paths().work_tree.is_none()) else {
            return Ok(Some(head));
        };
        let Some(origin) = self.origin_tip(&branch).await? else {
            return Ok(Some(head));
        };
        let gone_on = self.merge_base(&head, &origin).await?.as_ref() == Some(&head);
        Ok(Some(if gone_on { origin } else { head }))
    }

    /// Returns where a branch is checked out, if it is.
    pub(crate) async fn checkout_of(
        &self,
        branch: &BranchName,
    ) -> Result<Option<PathBuf>, WorktreeError> {
        let checkouts = self.checkouts().await?;
        let mut having = checkouts
            .into_iter()
            .filter(|c| c.branch.as_ref() == Some(branch));
        Ok(having.next().map(|checkout| checkout.path))
    }

    async fn worktree_fill(
        &self,
        path: &Path,
        branch: &BranchName,
        start: &Start,
        commit: &CommitId,
    ) -> Result<WorktreeHandle, WorktreeError> {
        if let Start::NewBranch { .. } = start {
            // Creates it only if it does not exist, so of two callers one gets the branch.
            let name = format!("refs/heads/{}", branch.as_str());
            if let Err(error) = self.ref_set(&name, commit, None).await {
                let branch = branch.clone();
                return Err(match self.branch_tip(&branch).await? {
                    Some(_) => WorktreeError::BranchExists { branch },
                    None => error.into(),
                });
            }
        }
        let added = text_despite_locks(|| {
            self.refs_git()
                // Files come later, through a view that reads no configuration of the repository.
                .args(["worktree", "add", "--no-checkout", "--no-guess-remote"])
                // Full names would be read as commits here; a valid name after `--` can be nothing but the branch.
                .args(["-q", "--"])
                .arg(path)
                .arg(branch.as_str())
        })
        .await;
        if let Err(error) = added {
            // Git's own words would name the path of whoever was quicker.
            return Err(match self.checkout_of(branch).await? {
                Some(at) if at != path => WorktreeError::CheckedOut {
                    branch: branch.clone(),
                    at,
                },
                _ => error.into(),
            });
        }
        let worktree = self.just_made(path)?;
        // Somebody may have checked out the same branch at the same moment.
        let others = self.checkouts().await?.into_iter();
        let mut others = others.filter(|c| c.branch.as_ref() == Some(branch) && c.path != path);
        if let Some(other) = others.next() {
            return Err(WorktreeError::CheckedOut {
                branch: branch.clone(),
                at: other.path,
            });
        }
        let view = View::of(self)?.over(path, &worktree.index());
        self.check_checkout(&view, commit).await?;
        view.git()
            .args(["read-tree", "--reset", "-u", commit.as_str()])
            .long()
            .text()
            .await?;
        Ok(worktree)
    }

    /// Reads the `.git` file that git has just written; no agent has seen the directory yet.
    fn just_made(&self, path: &Path) -> Result<WorktreeHandle, WorktreeError> {
        let failed = |source| WorktreeError::Directory {
            path: path.to_owned(),
            source,
        };
        let pointer = read_small(&path.join(".git")).map_err(failed)?;
        let git_dir = pointer.strip_prefix("gitdir: ").unwrap_or_default();
        let git_dir = Path::new(git_dir.trim_end())
            .canonicalize()
            .map_err(failed)?;
        let path = path.to_owned();
        WorktreeHandle::open(self, WorktreePaths { path, git_dir })
    }

    /// Undoes a creation that failed: only what this call has made, and only as far as it is unchanged.
    async fn take_back(
        &self,
        root: &File,
        path: &Path,
        name: &str,
        branch: &BranchName,
        start: &Start,
        commit: &CommitId,
    ) {
        if let Ok(worktree) = self.just_made(path) {
            crate::erase::erase(path).ok();
            crate::erase::erase(&worktree.paths.git_dir).ok();
        }
        rustix::fs::unlinkat(root, name, AtFlags::REMOVEDIR).ok();
        let in_use = self.checkout_of(branch).await;
        if matches!((start, in_use), (Start::NewBranch { .. }, Ok(None))) {
            let reference = format!("refs/heads/{}", branch.as_str());
            let git = self
                .refs_git()
                .args(["update-ref", "--no-deref", "-d", "--"]);
            git.args([reference.as_str(), commit.as_str()])
                .text()
                .await
                .ok();
        }
    }
}

/// Makes the directory; fails when anything, also a dangling link, has that name.
fn make_directory(root: &File, path: &Path, name: &str) -> Result<(), WorktreeError> {
    let path = path.to_owned();
    match rustix::fs::mkdirat(root, name, Mode::RWXU) {
        Ok(()) => Ok(()),
        Err(rustix::io::Errno::EXIST) => Err(WorktreeError::Taken { path }),
        Err(error) => Err(WorktreeError::Directory {
            path,
            source: error.into(),
        }),
    }
}

/// Tells whether the path still leads to the directory that the held root has under this name.
fn is_same(root: &File, name: &str, path: &Path) -> bool {
    let held = rustix::fs::statat(root, name, AtFlags::SYMLINK_NOFOLLOW);
    let seen: io::Result<fs::Metadata> = fs::symlink_metadata(path);
    match (held, seen) {
        (Ok(held), Ok(seen)) => {
            seen.is_dir() && held.st_ino == seen.ino() && held.st_dev == seen.dev()
        }
        _ => false,
    }
}

/// Checks a directory's name: the server makes them, this is the second lock.
pub(crate) fn check_name(name: &str) -> Result<(), WorktreeError> {
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    let good = (1..=NAME_BYTES_MAX).contains(&name.len())
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && !name.ends_with('.')
        && !name.ends_with(".lock")
        && name.chars().all(fits);
    let name = name.to_owned();
    if good {
        Ok(())
    } else {
        Err(WorktreeError::Name { name })
    }
}
