//! Watches what an agent's processes use, and tells when a limit is reached.
//!
//! The kernel enforces the limits on open files and file sizes, and those on memory and processes where the run's cgroup has the
//! controllers; then only its counters are read. Everything else is looked at: often while a turn runs, seldom while the agent is idle.

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use tokio::task::JoinHandle;

use crate::{
    cgroup::{LimitEvents, RunCgroup, threads_max},
    process::{self, TreeUse},
    spec::Resources,
};

/// How often memory and processes are looked at while a turn runs.
const CHECK_EVERY: Duration = Duration::from_millis(250);
/// The same while the agent is idle.
const CHECK_IDLE_EVERY: Duration = Duration::from_secs(5);
/// How often the disk is looked at, at most. Walking a large directory takes its time, of which this is a twentieth at most.
const DISK_EVERY: Duration = Duration::from_secs(10);

/// A limit that was reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Reached {
    pub(super) what: &'static str,
    pub(super) used: u64,
    pub(super) limit: u64,
}

impl std::fmt::Display for Reached {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { what, used, limit } = self;
        if matches!(*what, "processes" | "threads") {
            return write!(f, "the limit of {limit} {what} was reached");
        }
        let mib = |bytes: &u64| bytes >> 20;
        write!(
            f,
            "the limit of {} MiB of {what} was reached ({} MiB used)",
            mib(limit),
            mib(used)
        )
    }
}

/// Compares use with limits.
#[derive(Debug)]
pub(super) struct ResourceWatch {
    limits: Resources,
    next_at: Instant,
    disk: DiskWatch,
}

#[derive(Debug)]
enum DiskWatch {
    Off,
    Waiting {
        from: Instant,
    },
    Walking {
        since: Instant,
        walk: JoinHandle<u64>,
    },
}

impl ResourceWatch {
    pub(super) fn new(limits: Resources) -> Self {
        let now = Instant::now();
        let disk = match limits.disk_bytes {
            Some(_) => DiskWatch::Waiting {
                from: now + DISK_EVERY,
            },
            None => DiskWatch::Off,
        };
        Self {
            limits,
            next_at: now + CHECK_EVERY,
            disk,
        }
    }

    /// Returns when to look next, if there is anything to look at.
    pub(super) fn due(&self) -> Option<Instant> {
        let has_limit = self
            .limits
            .memory_bytes
            .or(self.limits.processes)
            .or(self.limits.disk_bytes);
        has_limit.map(|_| self.next_at)
    }

    /// Looks, if it is time to. `root` is the process at the top of the agent's tree, and `cgroup` is what the tree lives in.
    pub(super) fn check(
        &mut self,
        root: u32,
        cgroup: Option<&RunCgroup>,
        is_working: bool,
        now: Instant,
    ) -> Option<Reached> {
        if now < self.next_at {
            return None;
        }
        self.next_at = now
            + if is_working {
                CHECK_EVERY
            } else {
                CHECK_IDLE_EVERY
            };
        let watched = match cgroup {
            Some(cgroup) => cgroup.controllers().watched(&self.limits),
            None => self.limits.clone(),
        };
        let used = match watched.memory_bytes.or(watched.processes) {
            Some(_) => process::tree_use(root),
            None => TreeUse::default(),
        };
        let disk = self.disk_used(now);
        self.enforced(cgroup)
            .or_else(|| reached(&watched, used, disk))
    }

    /// Returns the limit that the kernel enforced on the process tree, also after the tree has ended.
    pub(super) fn enforced(&self, cgroup: Option<&RunCgroup>) -> Option<Reached> {
        enforced(&self.limits, cgroup?.limit_events())
    }

    /// Returns how much disk is used when a walk has ended, and starts the next one.
    fn disk_used(&mut self, now: Instant) -> Option<u64> {
        match &mut self.disk {
            DiskWatch::Off => None,
            DiskWatch::Waiting { from } if *from > now => None,
            DiskWatch::Waiting { .. } => {
                let dirs = self.limits.disk_dirs.clone();
                let walk = tokio::task::spawn_blocking(move || disk_use(dirs));
                self.disk = DiskWatch::Walking { since: now, walk };
                None
            }
            DiskWatch::Walking { since, walk } if walk.is_finished() => {
                let took = now.duration_since(*since);
                let used = take_result(walk);
                self.disk = DiskWatch::Waiting {
                    from: now + DISK_EVERY.max(took * 20),
                };
                used
            }
            DiskWatch::Walking { .. } => None,
        }
    }
}

/// Returns the result of a task that has ended.
fn take_result(walk: &mut JoinHandle<u64>) -> Option<u64> {
    use std::{future::Future, pin::Pin, task};
    let mut context = task::Context::from_waker(task::Waker::noop());
    match Pin::new(walk).poll(&mut context) {
        task::Poll::Ready(used) => used.ok(),
        task::Poll::Pending => None,
    }
}

fn reached(limits: &Resources, used: TreeUse, disk: Option<u64>) -> Option<Reached> {
    let all = [
        ("memory", limits.memory_bytes, Some(used.memory_bytes)),
        ("processes", limits.processes, Some(used.processes)),
        ("disk", limits.disk_bytes, disk),
    ];
    all.into_iter().find_map(|(what, limit, used)| {
        let (limit, used) = (limit?, used?);
        (used >= limit).then_some(Reached { what, used, limit })
    })
}

fn enforced(limits: &Resources, events: LimitEvents) -> Option<Reached> {
    let memory = limits.memory_bytes.filter(|_| events.memory);
    let memory = memory.map(|limit| Reached {
        what: "memory",
        used: events.memory_peak.unwrap_or(limit),
        limit,
    });
    let processes = limits.processes.filter(|_| events.processes);
    memory.or(processes.map(|limit| Reached {
        what: "threads",
        used: threads_max(limit),
        limit: threads_max(limit),
    }))
}

/// Adds up what files use on disk. Symlinks are not followed, and what cannot be read counts nothing.
fn disk_use(dirs: Vec<PathBuf>) -> u64 {
    use std::os::unix::fs::MetadataExt;
    const BLOCK_BYTES: u64 = 512;
    let mut open = dirs;
    let mut bytes = 0;
    while let Some(dir) = open.pop() {
        for entry in std::fs::read_dir(dir).into_iter().flatten().flatten() {
            let Ok(found) = entry.metadata() else {
                continue;
            };
            bytes += found.blocks() * BLOCK_BYTES;
            if found.is_dir() {
                open.push(entry.path());
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_limit_that_is_reached_is_told_in_words() {
        let limits = Resources {
            memory_bytes: Some(100 << 20),
            processes: Some(10),
            disk_bytes: Some(1 << 30),
            ..Resources::default()
        };
        let used = |memory_mib: u64, processes| TreeUse {
            memory_bytes: memory_mib << 20,
            processes,
        };
        assert_eq!(reached(&limits, used(99, 9), Some(5)), None);
        let memory = reached(&limits, used(120, 1), None).unwrap();
        assert_eq!(
            memory.to_string(),
            "the limit of 100 MiB of memory was reached (120 MiB used)"
        );
        let processes = reached(&limits, used(1, 10), None).unwrap();
        assert_eq!(
            processes.to_string(),
            "the limit of 10 processes was reached"
        );
        assert_eq!(
            reached(&limits, used(1, 1), Some(1 << 30)).unwrap().what,
            "disk"
        );
        assert_eq!(
            reached(
                &Resources::default(),
                used(1 << 20, 1 << 20),
                Some(u64::MAX)
            ),
            None
        );
    }

    #[test]
    fn a_limit_that_the_kernel_enforced_is_told_in_the_same_words() {
        let limits = Resources {
            memory_bytes: Some(100 << 20),
            processes: Some(10),
            ..Resources::default()
        };
        let told = |events| enforced(&limits, events).map(|reached| reached.to_string());
        assert_eq!(told(LimitEvents::default()), None);
        let memory = LimitEvents {
            memory: true,
            memory_peak: Some(101 << 20),
            processes: true,
        };
        assert_eq!(
            told(memory).unwrap(),
            "the limit of 100 MiB of memory was reached (101 MiB used)"
        );
        let processes = LimitEvents {
            processes: true,
            ..LimitEvents::default()
        };
        assert_eq!(
            told(processes).unwrap(),
            "the limit of 80 threads was reached"
        );
        // What is not limited cannot have been reached.
        assert_eq!(enforced(&Resources::default(), memory), None);
    }

    #[test]
    fn disk_is_counted_below_directories_and_not_through_symlinks() {
        let (dir, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        std::fs::create_dir(dir.path().join("sub")).unwrap();
        std::fs::write(dir.path().join("sub/file"), vec![1; 1 << 20]).unwrap();
        std::fs::write(other.path().join("file"), vec![1; 4 << 20]).unwrap();
        std::os::unix::fs::symlink(other.path(), dir.path().join("link")).unwrap();
        let used = disk_use(vec![dir.path().to_owned()]);
        assert!((1 << 20..2 << 20).contains(&used), "{used}");
    }
}
