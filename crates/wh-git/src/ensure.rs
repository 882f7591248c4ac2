//! Making a worktree so that it can be repeated after a crash at any step.
//!
//! Nobody is told of a worktree before it is whole, so what an interrupted call has left is the server's own: it is
//! finished when git knows it, and taken away when it is empty. Anything else at its path is left alone and refused.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use wh_domain::{BranchName, WorktreePaths};

use crate::{
    Base, CommitId, RepoHandle, Start, WorktreeError, WorktreeHandle,
    create::check_name,
    erase::{erase, erase_root},
    repo::{branch_of_head, read_small},
    view::View,
};

impl RepoHandle {
    /// Makes a worktree at `<root>/<name>` with `branch`, or goes on where an interrupted call ended, and returns it
    /// with the commit that its work is compared with.
    ///
    /// A branch that does not exist begins at `base`: at the branch of that name of `origin`, or else at the repository's
    /// own head, unless given. One that exists is taken as it is, but must be at `base` when one is given.
    pub async fn worktree_ensure(
        &self,
        root: &Path,
        name: &str,
        branch: &BranchName,
        base: Option<&Base>,
    ) -> Result<(WorktreeHandle, CommitId), WorktreeError> {
        check_name(name)?;
        let (root, _held) = self.hold_root(root)?;
        let path = root.join(name);
        let (worktree, tip) = match self.half_made(&path, branch).await? {
            Some(worktree) => {
                let tip = self.finish(&worktree, branch).await?;
                (worktree, tip)
            }
            None => {
                let start = self.start_of(branch, base).await?;
                self.worktree_create(&root, name, &start).await?
            }
        };
        let from = match (base, self.newest_head().await?) {
            (None, Some(head)) => self.merge_base(&head, &tip).await?,
            _ => None,
        };
        Ok((worktree, from.unwrap_or(tip)))
    }

    async fn start_of(
        &self,
        branch: &BranchName,
        base: Option<&Base>,
    ) -> Result<Start, WorktreeError> {
        let tip = self.branch_tip(branch).await?;
        let branch = branch.clone();
        match (tip, base) {
            (Some(_), None) => Ok(Start::Branch(branch)),
            (Some(tip), Some(base)) if self.commit_at(base).await? == tip => {
                Ok(Start::Branch(branch))
            }
            (Some(_), Some(_)) => Err(WorktreeError::BranchExists { branch }),
            (None, Some(base)) => {
                let base = base.clone();
                Ok(Start::NewBranch { branch, base })
            }
            (None, None) => {
                let same = Base::Branch(branch.clone());
                let base = match self.commit_at(&same).await {
                    Ok(_) => same,
                    Err(_) => Base::Head,
                };
                Ok(Start::NewBranch { branch, base })
            }
        }
    }

    /// Returns the worktree that an interrupted call has left, or takes away what it left of one.
    async fn half_made(
        &self,
        path: &Path,
        branch: &BranchName,
    ) -> Result<Option<WorktreeHandle>, WorktreeError> {
        let failed = |source| WorktreeError::Directory {
            path: path.to_owned(),
            source,
        };
        let git_dir = self.git_dir_for(path).map_err(failed)?;
        let pointer = read_small(&path.join(".git")).ok();
        if let (Some(git_dir), Some(pointer)) = (&git_dir, &pointer) {
            let leads = pointer.trim_end() == format!("gitdir: {}", git_dir.display());
            let has = branch_of_head(self, git_dir).await.ok().flatten();
            if leads && has.as_ref() == Some(branch) {
                let (path, git_dir) = (path.to_owned(), git_dir.clone());
                let paths = WorktreePaths { path, git_dir };
                return WorktreeHandle::open(self, paths).map(Some);
            }
        }
        if let Some(git_dir) = &git_dir {
            erase(git_dir).map_err(failed)?;
        }
        if fs::symlink_metadata(path).is_ok() {
            // Fails when there is anything in it, which nobody but us can have put there.
            let path = path.to_owned();
            erase_root(&path).map_err(|_| WorktreeError::Taken { path })?;
        }
        Ok(None)
    }

    /// Returns git's own directory for a worktree at `path`, if git has one.
    fn git_dir_for(&self, path: &Path) -> io::Result<Option<PathBuf>> {
        let entries = match fs::read_dir(self.common_dir().join("worktrees")) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            other => other?,
        };
        let wanted = path.join(".git").display().to_string();
        for entry in entries {
            let entry = entry?;
            let is_dir = entry.file_type()?.is_dir();
            let said = read_small(&entry.path().join("gitdir"));
            if is_dir && said.is_ok_and(|said| said.trim_end() == wanted) {
                return Ok(Some(entry.path()));
            }
        }
        Ok(None)
    }

    /// Fills the worktree unless that was done: git writes the index when all files are there.
    async fn finish(
        &self,
        worktree: &WorktreeHandle,
        branch: &BranchName,
    ) -> Result<CommitId, WorktreeError> {
        let none = WorktreeError::NoBranch {
            branch: branch.clone(),
        };
        let tip = self.branch_tip(branch).await?.ok_or(none)?;
        let index = worktree.index();
        if index.exists() {
            return Ok(tip);
        }
        fs::remove_file(index.with_extension("lock")).ok();
        let view = View::of(self)?.over(worktree.path(), &index);
        self.check_checkout(&view, &tip).await?;
        view.git()
            .args(["read-tree", "--reset", "-u", tip.as_str()])
            .long()
            .text()
            .await?;
        Ok(tip)
    }
}
