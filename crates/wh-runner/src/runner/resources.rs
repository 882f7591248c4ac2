//! Watches what an agent's processes use, and tells when a limit is reached.
//!
//! The kernel enforces the limits on open files and file sizes. Memory, processes and disk are looked at: often while a turn runs,
//! seldom while the agent is idle.

use std::{
    path::PathBuf,
    time::{Duration, Instant},
};

use tokio::task::JoinHandle;

use crate::{
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
        if *what == "processes" {
            return write!(f, "the limit of {limit} processes was reached");
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

    /// Looks, if it is time to. `root` is the process at the top of the agent's tree.
    pub(super) fn check(&mut self, root: u32, is_working: bool, now: Instant) -> Option<Reached> {
        if now < self.next_at {
            return None;
        }
        self.next_at = now
            + if is_working {
                CHECK_EVERY
            } else {
                CHECK_IDLE_EVERY
            };
        let used = match self.limits.memory_bytes.or(self.limits.processes) {
            Some(_) => process::tree_use(root),
            None => TreeUse::default(),
        };
        let disk = self.disk_used(now);
        reached(&self.limits, used, disk)
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
