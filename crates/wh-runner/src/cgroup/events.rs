//! What the kernel counts in a cgroup when a limit is reached.

use std::{fs, path::Path};

/// The limits of a cgroup that were reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct LimitEvents {
    /// Whether processes were killed because `memory.max` was reached.
    pub(crate) memory: bool,
    /// The most memory that was in use, where the kernel tells it.
    pub(crate) memory_peak: Option<u64>,
    /// Whether a process or thread could not be created because `pids.max` was reached.
    pub(crate) processes: bool,
}

impl LimitEvents {
    /// Reads the counters of a cgroup. A file that is not there counts nothing.
    pub(super) fn read(dir: &Path) -> Self {
        let text = |name: &str| fs::read_to_string(dir.join(name)).unwrap_or_default();
        Self {
            memory: is_out_of_memory(&text("memory.events")),
            memory_peak: text("memory.peak").trim().parse().ok(),
            processes: counter(&text("pids.events"), "max") > 0,
        }
    }
}

/// Tells from `memory.events` whether processes were killed because of the cgroup's own limit. Kills that the whole machine's lack of
/// memory caused are counted too, but without `oom`.
fn is_out_of_memory(events: &str) -> bool {
    let killed = counter(events, "oom_kill") + counter(events, "oom_group_kill");
    killed > 0 && counter(events, "oom") > 0
}

/// Tells from `cgroup.events` whether any process lives in a cgroup or below it.
pub(super) fn is_populated(events: &str) -> bool {
    counter(events, "populated") > 0
}

/// Returns a value of a file with one `name value` pair per line; 0 when it is not there.
fn counter(text: &str, name: &str) -> u64 {
    let mut pairs = text.lines().filter_map(|line| line.split_once(' '));
    let found = pairs.find(|(key, _)| *key == name);
    found.map_or(0, |(_, value)| value.trim().parse().unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kill_counts_when_the_cgroup_reached_its_own_limit() {
        let events = |oom: u64, kill: u64, group: u64| {
            format!("low 0\nhigh 0\nmax 31\noom {oom}\noom_kill {kill}\noom_group_kill {group}\n")
        };
        assert!(!is_out_of_memory(&events(0, 0, 0)));
        // The limit was reached, but memory was found without a kill.
        assert!(!is_out_of_memory(&events(2, 0, 0)));
        assert!(is_out_of_memory(&events(1, 1, 0)));
        assert!(is_out_of_memory(&events(1, 0, 1)));
        // The machine ran out of memory.
        assert!(!is_out_of_memory(&events(0, 1, 1)));
        assert!(!is_out_of_memory(""));
    }

    #[test]
    fn counters_are_found_by_their_whole_name() {
        assert_eq!(counter("oom_kill 3\noom 1\n", "oom"), 1);
        assert_eq!(counter("max 12\n", "max"), 12);
        assert_eq!(counter("max x\n", "max"), 0);
        assert!(is_populated("populated 1\nfrozen 0\n"));
        assert!(!is_populated("populated 0\nfrozen 0\n"));
    }
}
