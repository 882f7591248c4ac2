//! Deleting files one by one under held descriptors.

use std::{
    io,
    os::fd::{AsFd, OwnedFd},
    path::{Path, PathBuf},
};

use rustix::fs::AtFlags;

use crate::{
    beneath::{hold, parent_beneath},
    walk::{Found, Kind, Next, Stamp, walk},
};

/// Deletes a file if it is still the one that was seen. One that is gone already is fine; a changed one is an error.
pub(crate) fn erase_file(root: impl AsFd, path: &Path, seen: &Stamp) -> io::Result<()> {
    let (parent, name) = match parent_beneath(root, path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        other => other?,
    };
    match rustix::fs::statat(&parent, name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(rustix::io::Errno::NOENT) => return Ok(()),
        Ok(now) if Stamp::of(&now) == *seen => {}
        Ok(_) => return Err(io::Error::other(Changed(path.to_owned()))),
        Err(error) => return Err(error.into()),
    }
    Ok(rustix::fs::unlinkat(&parent, name, AtFlags::empty())?)
}

/// Deletes a directory if it is empty. One that is gone already is fine.
pub(crate) fn erase_directory(root: impl AsFd, path: &Path) -> io::Result<()> {
    let (parent, name) = match parent_beneath(root, path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        other => other?,
    };
    match rustix::fs::unlinkat(&parent, name, AtFlags::REMOVEDIR) {
        Ok(()) | Err(rustix::io::Errno::NOENT) => Ok(()),
        Err(rustix::io::Errno::NOTEMPTY | rustix::io::Errno::EXIST) => {
            Err(io::Error::other(Changed(path.to_owned())))
        }
        Err(error) => Err(error.into()),
    }
}

/// Deletes an empty directory by its full path; its parent must not be a link.
pub(crate) fn erase_root(path: &Path) -> io::Result<()> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let parent: OwnedFd = hold(parent)?;
    erase_directory(&parent, Path::new(name))
}

/// Deletes a directory that this process has made, with all that is in it.
///
/// Only for undoing a creation: whatever else is deleted goes through a manifest of what was saved.
pub(crate) fn erase(path: &Path) -> io::Result<()> {
    let mut all: Vec<Found> = Vec::new();
    walk(path, &mut |found| {
        all.push(found.clone());
        Ok(Next::Into)
    })?;
    let root = hold(path)?;
    for found in all.iter().rev() {
        match found.kind {
            Kind::Directory => erase_directory(&root, &found.path)?,
            _ => erase_file(&root, &found.path, &found.stamp)?,
        }
    }
    erase_root(path)
}

/// A file is not any more what it was when it was saved.
#[derive(Debug, thiserror::Error)]
#[error("{0} changed while the worktree was being removed")]
pub(crate) struct Changed(pub(crate) PathBuf);
