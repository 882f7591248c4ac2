//! Writing a file beneath the working directory, and nowhere else.
//!
//! Every directory on the way is opened by itself under the one before, without following links, so that nothing that
//! another process puts there meanwhile leads outside.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io::{self, Read, Write},
    os::fd::{AsFd, OwnedFd},
    path::{Component, Path},
};

use rustix::{
    fs::{FileType, Mode, OFlags},
    io::Errno,
};

/// The most of a file's old text that is read to show what changed.
const OLD_BYTES_MAX: u64 = 4 << 20;

/// The most directories on the way to a file.
const DEPTH_MAX: usize = 100;

/// Why nothing was written.
#[derive(Debug, thiserror::Error)]
pub(super) enum WriteError {
    #[error("the path leaves the working directory; name a file in it")]
    Outside,
    #[error("the path leads into .git, where nothing may be written")]
    GitDirectory,
    #[error("there is a link or something else that is no file; name another path")]
    NotAFile,
    #[error(transparent)]
    Io(#[from] io::Error),
}

impl From<Errno> for WriteError {
    fn from(error: Errno) -> Self {
        match error {
            Errno::LOOP | Errno::XDEV | Errno::NOTDIR | Errno::ISDIR | Errno::NXIO => {
                Self::NotAFile
            }
            other => Self::Io(other.into()),
        }
    }
}

/// Writes a file beneath `root`, makes the directories that it needs, and returns its old text.
pub(super) fn write_beneath(
    root: &Path,
    path: &Path,
    text: &str,
) -> Result<Option<String>, WriteError> {
    let parts = parts_of(path)?;
    let (name, parents) = parts.split_last().ok_or(WriteError::Outside)?;
    let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut held = rustix::fs::open(root, flags, Mode::empty())?;
    for part in parents {
        held = directory(&held, part)?;
    }
    let old = read(&held, name);
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::NONBLOCK;
    let file = open(&held, name, flags, Mode::from_raw_mode(0o666))?;
    let stat = rustix::fs::fstat(&file)?;
    // Another name of the file may lie outside.
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile || stat.st_nlink > 1 {
        return Err(WriteError::NotAFile);
    }
    rustix::fs::ftruncate(&file, 0)?;
    File::from(file).write_all(text.as_bytes())?;
    Ok(old)
}

/// Returns the names that a path is made of, if it stays where it begins and out of git's own directory.
fn parts_of(path: &Path) -> Result<Vec<OsString>, WriteError> {
    let mut parts = Vec::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::Normal(name) if name.eq_ignore_ascii_case(".git") => {
                return Err(WriteError::GitDirectory);
            }
            Component::Normal(name) => parts.push(name.to_owned()),
            _ => return Err(WriteError::Outside),
        }
    }
    match parts.len() > DEPTH_MAX {
        true => Err(WriteError::Outside),
        false => Ok(parts),
    }
}

/// Opens a directory, and makes it if it is not there.
fn directory(parent: &OwnedFd, name: &OsStr) -> Result<OwnedFd, WriteError> {
    let flags = OFlags::DIRECTORY | OFlags::RDONLY;
    match open(parent, name, flags, Mode::empty()) {
        Err(Errno::NOENT) => {
            match rustix::fs::mkdirat(parent, name, Mode::from_raw_mode(0o777)) {
                Ok(()) | Err(Errno::EXIST) => {}
                Err(error) => return Err(error.into()),
            }
            Ok(open(parent, name, flags, Mode::empty())?)
        }
        opened => Ok(opened?),
    }
}

/// Opens one name in a directory, never through a link.
fn open(dir: impl AsFd, name: &OsStr, flags: OFlags, mode: Mode) -> Result<OwnedFd, Errno> {
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::ResolveFlags;
        let resolve =
            ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        match rustix::fs::openat2(&dir, name, flags, mode, resolve) {
            // Old kernels and some sandboxes do not have the call; one name without following links is as good.
            Err(Errno::NOSYS | Errno::PERM) => {}
            opened => return opened,
        }
    }
    rustix::fs::openat(dir, name, flags, mode)
}

/// Reads a file's text, if it is a file of text and not too large.
fn read(dir: &OwnedFd, name: &OsStr) -> Option<String> {
    let file = open(dir, name, OFlags::RDONLY | OFlags::NONBLOCK, Mode::empty()).ok()?;
    let mut text = String::new();
    let file = File::from(file);
    let is_file = file.metadata().ok()?.is_file();
    let read = is_file.then(|| file.take(OLD_BYTES_MAX).read_to_string(&mut text))?;
    read.ok().map(|_| text)
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink};

    use super::*;

    #[test]
    fn a_file_is_written_beneath_the_directory_and_nowhere_else() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("work");
        fs::create_dir(&root).unwrap();
        fs::write(dir.path().join("outside"), "kept\n").unwrap();
        let write = |path: &str| write_beneath(&root, Path::new(path), "new\n");
        assert_eq!(write("a/b/c.txt").unwrap(), None);
        assert_eq!(write("./a/b/c.txt").unwrap().as_deref(), Some("new\n"));
        let outside = dir.path().join("outside");
        for path in [
            "../outside",
            "a/../../outside",
            outside.to_str().unwrap(),
            "",
        ] {
            let refused = write(path);
            assert!(matches!(refused, Err(WriteError::Outside)), "{path}");
        }
        for path in [".git", ".git/config", ".GIT/hooks/x", "a/.Git/config"] {
            let refused = write(path);
            assert!(matches!(refused, Err(WriteError::GitDirectory)), "{path}");
        }
        symlink("../outside", root.join("link")).unwrap();
        symlink("..", root.join("up")).unwrap();
        fs::hard_link(&outside, root.join("hard")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, root.join("pipe"), Mode::RWXU).unwrap();
        for path in ["link", "up/outside", "up/other/x", "hard", "a", "pipe"] {
            let refused = write(path);
            assert!(matches!(refused, Err(WriteError::NotAFile)), "{path}");
        }
        assert_eq!(fs::read_to_string(&outside).unwrap(), "kept\n");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
    }
}
