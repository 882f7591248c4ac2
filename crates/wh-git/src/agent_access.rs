//! Which parts of a repository an agent may change, so that it can commit but plant nothing that git runs later for a person.
//!
//! A commit needs `objects`, `refs`, `logs` and the worktree's own directory. Everything else of the common directory (`config`,
//! `hooks`, `info`, …) stays read-only, and so do the files by which git finds these directories.

use std::{
    fs::{self, File},
    io::{self, ErrorKind, Write},
    os::unix::fs::symlink,
    path::{Path, PathBuf},
};

use crate::{RepoHandle, WorktreeHandle};

/// Directories of the common directory that a commit, a fetch or a checkout changes.
const SHARED: &[&str] = &["objects", "refs", "logs"];

/// The same for repositories that have them: another storage of references, large files.
const OPTIONAL: &[&str] = &["reftable", "lfs"];

/// Holds `packed-refs` once an agent may change it; see [`share_packed_refs`].
const PACKED_DIR: &str = "wheelhouse";

/// Parts of a checkout's own `.git` directory by which git runs something or finds its other parts.
const PROTECTED: &[&str] = &["config", "hooks", "info", "modules", "worktrees"];

/// What an agent may do with a repository. Paths are absolute; all of them exist.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AgentAccess {
    /// Paths the agent can read even if a parent directory is hidden.
    pub readable: Vec<PathBuf>,
    /// Paths the agent can write, in addition to its checkout.
    pub writable: Vec<PathBuf>,
    /// Paths inside a writable directory that stay read-only.
    pub read_only: Vec<PathBuf>,
    /// The directories of a linked worktree.
    pub link: Option<GitLink>,
}

/// How a linked worktree finds its repository.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GitLink {
    pub common_dir: PathBuf,
    /// The worktree's own directory, below the common one.
    pub git_dir: PathBuf,
    /// The file in the checkout that names it.
    pub dot_git: PathBuf,
}

impl WorktreeHandle {
    /// Returns what an agent at work in this worktree may do, and creates what is missing for it.
    pub fn agent_access(&self) -> io::Result<AgentAccess> {
        let dot_git = self.paths().path.join(".git");
        linked_access(self.repo(), &self.paths().git_dir, dot_git)
    }
}

/// Returns whether a directory is inside a git checkout.
pub fn is_in_checkout(directory: &Path) -> bool {
    find_above(directory).is_some()
}

fn find_above(directory: &Path) -> Option<(&Path, RepoHandle)> {
    let mut above = directory.ancestors();
    above.find_map(|top| Some((top, RepoHandle::find(top).ok()?)))
}

/// Returns what an agent may do that works in a directory as it is, or nothing when that lies in no repository.
pub fn checkout_access(directory: &Path) -> io::Result<Option<AgentAccess>> {
    let Some((top, repo)) = find_above(directory) else {
        return Ok(None);
    };
    let (git_dir, common_dir) = (&repo.paths().git_dir, &repo.paths().common_dir);
    if git_dir != common_dir {
        return linked_access(&repo, git_dir, top.join(".git")).map(Some);
    }
    for dir in ["hooks", "info", "objects/info"] {
        fs::create_dir_all(common_dir.join(dir))?;
    }
    create_if_missing(&common_dir.join("config.worktree"), "")?;
    // Git asks this file where the common directory is. It says what is true without it, so that no other can be put there.
    create_if_missing(&common_dir.join("commondir"), "./\n")?;
    let protected = PROTECTED
        .iter()
        .chain(&["config.worktree", "commondir", "objects/info"]);
    Ok(Some(AgentAccess {
        readable: borrowed(&repo),
        writable: vec![common_dir.clone()],
        read_only: existing(common_dir, protected),
        link: None,
    }))
}

fn linked_access(repo: &RepoHandle, git_dir: &Path, dot_git: PathBuf) -> io::Result<AgentAccess> {
    let common_dir = &repo.paths().common_dir;
    for dir in SHARED.iter().chain(&["objects/info"]) {
        fs::create_dir_all(common_dir.join(dir))?;
    }
    share_packed_refs(common_dir)?;
    create_if_missing(&git_dir.join("config.worktree"), "")?;
    let mut writable = existing(
        common_dir,
        SHARED.iter().chain(OPTIONAL).chain(&[PACKED_DIR]),
    );
    writable.push(git_dir.to_owned());
    let mut read_only = existing(git_dir, &["commondir", "gitdir", "config.worktree"]);
    read_only.push(common_dir.join("objects/info"));
    read_only.push(dot_git.clone());
    let mut readable = borrowed(repo);
    readable.push(common_dir.clone());
    Ok(AgentAccess {
        readable,
        writable,
        read_only,
        link: Some(GitLink {
            common_dir: common_dir.clone(),
            git_dir: git_dir.to_owned(),
            dot_git,
        }),
    })
}

/// Moves `packed-refs` into a directory of its own and leaves a symlink, which git follows when it reads and when it replaces the
/// file. Git takes a lock beside the file for every deletion of a reference, and a directory can be made writable alone.
///
/// Does nothing when it is a symlink already, or while git is changing the file: then agents cannot delete references until the
/// next run.
pub(crate) fn share_packed_refs(common_dir: &Path) -> io::Result<()> {
    let (file, dir) = (common_dir.join("packed-refs"), common_dir.join(PACKED_DIR));
    if fs::symlink_metadata(&file).is_ok_and(|found| found.is_symlink()) {
        return Ok(());
    }
    let lock = common_dir.join("packed-refs.lock");
    match File::create_new(&lock) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => return Ok(()),
        created => drop(created?),
    }
    let moved = (|| {
        fs::create_dir_all(&dir)?;
        let target = dir.join("packed-refs");
        // A copy first: at no moment are the references without a file.
        match fs::copy(&file, &target) {
            Err(error) if error.kind() == ErrorKind::NotFound => drop(File::create(&target)?),
            copied => drop(copied?),
        }
        File::open(&target)?.sync_all()?;
        let link = dir.join("packed-refs.link");
        remove_if_there(&link)?;
        symlink(Path::new(PACKED_DIR).join("packed-refs"), &link)?;
        fs::rename(&link, &file)
    })();
    fs::remove_file(&lock)?;
    moved
}

fn remove_if_there(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn create_if_missing(path: &Path, text: &str) -> io::Result<()> {
    match File::create_new(path) {
        Ok(mut file) => file.write_all(text.as_bytes()),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

fn existing<'a>(dir: &Path, names: impl IntoIterator<Item = &'a &'a str>) -> Vec<PathBuf> {
    let paths = names.into_iter().map(|name| dir.join(name));
    paths.filter(|path| path.exists()).collect()
}

/// Returns the object directories that a repository borrows from.
pub(crate) fn borrowed(repo: &RepoHandle) -> Vec<PathBuf> {
    let objects = repo.paths().common_dir.join("objects");
    let alternates = repo.paths().alternates.as_deref().unwrap_or_default();
    let paths = alternates.lines().filter(|line| !line.starts_with('#'));
    let paths = paths.map(|line| objects.join(line.trim()));
    paths.filter_map(|path| path.canonicalize().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn repository() -> tempfile::TempDir {
        let dir = tempfile::tempdir().unwrap();
        for name in ["objects", "refs/heads"] {
            fs::create_dir_all(dir.path().join(".git").join(name)).unwrap();
        }
        fs::write(dir.path().join(".git/HEAD"), "ref: refs/heads/main\n").unwrap();
        fs::write(dir.path().join(".git/config"), "[core]\n").unwrap();
        dir
    }

    #[test]
    fn packed_references_are_moved_once_and_stay_readable() {
        let dir = repository();
        let git = dir.path().join(".git");
        fs::write(git.join("packed-refs"), "# pack-refs\n").unwrap();
        for _ in 0..2 {
            share_packed_refs(&git).unwrap();
            assert!(git.join("packed-refs").is_symlink());
            let text = fs::read_to_string(git.join("packed-refs")).unwrap();
            assert_eq!(text, "# pack-refs\n");
        }
        assert!(!git.join("packed-refs.lock").exists());
    }

    #[test]
    fn a_file_that_git_is_changing_is_left_alone() {
        let dir = repository();
        let git = dir.path().join(".git");
        fs::write(git.join("packed-refs"), "# pack-refs\n").unwrap();
        fs::write(git.join("packed-refs.lock"), "").unwrap();
        share_packed_refs(&git).unwrap();
        assert!(!git.join("packed-refs").is_symlink());
        assert!(git.join("packed-refs.lock").exists());
    }

    #[test]
    fn a_checkout_keeps_what_git_runs_out_of_reach() {
        let dir = repository();
        let sub = dir.path().join("src/deep");
        fs::create_dir_all(&sub).unwrap();
        let git = dir.path().join(".git").canonicalize().unwrap();
        let access = checkout_access(&sub.canonicalize().unwrap())
            .unwrap()
            .unwrap();
        assert_eq!(access.writable, std::slice::from_ref(&git));
        for name in ["config", "hooks", "info", "commondir", "config.worktree"] {
            assert!(access.read_only.contains(&git.join(name)), "{name}");
        }
        let nowhere = tempfile::tempdir().unwrap();
        assert_eq!(checkout_access(nowhere.path()).unwrap(), None);
    }
}
