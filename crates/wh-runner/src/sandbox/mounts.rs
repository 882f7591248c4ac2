//! The file system as an agent sees it, built in a mount namespace of its own.
//!
//! Everything that stays visible is first cloned as a detached mount, from the file system as it was. Then the whole tree becomes
//! read-only, and the layers are attached in the order of [`super::order`].

use std::{
    fs::{self, File},
    io,
    os::{fd::OwnedFd, unix::fs::PermissionsExt},
    path::{Path, PathBuf},
};

use rustix::{
    fs::{CWD, Mode, OFlags, openat},
    mount::{
        FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, OpenTreeFlags, fsconfig_create,
        fsconfig_set_flag, fsconfig_set_string, fsmount, fsopen, move_mount, open_tree,
    },
};

use super::{
    SetupError,
    devices::Devices,
    on,
    order::{Content, Layer, layers},
    spec::{Home, Root, Sandbox},
};

/// A mount that is ready to be attached.
struct Prepared {
    target: PathBuf,
    mount: OwnedFd,
    kind: Kind,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// A file or directory as it is.
    Plain { is_dir: bool },
    /// An empty directory, read-only in the end. Mounts below it get their mount points in it.
    Mask,
    /// A new `/dev`.
    Devices,
}

/// Builds the file system of a sandbox around the calling process.
pub(super) fn build(sandbox: &Sandbox) -> Result<(), SetupError> {
    let (mut prepared, mut links) = (Vec::new(), Vec::new());
    for layer in layers(sandbox) {
        let source = layer.source.as_ref().unwrap_or(&layer.target);
        // What is not there needs no mount: in a read-only tree it cannot come to be, and in the home layer it is the agent's own.
        match fs::symlink_metadata(source) {
            Ok(found) if found.is_symlink() => {
                let target = fs::read_link(source).map_err(on("read", source))?;
                links.push((layer.target, target));
            }
            Ok(_) => prepared.extend(prepare(sandbox, &layer)?),
            Err(_) => {}
        }
    }
    let devices = Devices::prepare()?;
    // Made while the machine's own is visible: without that, the kernel refuses it to everyone but root.
    let proc = new_proc()?;
    match sandbox.root {
        Root::Whole => set_attributes(CWD, "/", READ_ONLY, Reach::Recursive)
            .map_err(on("make read-only", Path::new("/")))?,
        Root::Built => {
            enter_empty_root()?;
            for (path, target) in links {
                create_link(&path, &target).map_err(on("link", &path))?;
            }
        }
    }
    let mut masks = Vec::new();
    for layer in &prepared {
        attach(layer)?;
        match layer.kind {
            Kind::Devices => devices.attach()?,
            Kind::Mask => masks.push(layer),
            Kind::Plain { .. } => {}
        }
    }
    for mask in masks {
        set_attributes(&mask.mount, "", READ_ONLY, Reach::Single)
            .map_err(on("make read-only", &mask.target))?;
    }
    attach_proc(&proc)?;
    if sandbox.root == Root::Built {
        set_attributes(CWD, "/", READ_ONLY, Reach::Single)
            .map_err(on("make read-only", Path::new("/")))?;
    }
    Ok(())
}

/// Replaces the whole file system by an empty one. Mounts that were cloned before can be attached to it.
fn enter_empty_root() -> Result<(), SetupError> {
    let failed = |error: io::Error| SetupError::new("enter an empty root", error);
    // Any directory will do: it disappears together with everything else.
    let place = Path::new("/tmp");
    let root = new_mount("tmpfs", &[("mode", "0755"), ("size", "4m")])
        .map_err(|error| failed(error.into()))?;
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
    move_mount(&root, "", CWD, place, flags).map_err(|error| failed(error.into()))?;
    std::env::set_current_dir(place).map_err(failed)?;
    nix::unistd::pivot_root(".", ".").map_err(|error| failed(error.into()))?;
    // The old root lies over the new one now.
    nix::mount::umount2(".", nix::mount::MntFlags::MNT_DETACH)
        .map_err(|error| failed(error.into()))?;
    std::env::set_current_dir("/").map_err(failed)
}

/// Creates a symlink in a built root as it is on the machine or in the image: `/bin` leads to `/usr/bin`.
fn create_link(path: &Path, target: &Path) -> io::Result<()> {
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    std::os::unix::fs::symlink(target, path)
}

fn prepare(sandbox: &Sandbox, layer: &Layer) -> Result<Vec<Prepared>, SetupError> {
    let target = layer.target.clone();
    let source = layer.source.as_ref().unwrap_or(&layer.target);
    let is_dir = source.is_dir();
    let plain = |mount| Prepared {
        target: target.clone(),
        mount,
        kind: Kind::Plain { is_dir },
    };
    Ok(match (layer.content, &sandbox.home) {
        (Content::Home, Some(home)) if sandbox.root == Root::Built => {
            vec![plain(clone_mount(&home.layer)?)]
        }
        (Content::Home, Some(home)) => {
            let mut layers = vec![plain(home_layer(home)?)];
            for below in mounts_below(&home.path)? {
                let mount = read_only_clone(&below)?;
                let kind = Kind::Plain {
                    is_dir: below.is_dir(),
                };
                layers.push(Prepared {
                    target: below,
                    mount,
                    kind,
                });
            }
            layers
        }
        (Content::Home, None) => Vec::new(),
        (Content::Hidden, _) if is_dir => {
            let mount = new_mount("tmpfs", &[("mode", "0755"), ("size", "1m")])
                .map_err(on("hide", &target))?;
            vec![Prepared {
                target,
                mount,
                kind: Kind::Mask,
            }]
        }
        (Content::Hidden, _) => vec![plain(clone_mount(Path::new("/dev/null"))?)],
        (Content::Tmp, _) => vec![plain(clone_mount(&sandbox.tmp)?)],
        (Content::Devices, _) => {
            let mount = new_mount("tmpfs", &[("mode", "0755"), ("size", "64k")])
                .map_err(on("replace", &target))?;
            vec![Prepared {
                target,
                mount,
                kind: Kind::Devices,
            }]
        }
        (Content::ReadOnly | Content::Protected, _) => vec![plain(read_only_clone(source)?)],
        (Content::Writable, _) => vec![plain(clone_mount(source)?)],
    })
}

fn attach(layer: &Prepared) -> Result<(), SetupError> {
    let target = &layer.target;
    if !target.exists() {
        let is_dir = layer.kind != Kind::Plain { is_dir: false };
        make_mount_point(target, is_dir).map_err(on("make a mount point at", target))?;
    }
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
    move_mount(&layer.mount, "", CWD, target, flags).map_err(on("mount", target))
}

pub(super) fn make_mount_point(target: &Path, is_dir: bool) -> io::Result<()> {
    if let Some(parent) = target.parent() {
        fs::create_dir_all(parent)?;
    }
    if is_dir {
        fs::create_dir(target)
    } else {
        File::create_new(target).map(drop)
    }
}

/// Attaches a new mount where nothing is yet.
pub(super) fn attach_new(mount: &OwnedFd, path: &Path) -> Result<(), SetupError> {
    make_mount_point(path, true).map_err(on("make a mount point at", path))?;
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
    move_mount(mount, "", CWD, path, flags).map_err(on("mount", path))
}

/// Returns the home directory as a layer over the user's own, which stays as it is.
fn home_layer(home: &Home) -> Result<OwnedFd, SetupError> {
    let failed = |error: io::Error| {
        SetupError::new(
            format!("make a private layer over {}", home.path.display()),
            error,
        )
    };
    let (upper, work) = (home.layer.join("upper"), home.layer.join("work"));
    let mode = fs::metadata(&home.path)
        .map_err(failed)?
        .permissions()
        .mode()
        & 0o7777;
    for dir in [&upper, &work] {
        fs::create_dir_all(dir).map_err(failed)?;
    }
    fs::set_permissions(&upper, fs::Permissions::from_mode(mode)).map_err(failed)?;
    let context =
        fsopen("overlay", FsOpenFlags::FSOPEN_CLOEXEC).map_err(|error| failed(error.into()))?;
    let set = |key: &str, path: &Path| {
        fsconfig_set_string(&context, key, escape(path)).map_err(|error| failed(error.into()))
    };
    set("lowerdir", &home.path)?;
    set("upperdir", &upper)?;
    set("workdir", &work)?;
    if !rustix::process::geteuid().is_root() {
        fsconfig_set_flag(&context, "userxattr").map_err(|error| failed(error.into()))?;
    }
    let mount = fsconfig_create(&context)
        .and_then(|()| fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, NO_SETUID));
    mount.map_err(|error| failed(error.into()))
}

/// Escapes the characters that separate directories in an option of overlayfs.
fn escape(path: &Path) -> Vec<u8> {
    use std::os::unix::ffi::OsStrExt;
    let mut escaped = Vec::new();
    for &byte in path.as_os_str().as_bytes() {
        if matches!(byte, b'\\' | b':' | b',') {
            escaped.push(b'\\');
        }
        escaped.push(byte);
    }
    escaped
}

/// Lists what else is mounted below a directory: a layer over it does not show that.
fn mounts_below(dir: &Path) -> Result<Vec<PathBuf>, SetupError> {
    let table = Path::new("/proc/self/mountinfo");
    let text = fs::read_to_string(table).map_err(on("read", table))?;
    let points = text.lines().filter_map(|line| line.split(' ').nth(4));
    // The kernel escapes spaces; such a mount is left out.
    let points = points
        .filter(|point| !point.contains('\\'))
        .map(PathBuf::from);
    let below = points.filter(|point| point != dir && point.starts_with(dir) && point.exists());
    Ok(below.collect())
}

pub(super) fn clone_mount(path: &Path) -> Result<OwnedFd, SetupError> {
    let flags = OpenTreeFlags::OPEN_TREE_CLONE
        | OpenTreeFlags::OPEN_TREE_CLOEXEC
        | OpenTreeFlags::AT_RECURSIVE
        | OpenTreeFlags::AT_SYMLINK_NOFOLLOW;
    open_tree(CWD, path, flags).map_err(on("keep", path))
}

fn read_only_clone(path: &Path) -> Result<OwnedFd, SetupError> {
    let mount = clone_mount(path)?;
    set_attributes(&mount, "", READ_ONLY, Reach::Recursive).map_err(on("make read-only", path))?;
    Ok(mount)
}

pub(super) fn new_mount(kind: &str, options: &[(&str, &str)]) -> rustix::io::Result<OwnedFd> {
    let context = fsopen(kind, FsOpenFlags::FSOPEN_CLOEXEC)?;
    for (key, value) in options {
        fsconfig_set_string(&context, *key, *value)?;
    }
    fsconfig_create(&context)?;
    fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, NO_SETUID)
}

/// Returns a `/proc` that shows the processes of this PID namespace only, read-only: root without capabilities could still change
/// settings of the kernel through it.
fn new_proc() -> Result<OwnedFd, SetupError> {
    let path = Path::new("/proc");
    let mount = new_mount("proc", &[]).map_err(on("mount", path))?;
    set_attributes(&mount, "", READ_ONLY, Reach::Single).map_err(on("make read-only", path))?;
    Ok(mount)
}

fn attach_proc(mount: &OwnedFd) -> Result<(), SetupError> {
    let path = Path::new("/proc");
    if !path.exists() {
        make_mount_point(path, true).map_err(on("make a mount point at", path))?;
    }
    // Opened before the old one is covered, so that no path is resolved through it afterwards.
    let target = openat(CWD, path, OFlags::PATH | OFlags::CLOEXEC, Mode::empty())
        .map_err(on("open", path))?;
    let flags = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH | MoveMountFlags::MOVE_MOUNT_T_EMPTY_PATH;
    move_mount(mount, "", &target, "", flags).map_err(on("mount", path))
}

const NO_SETUID: MountAttrFlags = MountAttrFlags::MOUNT_ATTR_NOSUID;
pub(super) const READ_ONLY: u64 = libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOSUID;

/// Whether a change of attributes concerns the mounts below too.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    Single,
    Recursive,
}

/// Sets attributes of a mount. rustix has no wrapper for this call.
#[expect(unsafe_code, reason = "mount_setattr has no safe wrapper yet")]
pub(super) fn set_attributes(
    dir: impl std::os::fd::AsFd,
    path: &str,
    attributes: u64,
    reach: Reach,
) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    let path = std::ffi::CString::new(path).map_err(io::Error::other)?;
    let attributes = libc::mount_attr {
        attr_set: attributes,
        attr_clr: 0,
        propagation: 0,
        userns_fd: 0,
    };
    let mut flags = libc::AT_EMPTY_PATH;
    if reach == Reach::Recursive {
        flags |= libc::AT_RECURSIVE;
    }
    // SAFETY: the path is a C string and the attributes are a struct of the size given; both outlive the call, which only reads.
    let result = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            dir.as_fd().as_raw_fd(),
            path.as_ptr(),
            flags,
            &raw const attributes,
            size_of::<libc::mount_attr>(),
        )
    };
    match result {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}
