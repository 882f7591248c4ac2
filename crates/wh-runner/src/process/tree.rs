//! Processes as the kernel tells them: who belongs to a run, and whether a process is still the one it was.

use std::{collections::HashSet, fs, path::Path, time::Duration, time::Instant};

use rustix::process::{Pid, Signal, WaitOptions, waitpid};
use serde::{Deserialize, Serialize};

use super::{CONTAIN_COMMAND, TAG_VARIABLE, memory::MemoryUse};
use crate::cgroup::RunCgroup;

/// A process, known by its number and the moment it started: numbers are used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessMark {
    pub pid: u32,
    /// Clock ticks after boot.
    pub started: u64,
}

impl ProcessMark {
    /// Marks a process that runs now.
    pub fn of(pid: u32) -> Option<Self> {
        let process = read(pid)?;
        let started = process.started;
        Some(Self { pid, started })
    }

    /// Tells whether it still runs; a zombie does not.
    pub fn is_alive(self) -> bool {
        read(self.pid).is_some_and(|now| now.started == self.started && now.state != 'Z')
    }

    /// Returns the number of its parent if it still runs: 0 for the first process.
    pub(crate) fn parent(self) -> Option<u32> {
        let process = read(self.pid).filter(|now| now.started == self.started)?;
        Some(process.parent)
    }

    /// Kills it, if it is still the one it was.
    pub fn kill(self) {
        if self.is_alive() {
            super::signal(self.pid, Signal::KILL);
        }
    }
}

/// A row of the process table.
#[derive(Clone, Debug)]
pub(super) struct Process {
    pid: u32,
    parent: u32,
    state: char,
    started: u64,
}

impl Process {
    pub(super) fn pid(&self) -> u32 {
        self.pid
    }

    pub(super) fn signal(&self, signal: Signal) {
        super::signal(self.pid, signal);
    }

    /// Tells whether this is our own helper between runner and agent.
    pub(super) fn is_helper(&self) -> bool {
        let line = fs::read(format!("/proc/{}/cmdline", self.pid)).unwrap_or_default();
        let mut words = line.split(|byte| *byte == 0);
        words.next() == Some(b"/proc/self/exe") && words.next() == Some(CONTAIN_COMMAND.as_bytes())
    }

    /// Takes a dead orphan that came to us as subreaper out of the table. Living ones are not waited for.
    pub(super) fn reap_orphan(&self) {
        let ours = self.parent == std::process::id() && self.state == 'Z' && !self.is_helper();
        let pid = i32::try_from(self.pid).ok().and_then(Pid::from_raw);
        if ours && pid.is_some() {
            waitpid(pid, WaitOptions::NOHANG).ok();
        }
    }
}

/// Returns everything below `root`, everything that carries `tag` and the processes `held` by a cgroup, but `root` itself. The order is
/// from the top down.
pub(super) fn members(root: u32, tag: &str, held: &[u32]) -> Vec<Process> {
    let all = table();
    let mut below = HashSet::from([root]);
    // Parents may have higher numbers than their children: go on until nothing is added.
    loop {
        let before = below.len();
        below.extend(
            all.iter()
                .filter(|process| below.contains(&process.parent))
                .map(|process| process.pid)
                .collect::<Vec<_>>(),
        );
        if below.len() == before {
            break;
        }
    }
    all.into_iter()
        .filter(|process| process.pid != root)
        .filter(|process| {
            let pid = process.pid;
            below.contains(&pid) || held.contains(&pid) || is_tagged(pid, tag)
        })
        .collect()
}

/// Kills everything that carries the tag of a run whose runner is gone or lives in the run's cgroup, removes the cgroup, and returns
/// how many processes that were. Processes that cannot be killed within five seconds are left.
pub fn sweep(tag: &str, cgroup: Option<&Path>) -> usize {
    let cgroup = cgroup.and_then(|dir| RunCgroup::open(dir).ok());
    let deadline = Instant::now() + Duration::from_secs(5);
    let mut killed = HashSet::new();
    while Instant::now() < deadline {
        let held = cgroup.as_ref().map(RunCgroup::processes);
        let held = held.unwrap_or_default();
        let left: Vec<_> = table()
            .into_iter()
            .filter(|process| process.state != 'Z' && process.pid != std::process::id())
            .filter(|process| held.contains(&process.pid) || is_tagged(process.pid, tag))
            .collect();
        let populated = cgroup.as_ref().filter(|it| it.is_populated());
        if left.is_empty() && populated.is_none() {
            cgroup.iter().for_each(RunCgroup::remove);
            break;
        }
        if let Some(cgroup) = populated {
            cgroup.kill();
        }
        for process in left {
            process.signal(Signal::KILL);
            killed.insert(process.pid);
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    killed.len()
}

/// What a tree of processes uses.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct TreeUse {
    /// Private and shared memory; not that of mapped files.
    pub(crate) memory_bytes: u64,
    pub(crate) processes: u64,
}

/// Adds up what `root` and everything below it use. Only these processes are looked at, not the whole table.
pub(crate) fn tree_use(root: u32) -> TreeUse {
    let mut used = TreeUse::default();
    let mut memory = MemoryUse::default();
    let mut open = vec![root];
    while let Some(pid) = open.pop() {
        if memory.add(pid).is_none() {
            continue;
        }
        used.processes += 1;
        open.extend(children(pid));
    }
    used.memory_bytes = memory.bytes();
    used
}

fn children(pid: u32) -> Vec<u32> {
    let threads = fs::read_dir(format!("/proc/{pid}/task"));
    let threads = threads.into_iter().flatten().flatten();
    let lists =
        threads.filter_map(|thread| fs::read_to_string(thread.path().join("children")).ok());
    let numbers = lists.flat_map(|list| {
        let numbers = list.split_ascii_whitespace();
        numbers.filter_map(|it| it.parse().ok()).collect::<Vec<_>>()
    });
    numbers.collect()
}

fn is_tagged(pid: u32, tag: &str) -> bool {
    let Ok(environment) = fs::read(format!("/proc/{pid}/environ")) else {
        return false;
    };
    let entry = format!("{TAG_VARIABLE}={tag}");
    environment
        .split(|byte| *byte == 0)
        .any(|variable| variable == entry.as_bytes())
}

fn table() -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter_map(read)
        .collect()
}

fn read(pid: u32) -> Option<Process> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // The name stands in parentheses and may contain anything, also parentheses.
    let fields: Vec<_> = stat[stat.rfind(')')? + 1..]
        .split_ascii_whitespace()
        .collect();
    Some(Process {
        pid,
        state: fields.first()?.chars().next()?,
        parent: fields.get(1)?.parse().ok()?,
        started: fields.get(19)?.parse().ok()?,
    })
}
