//! Prepares the cgroup below which every run gets its own.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use super::{
    controllers::Controllers,
    find::{CgroupSetting, DELEGATE, SERVER, delegated_to, is_cgroup2, own_dir},
    run::{RunCgroup, join, processes, write},
};
use crate::sandbox::Unsupported;

/// Begins the name of a run's cgroup; the run's tag follows.
const RUN: &str = "run-";

/// The file that lists the controllers a cgroup has.
pub(super) const CONTROLLERS: &str = "cgroup.controllers";
/// The file that lists the controllers that the cgroups below have.
const ENABLED: &str = "cgroup.subtree_control";

/// The cgroup that the server manages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cgroups {
    base: PathBuf,
    controllers: Controllers,
}

impl Cgroups {
    /// Finds the cgroup that the server may manage, moves the server into a leaf of it where it has to, enables the controllers and
    /// tries what a run will do. Returns nothing when the setting turns cgroups off.
    ///
    /// It blocks for some milliseconds, and moves all threads of the calling process.
    pub fn prepare(setting: &CgroupSetting) -> Result<Option<Self>, Unsupported> {
        let base = match setting {
            CgroupSetting::Off => return Ok(None),
            CgroupSetting::Auto => delegated_to("self")?,
            CgroupSetting::Directory(dir) => configured(dir)?,
        };
        if own_dir("self").is_ok_and(|own| own == base) {
            enter_leaf(&base)?;
        }
        let controllers = enable(&base)?;
        probe(&base)?;
        Ok(Some(Self { base, controllers }))
    }

    pub fn base(&self) -> &Path {
        &self.base
    }

    /// Returns the controllers that enforce limits. Without any, runs still get cgroups, which hold their processes together.
    pub fn controllers(&self) -> Controllers {
        self.controllers
    }

    /// Returns the directory of the cgroup of the run with this tag.
    pub fn run_dir(&self, tag: &str) -> PathBuf {
        self.base.join(format!("{RUN}{tag}"))
    }

    /// Returns the tags of all runs that have a cgroup, including those of other servers that share the parent cgroup.
    pub fn run_tags(&self) -> Vec<String> {
        let entries = fs::read_dir(&self.base).into_iter().flatten().flatten();
        let tag =
            |entry: fs::DirEntry| Some(entry.file_name().to_str()?.strip_prefix(RUN)?.to_owned());
        entries.filter_map(tag).collect()
    }
}

/// Returns the cgroups that a server uses, without changing anything. `server` is the process id of a running server.
pub fn inspect(
    setting: &CgroupSetting,
    server: Option<u32>,
) -> Result<Option<Cgroups>, Unsupported> {
    let (base, list) = match (setting, server) {
        (CgroupSetting::Off, _) => return Ok(None),
        (CgroupSetting::Auto, Some(server)) => {
            let base = delegated_to(&server.to_string())?;
            if own_dir(&server.to_string())? == base {
                return Err(unsupported(
                    format!("the server could not prepare the cgroup {}", base.display()),
                    "see the server's log for the reason",
                ));
            }
            (base, ENABLED)
        }
        (CgroupSetting::Auto, None) => (delegated_to("self")?, CONTROLLERS),
        (CgroupSetting::Directory(dir), Some(_)) => (dir.clone(), ENABLED),
        (CgroupSetting::Directory(dir), None) => (dir.clone(), CONTROLLERS),
    };
    // The next start creates a configured directory, which then has the controllers that the one above gives it.
    let (read_from, list) = match (base.exists(), base.parent()) {
        (false, Some(above)) => (above, ENABLED),
        _ => (base.as_path(), list),
    };
    let found = is_cgroup2(read_from).and_then(|is_cgroup2| match is_cgroup2 {
        true => read(read_from, list),
        false => Err(io::Error::other("it is not in a cgroup v2 hierarchy")),
    });
    let controllers = found.map_err(|error| cannot("use", &base, &error))?;
    Ok(Some(Cgroups { base, controllers }))
}

/// Checks a configured directory, and creates it when only the last part is missing: the hierarchy is empty after a boot.
fn configured(dir: &Path) -> Result<PathBuf, Unsupported> {
    let existing = match dir.exists() {
        true => Some(dir),
        false => dir.parent(),
    };
    let is_cgroup2 = existing.map_or(Ok(false), is_cgroup2);
    if !is_cgroup2.map_err(|error| cannot("find", dir, &error))? {
        return Err(unsupported(
            format!("{} is not in a cgroup v2 hierarchy", dir.display()),
            "name a directory below a mount of type cgroup2 (`findmnt -t cgroup2`)",
        ));
    }
    match fs::create_dir(dir) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            return Err(cannot("create", dir, &error));
        }
        _ => {}
    }
    let dir = dir
        .canonicalize()
        .map_err(|error| cannot("find", dir, &error))?;
    // Every cgroup but the root of the hierarchy has a type.
    if !dir.join("cgroup.type").exists() {
        return Err(unsupported(
            format!("{} is the root of the cgroup hierarchy", dir.display()),
            "name a directory below it",
        ));
    }
    Ok(dir)
}

/// Moves this process into a leaf: a cgroup with processes of its own cannot give controllers to the cgroups below it.
fn enter_leaf(base: &Path) -> Result<(), Unsupported> {
    let own = std::process::id();
    let others: Vec<_> = processes(base)
        .into_iter()
        .filter(|pid| *pid != own)
        .collect();
    if !others.is_empty() {
        return Err(busy(base, &others));
    }
    let leaf = base.join(SERVER);
    match fs::create_dir(&leaf) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            return Err(cannot("create", &leaf, &error));
        }
        _ => {}
    }
    join(&leaf).map_err(|error| cannot("move the server into", &leaf, &error))?;
    tracing::info!(
        cgroup = %leaf.display(),
        "moved the server into a cgroup of its own; set `DelegateSubgroup=server` in its systemd unit (systemd 254), or systemd cannot \
         restart it while agents run"
    );
    Ok(())
}

/// Enables the controllers that exist for the cgroups of runs, and returns those that are enabled then.
fn enable(base: &Path) -> Result<Controllers, Unsupported> {
    let read = |list| read(base, list).map_err(|error| cannot("read", base, &error));
    let missing = read(CONTROLLERS)?.without(read(ENABLED)?);
    for name in missing.names() {
        let Err(error) = write(&base.join(ENABLED), &format!("+{name}")) else {
            continue;
        };
        match error.raw_os_error() {
            Some(libc::EBUSY) => return Err(busy(base, &processes(base))),
            Some(libc::EACCES | libc::EPERM | libc::EROFS) => {
                return Err(cannot("enable controllers in", base, &error));
            }
            // Such as `cpu` while realtime processes run. Its limit is kept in the other way.
            _ => tracing::warn!(controller = name, %error, "cannot enable a cgroup controller"),
        }
    }
    read(ENABLED)
}

/// Tries what a run does: creates a cgroup and has the helper move into it.
fn probe(base: &Path) -> Result<(), Unsupported> {
    let dir = base.join(format!("probe-{}", std::process::id()));
    // A server that was killed meanwhile may have left one, and numbers are used again.
    if let Ok(left) = RunCgroup::open(&dir) {
        left.remove();
    }
    let cgroup = RunCgroup::create(&dir, &crate::Resources::default())
        .map_err(|error| cannot("create a cgroup in", base, &error))?;
    let tried = try_in(&dir);
    cgroup.remove();
    tried
}

fn try_in(dir: &Path) -> Result<(), Unsupported> {
    if !dir.join("cgroup.kill").exists() {
        return Err(unsupported(
            "this kernel cannot kill a cgroup".to_owned(),
            "use Linux 5.14 or newer, or set `cgroup = \"off\"` in [containment]",
        ));
    }
    let mut command = crate::process::self_command();
    let output = command.arg("probe-cgroup").arg(dir).output();
    let output = output.map_err(|error| cannot("move a process into", dir, &error))?;
    match output.status.success() {
        true => Ok(()),
        false => {
            let said = String::from_utf8_lossy(&output.stderr);
            Err(cannot(
                "move a process into",
                dir,
                &io::Error::other(said.trim().to_owned()),
            ))
        }
    }
}

/// Is the process that tries.
pub(crate) fn probe_child(dir: &Path) -> io::Result<()> {
    join(dir)
}

fn read(base: &Path, list: &str) -> io::Result<Controllers> {
    fs::read_to_string(base.join(list)).map(|list| Controllers::parse(&list))
}

fn busy(base: &Path, others: &[u32]) -> Unsupported {
    let others: Vec<_> = others.iter().map(ToString::to_string).collect();
    unsupported(
        format!(
            "other processes are in the cgroup {}: {}",
            base.display(),
            others.join(", ")
        ),
        "move them into a cgroup below it (`DelegateSubgroup=server` does so for a systemd unit, from systemd 254 on)",
    )
}

fn cannot(doing: &str, dir: &Path, error: &io::Error) -> Unsupported {
    let remedy = match error.raw_os_error() {
        Some(libc::EACCES | libc::EPERM) => {
            "give the directory, its cgroup.procs and its cgroup.subtree_control to the server's user, and start the server inside of it; \
             `Delegate=` in a systemd unit does both"
        }
        Some(libc::EROFS) => {
            "mount the hierarchy writable, or set `cgroup = \"off\"` in [containment]"
        }
        _ => DELEGATE,
    };
    unsupported(format!("cannot {doing} {}: {error}", dir.display()), remedy)
}

fn unsupported(reason: String, remedy: &str) -> Unsupported {
    Unsupported {
        reason,
        remedy: remedy.to_owned(),
    }
}
