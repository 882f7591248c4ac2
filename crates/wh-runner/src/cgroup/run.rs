//! The cgroup of one run.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
};

use super::{
    controllers::Controllers,
    events::{LimitEvents, is_populated},
    prepare::CONTROLLERS,
};
use crate::spec::Resources;

/// The file that lists a cgroup's processes and takes new ones.
const PROCESSES: &str = "cgroup.procs";

/// A run's cgroup, which holds the agent's process tree.
#[derive(Debug)]
pub(crate) struct RunCgroup {
    dir: PathBuf,
    controllers: Controllers,
}

impl RunCgroup {
    /// Creates the cgroup and sets its limits. A limit that cannot be set is left to the runner's watch.
    pub(crate) fn create(dir: &Path, resources: &Resources) -> io::Result<Self> {
        fs::create_dir(dir)?;
        let mut cgroup = Self::open(dir)?;
        let mut failed = Vec::new();
        for (controller, file, value) in cgroup.controllers.limits(resources) {
            if let Err(error) = write(&dir.join(file), &value) {
                tracing::warn!(file, %error, "cannot set a limit of the run's cgroup");
                failed.push(controller);
            }
        }
        if cgroup.controllers.memory && resources.memory_bytes.is_some() {
            // Otherwise an agent at its limit would slow the machine down by swapping. Not every kernel has the file.
            write(&dir.join("memory.swap.max"), "0").ok();
        }
        cgroup.controllers = cgroup
            .controllers
            .without(Controllers::parse(&failed.join(" ")));
        Ok(cgroup)
    }

    /// Opens a cgroup that exists.
    pub(crate) fn open(dir: &Path) -> io::Result<Self> {
        let list = fs::read_to_string(dir.join(CONTROLLERS))?;
        Ok(Self {
            dir: dir.to_owned(),
            controllers: Controllers::parse(&list),
        })
    }

    /// Returns the controllers that enforce this run's limits.
    pub(crate) fn controllers(&self) -> Controllers {
        self.controllers
    }

    /// Returns which limits were reached since the cgroup was created.
    pub(crate) fn limit_events(&self) -> LimitEvents {
        LimitEvents::read(&self.dir)
    }

    /// Returns the processes in it and below.
    pub(crate) fn processes(&self) -> Vec<u32> {
        let dirs = subtree(&self.dir);
        dirs.iter().flat_map(|dir| processes(dir)).collect()
    }

    /// Tells whether any process lives in it or below.
    pub(crate) fn is_populated(&self) -> bool {
        let events = fs::read_to_string(self.dir.join("cgroup.events"));
        events.is_ok_and(|events| is_populated(&events))
    }

    /// Kills every process in it and below, also those that are being forked.
    pub(crate) fn kill(&self) {
        if let Err(error) = write(&self.dir.join("cgroup.kill"), "1")
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(cgroup = %self.dir.display(), %error, "cannot kill a cgroup");
        }
    }

    /// Removes it together with what is below. It has to be empty.
    pub(crate) fn remove(&self) {
        for dir in subtree(&self.dir).iter().rev() {
            if let Err(error) = fs::remove_dir(dir)
                && error.kind() != io::ErrorKind::NotFound
            {
                tracing::warn!(cgroup = %dir.display(), %error, "cannot remove a cgroup");
            }
        }
    }
}

/// Moves the calling process into a cgroup.
pub(crate) fn join(dir: &Path) -> io::Result<()> {
    // The kernel takes 0 for the process that writes.
    write(&dir.join(PROCESSES), "0")
}

/// Returns the processes of one cgroup, without those below.
pub(super) fn processes(dir: &Path) -> Vec<u32> {
    let list = fs::read_to_string(dir.join(PROCESSES)).unwrap_or_default();
    list.lines().filter_map(|pid| pid.parse().ok()).collect()
}

/// Writes to a file that the kernel has created.
pub(super) fn write(path: &Path, text: &str) -> io::Result<()> {
    File::options()
        .write(true)
        .open(path)?
        .write_all(text.as_bytes())
}

/// Returns a directory and all below it, from the top down.
fn subtree(dir: &Path) -> Vec<PathBuf> {
    let mut dirs = vec![dir.to_owned()];
    let mut next = 0;
    while let Some(dir) = dirs.get(next) {
        let entries = fs::read_dir(dir).into_iter().flatten().flatten();
        let below = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        let below: Vec<_> = below.map(|entry| entry.path()).collect();
        dirs.extend(below);
        next += 1;
    }
    dirs
}
