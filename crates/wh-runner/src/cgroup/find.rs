//! Finds the cgroup that the server may manage.

use std::{
    fs, io,
    path::{Component, Path, PathBuf},
};

use crate::sandbox::Unsupported;

/// What the configuration says about cgroups.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CgroupSetting {
    /// The server's own cgroup, if systemd delegated it.
    #[default]
    Auto,
    /// None.
    Off,
    /// This directory of a cgroup v2 hierarchy.
    Directory(PathBuf),
}

impl CgroupSetting {
    /// Parses `auto`, `off` or an absolute path.
    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let path = Path::new(text);
        let is_plain =
            |part: Component<'_>| matches!(part, Component::RootDir | Component::Normal(_));
        match text {
            "auto" => Ok(Self::Auto),
            "off" => Ok(Self::Off),
            _ if path.is_absolute() && path.components().all(is_plain) => {
                Ok(Self::Directory(path.to_owned()))
            }
            _ => Err("must be \"auto\", \"off\" or the absolute path of a cgroup v2 directory"),
        }
    }
}

/// The leaf that holds the server and the runners. A unit's `DelegateSubgroup=` names it too.
pub(super) const SERVER: &str = "server";

/// Attributes by which systemd marks a cgroup that it leaves to somebody else.
const DELEGATED: &[&str] = &["user.delegate", "trusted.delegate"];

/// What to do to have a cgroup delegated.
pub(super) const DELEGATE: &str = "add `Delegate=memory pids cpu` and `DelegateSubgroup=server` to the server's systemd unit, or name a \
     cgroup v2 directory in `cgroup` of [containment]; `cgroup = \"off\"` turns this off";

/// The number by which a file system says that it is cgroup v2.
const CGROUP2_MAGIC: rustix::fs::FsWord = 0x6367_7270;

/// A mounted cgroup v2 hierarchy.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Mount {
    /// The cgroup that is visible at the mount point.
    root: PathBuf,
    point: PathBuf,
}

/// Returns the cgroup that systemd delegated to a process: its own, or the one above when it is in the leaf for servers.
pub(super) fn delegated_to(process: &str) -> Result<PathBuf, Unsupported> {
    let own = own_dir(process)?;
    let above = own.parent().filter(|_| own.ends_with(SERVER));
    let candidates = above.into_iter().chain([own.as_path()]);
    let mut delegated = candidates.filter(|dir| is_delegated(dir));
    let found = delegated.next().map(Path::to_owned);
    found.ok_or_else(|| Unsupported {
        reason: format!(
            "the server's cgroup {} is not delegated to it",
            own.display()
        ),
        remedy: DELEGATE.to_owned(),
    })
}

/// Returns the directory of a process's cgroup; `process` is `self` or a number.
pub(super) fn own_dir(process: &str) -> Result<PathBuf, Unsupported> {
    let read = |path: &str| {
        fs::read_to_string(path).map_err(|error| Unsupported {
            reason: format!("cannot read {path}: {error}"),
            remedy: "mount /proc, or set `cgroup = \"off\"` in [containment]".to_owned(),
        })
    };
    let missing = |reason: &str| {
        Unsupported {
        reason: reason.to_owned(),
        remedy: "boot with `systemd.unified_cgroup_hierarchy=1`, or set `cgroup = \"off\"` in [containment]".to_owned(),
    }
    };
    let table = read(&format!("/proc/{process}/cgroup"))?;
    let own = own_cgroup(&table).ok_or_else(|| missing("this kernel has no cgroup v2"))?;
    let mounts = mounts(&read("/proc/self/mountinfo")?);
    directory(&own, &mounts).ok_or_else(|| missing("no cgroup v2 hierarchy is mounted"))
}

/// Tells whether a directory is in a cgroup v2 hierarchy.
pub(super) fn is_cgroup2(dir: &Path) -> io::Result<bool> {
    Ok(rustix::fs::statfs(dir)?.f_type == CGROUP2_MAGIC)
}

fn is_delegated(dir: &Path) -> bool {
    DELEGATED.iter().any(|name| {
        let mut value = [0; 8];
        let length = rustix::fs::getxattr(dir, *name, &mut value);
        length.is_ok_and(|length| value.get(..length) == Some(b"1"))
    })
}

/// Returns the process's place in the cgroup v2 hierarchy from `/proc/self/cgroup`.
fn own_cgroup(table: &str) -> Option<PathBuf> {
    let path = table.lines().find_map(|line| line.strip_prefix("0::"))?;
    // A process whose cgroup lies outside of its cgroup namespace.
    let is_visible = !path.starts_with("/..") && !path.ends_with(" (deleted)");
    is_visible.then(|| PathBuf::from(path))
}

/// Returns the cgroup v2 mounts of `/proc/self/mountinfo`.
fn mounts(table: &str) -> Vec<Mount> {
    let mount = |line: &str| {
        let (fields, more) = line.split_once(" - ")?;
        let mut fields = fields.split(' ').skip(3);
        let (root, point) = (fields.next()?, fields.next()?);
        // The kernel escapes spaces in paths; such a mount is left out.
        let is_plain = !root.contains('\\') && !point.contains('\\');
        (more.split(' ').next() == Some("cgroup2") && is_plain).then(|| Mount {
            root: root.into(),
            point: point.into(),
        })
    };
    table.lines().filter_map(mount).collect()
}

/// Returns the directory at which a cgroup is visible.
fn directory(cgroup: &Path, mounts: &[Mount]) -> Option<PathBuf> {
    mounts.iter().find_map(|mount| {
        let below = cgroup.strip_prefix(&mount.root).ok()?;
        // Joining an empty path would add a slash.
        Some(match below.as_os_str().is_empty() {
            true => mount.point.clone(),
            false => mount.point.join(below),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HYBRID: &str = "\
36 31 0:33 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory
40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,name=systemd
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime shared:4 - cgroup2 cgroup2 rw,nsdelegate
";
    const UNIFIED: &str = "\
24 1 0:22 / /proc rw,nosuid - proc proc rw
30 23 0:26 / /sys/fs/cgroup rw,nosuid,nodev,noexec,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate,memory_recursiveprot
";
    /// A container that sees its own part of the hierarchy.
    const BOUND: &str = "\
50 40 0:26 /machine/box /sys/fs/cgroup ro,nosuid - cgroup2 cgroup rw
";

    #[test]
    fn the_place_in_the_hierarchy_is_the_entry_without_a_controller() {
        let hybrid =
            "8:pids:/\n4:memory:/a/b\n1:name=systemd:/x\n0::/system.slice/wheelhouse.service\n";
        let place = own_cgroup(hybrid).unwrap();
        assert_eq!(place, Path::new("/system.slice/wheelhouse.service"));
        assert_eq!(own_cgroup("0::/\n"), Some("/".into()));
        assert_eq!(own_cgroup("4:memory:/a\n"), None);
        assert_eq!(own_cgroup("0::/../other\n"), None);
        assert_eq!(own_cgroup("0::/gone (deleted)\n"), None);
    }

    #[test]
    fn the_directory_is_found_in_every_layout() {
        let find = |cgroup: &str, table: &str| directory(cgroup.as_ref(), &mounts(table));
        assert_eq!(
            find("/a/b", HYBRID).unwrap(),
            Path::new("/sys/fs/cgroup/unified/a/b")
        );
        assert_eq!(
            find("/", HYBRID).unwrap().as_os_str(),
            "/sys/fs/cgroup/unified"
        );
        assert_eq!(find("/a", UNIFIED).unwrap(), Path::new("/sys/fs/cgroup/a"));
        assert_eq!(
            find("/machine/box/x", BOUND).unwrap(),
            Path::new("/sys/fs/cgroup/x")
        );
        assert_eq!(find("/machine/other", BOUND), None);
        assert_eq!(find("/", ""), None);
        let escaped = "41 31 0:38 / /sys/fs/c\\040group rw - cgroup2 cgroup2 rw\n";
        assert_eq!(find("/", escaped), None);
    }

    #[test]
    fn the_setting_is_a_word_or_an_absolute_path() {
        assert_eq!(CgroupSetting::parse("auto"), Ok(CgroupSetting::Auto));
        assert_eq!(CgroupSetting::parse("off"), Ok(CgroupSetting::Off));
        let dir = "/sys/fs/cgroup/wheelhouse";
        assert_eq!(
            CgroupSetting::parse(dir),
            Ok(CgroupSetting::Directory(dir.into()))
        );
        for wrong in ["", "on", "wheelhouse", "./x", "/sys/fs/cgroup/../x"] {
            assert!(CgroupSetting::parse(wrong).is_err(), "{wrong}");
        }
    }
}
