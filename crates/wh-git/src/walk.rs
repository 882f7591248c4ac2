//! Walking a directory under held descriptors, without following links.

use std::{
    ffi::OsStr,
    io,
    os::{fd::OwnedFd, unix::ffi::OsStrExt},
    path::{Path, PathBuf},
};

use rustix::fs::{AtFlags, Dir, FileType, Mode, Stat};

use crate::{
    WorktreeError, WorktreeHandle,
    beneath::{DIRECTORY, hold},
};

/// How deep a walk goes; deeper is an error, because each level holds a descriptor.
const DEPTH_MAX: usize = 200;

/// How much room files take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiskUse {
    /// Bytes on disk, as `du` counts them.
    pub bytes: u64,
    pub files: u64,
}

/// Something found in a walk.
#[derive(Clone, Debug)]
pub(crate) struct Found {
    /// The path from where the walk began.
    pub(crate) path: PathBuf,
    pub(crate) kind: Kind,
    pub(crate) stamp: Stamp,
    bytes_on_disk: u64,
}

/// What kind of thing was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    File {
        executable: bool,
    },
    Link,
    Directory,
    /// A pipe or socket, which holds nothing.
    Pipe,
    /// A device.
    Device,
}

/// What tells a file from a changed or another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Stamp {
    device: u64,
    inode: u64,
    pub(crate) size: u64,
    modified: (i64, i64),
    changed: (i64, i64),
}

impl Stamp {
    pub(crate) fn of(stat: &Stat) -> Self {
        // The widths of these fields differ between platforms.
        #[allow(
            clippy::unnecessary_cast,
            clippy::cast_sign_loss,
            reason = "the field types are the platform's"
        )]
        Self {
            device: stat.st_dev as u64,
            inode: stat.st_ino as u64,
            size: stat.st_size as u64,
            modified: (stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            changed: (stat.st_ctime as i64, stat.st_ctime_nsec as i64),
        }
    }
}

/// What to do after something was found.
pub(crate) enum Next {
    Into,
    Over,
}

/// Visits everything below `root`, directories before their contents.
pub(crate) fn walk(
    root: &Path,
    visit: &mut dyn FnMut(&Found) -> io::Result<Next>,
) -> io::Result<()> {
    walk_in(&hold(root)?, Path::new(""), 0, visit)
}

fn walk_in(
    dir: &OwnedFd,
    at: &Path,
    depth: usize,
    visit: &mut dyn FnMut(&Found) -> io::Result<Next>,
) -> io::Result<()> {
    if depth > DEPTH_MAX {
        return Err(io::Error::other("directories are nested too deeply"));
    }
    for entry in Dir::read_from(dir)? {
        let entry = entry?;
        let name = OsStr::from_bytes(entry.file_name().to_bytes());
        if name == "." || name == ".." {
            continue;
        }
        let stat = match rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW) {
            // Gone since the directory was read.
            Err(rustix::io::Errno::NOENT) => continue,
            other => other?,
        };
        let found = found(at.join(name), &stat);
        let next = visit(&found)?;
        if let (Kind::Directory, Next::Into) = (found.kind, next) {
            let inner = rustix::fs::openat(dir, name, DIRECTORY, Mode::empty())?;
            walk_in(&inner, &found.path, depth + 1, visit)?;
        }
    }
    Ok(())
}

fn found(path: PathBuf, stat: &Stat) -> Found {
    let kind = match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Kind::File {
            executable: stat.st_mode & 0o100 != 0,
        },
        FileType::Symlink => Kind::Link,
        FileType::Directory => Kind::Directory,
        FileType::Fifo | FileType::Socket => Kind::Pipe,
        _ => Kind::Device,
    };
    Found {
        path,
        kind,
        stamp: Stamp::of(stat),
        bytes_on_disk: u64::try_from(stat.st_blocks).unwrap_or(0) * 512,
    }
}

/// Adds up what lies below a directory; what cannot be read is not counted.
pub(crate) fn disk_use(root: &Path) -> DiskUse {
    let mut sum = DiskUse::default();
    walk(root, &mut |found| {
        sum.bytes += found.bytes_on_disk;
        sum.files += u64::from(found.kind != Kind::Directory);
        Ok(Next::Into)
    })
    .ok();
    sum
}

/// Runs something that waits for the disk where waiting harms nobody.
pub(crate) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> io::Result<T> {
    tokio::task::spawn_blocking(work)
        .await
        .unwrap_or_else(|error| Err(io::Error::other(error)))
}

impl WorktreeHandle {
    /// Adds up how much room the files of the worktree take.
    pub async fn disk_use(&self) -> Result<DiskUse, WorktreeError> {
        self.check()?;
        let path = self.paths.path.clone();
        let sum = blocking(move || Ok(disk_use(&path))).await;
        sum.map_err(|source| WorktreeError::Directory {
            path: self.paths.path.clone(),
            source,
        })
    }
}
