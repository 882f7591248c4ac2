//! Opening files beneath a held directory, never through a link and never outside.

use std::{
    ffi::OsStr,
    io,
    os::fd::{AsFd, OwnedFd},
    path::{Component, Path},
};

use rustix::fs::{Mode, OFlags};

/// Flags for holding a directory.
pub(crate) const DIRECTORY: OFlags = OFlags::DIRECTORY
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC)
    .union(OFlags::RDONLY);

/// Holds a directory; a link in its place is refused.
pub(crate) fn hold(path: &Path) -> io::Result<OwnedFd> {
    Ok(rustix::fs::open(path, DIRECTORY, Mode::empty())?)
}

/// Opens `path` beneath `root`. No part of it may be a link, absolute or `..`.
pub(crate) fn open_beneath(root: impl AsFd, path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    if path.as_os_str().is_empty() {
        return Ok(rustix::fs::openat(&root, ".", DIRECTORY, Mode::empty())?);
    }
    if !path.components().all(|c| matches!(c, Component::Normal(_))) {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let flags = flags | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    #[cfg(target_os = "linux")]
    {
        use rustix::fs::ResolveFlags;
        let resolve = ResolveFlags::BENEATH
            | ResolveFlags::NO_SYMLINKS
            | ResolveFlags::NO_MAGICLINKS
            | ResolveFlags::NO_XDEV;
        match rustix::fs::openat2(&root, path, flags, Mode::empty(), resolve) {
            // Old kernels and some sandboxes do not have the call.
            Err(rustix::io::Errno::NOSYS | rustix::io::Errno::PERM) => {}
            other => return Ok(other?),
        }
    }
    open_by_steps(root, path, flags)
}

/// The portable way: one component at a time, none of which may be a link.
fn open_by_steps(root: impl AsFd, path: &Path, flags: OFlags) -> io::Result<OwnedFd> {
    let mut held = rustix::fs::openat(&root, ".", DIRECTORY, Mode::empty())?;
    let (parent, name) = split(path)?;
    for part in parent.components() {
        held = rustix::fs::openat(&held, part.as_os_str(), DIRECTORY, Mode::empty())?;
    }
    Ok(rustix::fs::openat(&held, name, flags, Mode::empty())?)
}

/// Holds the directory that contains `path` and returns it with the last name.
pub(crate) fn parent_beneath(root: impl AsFd, path: &Path) -> io::Result<(OwnedFd, &OsStr)> {
    let (parent, name) = split(path)?;
    Ok((open_beneath(root, parent, DIRECTORY)?, name))
}

fn split(path: &Path) -> io::Result<(&Path, &OsStr)> {
    match (path.parent(), path.file_name()) {
        (Some(parent), Some(name)) => Ok((parent, name)),
        _ => Err(io::ErrorKind::InvalidInput.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_and_ways_out_are_refused_both_ways() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(dir.path().join("in/deep")).unwrap();
        std::fs::write(dir.path().join("secret"), "x").unwrap();
        std::fs::write(dir.path().join("in/deep/file"), "x").unwrap();
        std::os::unix::fs::symlink("..", dir.path().join("in/up")).unwrap();
        std::os::unix::fs::symlink("../secret", dir.path().join("in/link")).unwrap();
        let root = hold(&dir.path().join("in")).unwrap();
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW;
        assert!(open_beneath(&root, Path::new("deep/file"), flags).is_ok());
        assert!(open_by_steps(&root, Path::new("deep/file"), flags).is_ok());
        for bad in ["up/secret", "link", "../secret", "/etc/passwd"] {
            assert!(open_beneath(&root, Path::new(bad), flags).is_err(), "{bad}");
            if !bad.starts_with(['.', '/']) {
                assert!(
                    open_by_steps(&root, Path::new(bad), flags).is_err(),
                    "{bad}"
                );
            }
        }
        assert!(hold(&dir.path().join("in/up")).is_err());
    }
}
