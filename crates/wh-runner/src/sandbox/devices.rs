//! A new `/dev` with only the devices that every program may expect.

use std::{
    os::fd::OwnedFd,
    path::{Path, PathBuf},
};

use rustix::{
    fs::CWD,
    mount::{MoveMountFlags, move_mount},
};

use super::{
    SetupError,
    mounts::{
        READ_ONLY, Reach, attach_new, clone_mount, make_mount_point, new_mount, set_attributes,
    },
    on,
};

/// Devices that every program may expect; all others stay out of reach, disks among them.
const DEVICES: &[&str] = &["null", "zero", "full", "random", "urandom", "tty"];

/// Symlinks that every program may expect in `/dev`.
const DEVICE_LINKS: &[(&str, &str)] = &[
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
    ("ptmx", "pts/ptmx"),
];

/// Where pseudo-terminals are.
const TERMINALS: &str = "/dev/pts";

/// The most that an agent can put into `/dev/shm`.
const SHARED_MEMORY_BYTES_MAX: &str = "1g";

/// The contents of a new `/dev`.
pub(super) struct Devices {
    nodes: Vec<(PathBuf, OwnedFd)>,
    terminals: OwnedFd,
}

impl Devices {
    /// Takes the usual devices from the machine's `/dev`, which is about to disappear.
    pub(super) fn prepare() -> Result<Self, SetupError> {
        let paths = DEVICES.iter().map(|name| Path::new("/dev").join(name));
        let nodes = paths.filter(|path| path.exists()).map(|path| {
            let node = clone_mount(&path)?;
            Ok((path, node))
        });
        let nodes = nodes.collect::<Result<_, SetupError>>()?;
        let options = [("mode", "0620"), ("ptmxmode", "0666")];
        let terminals = new_mount("devpts", &options).map_err(on("mount", Path::new(TERMINALS)))?;
        Ok(Self { nodes, terminals })
    }

    pub(super) fn attach(&self) -> Result<(), SetupError> {
        let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
        for (path, node) in &self.nodes {
            make_mount_point(path, false).map_err(on("make a mount point at", path))?;
            move_mount(node, "", CWD, path, flags).map_err(on("mount", path))?;
        }
        for (name, target) in DEVICE_LINKS {
            let path = Path::new("/dev").join(name);
            std::os::unix::fs::symlink(target, &path).map_err(on("link", &path))?;
        }
        let memory = [("mode", "1777"), ("size", SHARED_MEMORY_BYTES_MAX)];
        let path = Path::new("/dev/shm");
        let memory = new_mount("tmpfs", &memory).map_err(on("mount", path))?;
        attach_new(&memory, path)?;
        attach_new(&self.terminals, Path::new(TERMINALS))?;
        set_attributes(CWD, "/dev", READ_ONLY, Reach::Single)
            .map_err(on("make read-only", Path::new("/dev")))
    }
}
