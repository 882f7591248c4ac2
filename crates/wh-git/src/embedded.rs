//! Disabling git repositories that an agent created inside a worktree.
//!
//! Git asks every submodule whether it has changed, and runs the programs that the submodule's own configuration names. A person's
//! `git status` in a worktree would therefore run what an agent put into `sub/.git/config`, if the index lists `sub` as a submodule.
//! `git add` turns any other repository inside the worktree into a submodule. The server checks out worktrees without submodules, so
//! no such repository is its own: renaming `.git` keeps every file, and git no longer finds the repository.

use std::{
    io,
    os::fd::{AsFd, OwnedFd},
    os::unix::ffi::OsStrExt,
    path::{Path, PathBuf},
};

use rustix::{
    fs::{AtFlags, Dir, FileType, Mode, OFlags, RenameFlags},
    io::Errno,
};

use crate::{
    WorktreeError, WorktreeHandle,
    beneath::{DIRECTORY, hold, open_beneath, parent_beneath},
    view::View,
    worktree::path_of,
};

/// Appended to the name of what was disabled.
const SUFFIX: &str = ".disabled";

/// Mode of a submodule, also in the output of `diff-index`.
const SUBMODULE: &[u8] = b"160000 ";

/// Which repositories inside a worktree are disabled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Embedded {
    /// Those that the index or the head lists as submodules.
    Submodules,
    /// Also those that `git add` would make submodules: neither tracked nor ignored.
    AndUntracked,
}

/// What was done about repositories inside a worktree. Paths are relative to the worktree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Disabled {
    /// What was renamed, by its old path.
    pub renamed: Vec<PathBuf>,
    /// What could not be renamed or searched.
    pub failed: Vec<PathBuf>,
}

impl Disabled {
    /// Returns whether there was nothing to disable.
    pub fn is_empty(&self) -> bool {
        self.renamed.is_empty() && self.failed.is_empty()
    }
}

impl WorktreeHandle {
    /// Renames the `.git` of repositories inside the worktree, and symbolic links in place of submodules, so that git does not use
    /// them.
    pub async fn embedded_disable(&self, which: Embedded) -> Result<Disabled, WorktreeError> {
        self.check()?;
        // An index that the server's git cannot read may be readable for a person's: then the whole worktree is searched.
        let found = match self.embedded_list(which).await {
            Ok(found) => found,
            Err(_) => vec![PathBuf::new()],
        };
        if found.is_empty() {
            return Ok(Disabled::default());
        }
        let path = self.path().to_owned();
        let disabled = tokio::task::spawn_blocking(move || disable(&path, &found)).await;
        let disabled = disabled.map_err(io::Error::other).and_then(|it| it);
        disabled.map_err(|source| WorktreeError::Directory {
            path: self.path().to_owned(),
            source,
        })
    }

    /// Returns where repositories may be.
    async fn embedded_list(&self, which: Embedded) -> Result<Vec<PathBuf>, WorktreeError> {
        let view = self.view_of_copy().await?;
        let mut found = Vec::new();
        let staged = view.git().args(["ls-files", "--stage", "-z"]);
        for entry in fields(&staged.long().bytes().await?) {
            if let Some(path) = path_after_tab(entry).filter(|_| entry.starts_with(SUBMODULE)) {
                found.push(path_of(path));
            }
        }
        if let Some(head) = self.head().await? {
            let removed = view.git().args(["diff-index", "--cached", "--raw", "-z"]);
            let removed = removed.args(["--no-renames", "--ignore-submodules=none"]);
            let removed = removed.args([head.as_str(), "--"]).long().bytes().await?;
            let mut removed = fields(&removed);
            while let (Some(change), Some(path)) = (removed.next(), removed.next()) {
                if change
                    .strip_prefix(b":")
                    .is_some_and(|it| it.starts_with(SUBMODULE))
                {
                    found.push(path_of(path));
                }
            }
        }
        if which == Embedded::AndUntracked {
            found.extend(untracked(&view).await?);
        }
        found.sort();
        found.dedup();
        Ok(found)
    }
}

/// Returns the repositories that are neither tracked nor ignored.
async fn untracked(view: &View) -> Result<Vec<PathBuf>, WorktreeError> {
    // The agent's index could claim that a directory holds nothing new.
    let git = view.git().args(["-c", "core.untrackedCache=false"]);
    let git = git.args(["ls-files", "--others", "--exclude-standard", "-z"]);
    let listed = git.long().bytes().await?;
    // A directory is listed only when git does not look into it, because it is a repository.
    let paths = fields(&listed).filter_map(|path| path.strip_suffix(b"/"));
    Ok(paths.map(path_of).collect())
}

fn fields(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|byte| *byte == 0).filter(|it| !it.is_empty())
}

fn path_after_tab(entry: &[u8]) -> Option<&[u8]> {
    let tab = entry.iter().position(|byte| *byte == b'\t')?;
    Some(&entry[tab + 1..])
}

fn disable(worktree: &Path, found: &[PathBuf]) -> io::Result<Disabled> {
    let root = hold(worktree)?;
    let mut disabled = Disabled::default();
    for path in found {
        if let Err(error) = disable_at(&root, path, &mut disabled)
            && error.kind() != io::ErrorKind::NotFound
        {
            disabled.failed.push(path.clone());
        }
    }
    Ok(disabled)
}

fn disable_at(root: &OwnedFd, path: &Path, disabled: &mut Disabled) -> io::Result<()> {
    if !path.as_os_str().is_empty() {
        let (parent, name) = match parent_beneath(root, path) {
            // Git does not use a submodule behind a symbolic link.
            Err(error) if is_link_or_file(&error) => return Ok(()),
            other => other?,
        };
        let stat = rustix::fs::statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW)?;
        match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => {}
            FileType::Symlink => {
                rename(&parent, Path::new(name))?;
                disabled.renamed.push(path.to_owned());
                return Ok(());
            }
            _ => return Ok(()),
        }
    }
    // Also what is deeper: it comes into git's sight when the outer repository is out of it.
    let mut open = vec![path.to_owned()];
    while let Some(path) = open.pop() {
        if search(root, &path, &mut open, disabled).is_err() {
            disabled.failed.push(path);
        }
    }
    Ok(())
}

/// Disables the repository in a directory, and adds the directories in it to `open`.
fn search(
    root: &OwnedFd,
    path: &Path,
    open: &mut Vec<PathBuf>,
    disabled: &mut Disabled,
) -> io::Result<()> {
    let dir = open_readable(root, path)?;
    let is_root = path.as_os_str().is_empty();
    for entry in Dir::read_from(&dir)? {
        let entry = entry?;
        let name = std::ffi::OsStr::from_bytes(entry.file_name().to_bytes());
        let is_own = is_root && name == ".git";
        if name == "." || name == ".." || is_own {
            continue;
        }
        let stat = match rustix::fs::statat(&dir, name, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => continue,
            other => other?,
        };
        let is_dir = FileType::from_raw_mode(stat.st_mode) == FileType::Directory;
        if name == ".git" {
            let renamed = rename(&dir, Path::new(name))?;
            disabled.renamed.push(path.join(name));
            if is_dir {
                ignore_contents(&dir, &renamed);
            }
        } else if is_dir {
            open.push(path.join(name));
        }
    }
    Ok(())
}

/// Opens a directory for reading and renaming, also when the agent took these permissions from us.
fn open_readable(root: &OwnedFd, path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY;
    let held = open_beneath(
        root,
        path,
        if path.as_os_str().is_empty() {
            DIRECTORY
        } else {
            flags
        },
    )?;
    let stat = rustix::fs::fstat(&held)?;
    if stat.st_mode & 0o700 != 0o700 && !path.as_os_str().is_empty() {
        let (parent, name) = parent_beneath(root, path)?;
        let now = rustix::fs::statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW)?;
        if (now.st_dev, now.st_ino) == (stat.st_dev, stat.st_ino) {
            // By the held descriptor, because a link could have taken the place of the name.
            use std::os::fd::AsRawFd;
            let held = format!("/proc/self/fd/{}", held.as_raw_fd());
            let mode = Mode::from_raw_mode(stat.st_mode & 0o777 | 0o700);
            rustix::fs::chmod(&held, mode)?;
        }
    }
    Ok(rustix::fs::openat(&held, ".", DIRECTORY, Mode::empty())?)
}

/// Gives an entry of a directory a name that nothing has, and returns it.
fn rename(dir: impl AsFd, name: &Path) -> io::Result<PathBuf> {
    let mut new = name.as_os_str().to_owned();
    new.push(SUFFIX);
    let mut number = 1u64;
    loop {
        let mut target = new.clone();
        if number > 1 {
            target.push(format!("-{number}"));
        }
        let flags = RenameFlags::NOREPLACE;
        match rustix::fs::renameat_with(&dir, name, &dir, target.as_os_str(), flags) {
            Err(Errno::EXIST) => number += 1,
            Err(error) => return Err(error.into()),
            Ok(()) => return Ok(target.into()),
        }
    }
}

/// Keeps a disabled repository out of the status and of the next commit. Not needed for safety, so errors do not matter.
fn ignore_contents(dir: &OwnedFd, renamed: &Path) {
    let Ok(inner) = rustix::fs::openat(dir, renamed, DIRECTORY, Mode::empty()) else {
        return;
    };
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mode = Mode::from_raw_mode(0o644);
    if let Ok(file) = rustix::fs::openat(&inner, ".gitignore", flags, mode) {
        rustix::io::write(&file, b"*\n").ok();
    }
}

/// Returns whether a path leads through something that is no directory.
fn is_link_or_file(error: &io::Error) -> bool {
    let number = error.raw_os_error();
    [Errno::LOOP, Errno::NOTDIR]
        .iter()
        .any(|it| number == Some(it.raw_os_error()))
}
