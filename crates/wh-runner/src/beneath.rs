//! Reading and writing files beneath a directory that an agent can change, and nowhere else.
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
pub(crate) enum WriteError {
    #[error("the path leaves the directory; name a file in it")]
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

/// Who may use what is made.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Access {
    /// As the process's mask says.
    Usual,
    Owner,
}

impl Access {
    fn modes(self) -> (Mode, Mode) {
        let (directory, file) = match self {
            Self::Usual => (0o777, 0o666),
            Self::Owner => (0o700, 0o600),
        };
        (Mode::from_raw_mode(directory), Mode::from_raw_mode(file))
    }
}

/// Writes a file beneath `root`, makes the directories that it needs, and returns its old text.
pub(crate) fn write_beneath(
    root: &Path,
    path: &Path,
    bytes: &[u8],
    access: Access,
) -> Result<Option<String>, WriteError> {
    let (directory_mode, file_mode) = access.modes();
    let parts = parts_of(path)?;
    let (name, parents) = parts.split_last().ok_or(WriteError::Outside)?;
    let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
    let mut held = rustix::fs::open(root, flags, Mode::empty())?;
    for part in parents {
        held = directory(&held, part, directory_mode)?;
    }
    let old = read(&held, name);
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::NONBLOCK;
    let file = open(&held, name, flags, file_mode)?;
    let stat = rustix::fs::fstat(&file)?;
    // Another name of the file may lie outside.
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile || stat.st_nlink > 1 {
        return Err(WriteError::NotAFile);
    }
    rustix::fs::ftruncate(&file, 0)?;
    File::from(file).write_all(bytes)?;
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
fn directory(parent: &OwnedFd, name: &OsStr, mode: Mode) -> Result<OwnedFd, WriteError> {
    let flags = OFlags::DIRECTORY | OFlags::RDONLY;
    match open(parent, name, flags, Mode::empty()) {
        Err(Errno::NOENT) => {
            match rustix::fs::mkdirat(parent, name, mode) {
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

/// Reads an ordinary file of at most `limit` bytes by a path that holds no link; nothing else is read.
pub(crate) fn read_plain(path: &Path, limit: u64) -> Option<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = File::from(open_without_links(path, flags).ok()?);
    let about = file.metadata().ok()?;
    let mut bytes = Vec::new();
    let is_good = about.is_file() && about.len() <= limit;
    let read = is_good.then(|| file.take(limit).read_to_end(&mut bytes))?;
    read.ok().map(|_| bytes)
}

#[cfg(target_os = "linux")]
fn open_without_links(path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    use rustix::fs::{CWD, ResolveFlags};
    let resolve = ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
    match rustix::fs::openat2(CWD, path, flags, Mode::empty(), resolve) {
        Err(Errno::NOSYS | Errno::PERM) => rustix::fs::open(path, flags, Mode::empty()),
        opened => opened,
    }
}

#[cfg(not(target_os = "linux"))]
fn open_without_links(path: &Path, flags: OFlags) -> Result<OwnedFd, Errno> {
    rustix::fs::open(path, flags, Mode::empty())
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
        let write = |path: &str| write_beneath(&root, Path::new(path), b"new\n", Access::Usual);
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

    #[test]
    fn only_an_ordinary_file_is_read_and_no_link_followed() {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().canonicalize().unwrap();
        fs::create_dir(root.join("real")).unwrap();
        fs::write(root.join("real/file"), "text").unwrap();
        symlink("real", root.join("up")).unwrap();
        symlink("real/file", root.join("link")).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, root.join("pipe"), Mode::RWXU).unwrap();
        let read = |path: &str| read_plain(&root.join(path), 100);
        assert_eq!(read("real/file").as_deref(), Some(&b"text"[..]));
        for other in ["link", "up/file", "pipe", "real", "absent"] {
            assert_eq!(read(other), None, "{other}");
        }
        assert_eq!(read_plain(&root.join("real/file"), 3), None);
    }
}
