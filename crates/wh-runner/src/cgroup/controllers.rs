//! The controllers that enforce limits of runs, and the values that they are given.

use std::fmt;

use crate::spec::Resources;

/// The controllers in use. What has none is watched by the runner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Controllers {
    pub memory: bool,
    pub pids: bool,
    pub cpu: bool,
}

/// The value of `cpu.weight` that processes get when nobody sets it.
const WEIGHT_DEFAULT: u64 = 100;

/// The kernel's weights of the nice values from 0 to 19; 1024 is the default.
const WEIGHT_OF_NICE: [u64; 20] = [
    1024, 820, 655, 526, 423, 335, 272, 215, 172, 137, 110, 87, 70, 56, 45, 36, 29, 23, 18, 15,
];

/// Threads that a run may have for each process that it may have. The kernel counts threads and not processes, and programs such as compilers
/// have many.
const THREADS_PER_PROCESS: u64 = 8;

/// Returns how many threads a run may have.
pub(crate) fn threads_max(processes: u64) -> u64 {
    processes.saturating_mul(THREADS_PER_PROCESS)
}

impl Controllers {
    /// Reads a list such as that of `cgroup.controllers`, and ignores controllers that are not used here.
    pub(super) fn parse(list: &str) -> Self {
        let has = |name: &str| list.split_ascii_whitespace().any(|it| it == name);
        Self {
            memory: has("memory"),
            pids: has("pids"),
            cpu: has("cpu"),
        }
    }

    pub(super) fn names(self) -> Vec<&'static str> {
        let all = [
            ("memory", self.memory),
            ("pids", self.pids),
            ("cpu", self.cpu),
        ];
        let used = all.into_iter().filter(|(_, used)| *used);
        used.map(|(name, _)| name).collect()
    }

    /// Returns those of these controllers that `others` lacks.
    pub(super) fn without(self, others: Self) -> Self {
        Self {
            memory: self.memory && !others.memory,
            pids: self.pids && !others.pids,
            cpu: self.cpu && !others.cpu,
        }
    }

    /// Returns the files to write in a run's cgroup, each with its value, and the controller that each belongs to.
    pub(super) fn limits(self, resources: &Resources) -> Vec<(&'static str, &'static str, String)> {
        let mut files = Vec::new();
        if let (true, Some(bytes)) = (self.memory, resources.memory_bytes) {
            files.push(("memory", "memory.max", bytes.to_string()));
            // Without this, one process of the tree would be killed and the others would go on.
            files.push(("memory", "memory.oom.group", "1".to_owned()));
        }
        if let (true, Some(processes)) = (self.pids, resources.processes) {
            files.push(("pids", "pids.max", threads_max(processes).to_string()));
        }
        if let (true, Some(nice)) = (self.cpu, resources.nice) {
            files.push(("cpu", "cpu.weight", weight_of_nice(nice).to_string()));
        }
        files
    }

    /// Returns the limits that no controller enforces and the runner has to watch. Disk and processes always are.
    pub(crate) fn watched(self, resources: &Resources) -> Resources {
        Resources {
            memory_bytes: resources.memory_bytes.filter(|_| !self.memory),
            ..resources.clone()
        }
    }
}

impl fmt::Display for Controllers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.names().as_slice() {
            [] => f.write_str("none"),
            names => f.write_str(&names.join(", ")),
        }
    }
}

/// Returns the `cpu.weight` that gives a cgroup the share of the processor that a process of this nice value has.
fn weight_of_nice(nice: u64) -> u64 {
    let last = WEIGHT_OF_NICE.len() - 1;
    let index = usize::try_from(nice).map_or(last, |nice| nice.min(last));
    let default = WEIGHT_OF_NICE[0];
    (WEIGHT_OF_NICE[index] * WEIGHT_DEFAULT + default / 2) / default
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: Controllers = Controllers {
        memory: true,
        pids: true,
        cpu: true,
    };

    fn resources() -> Resources {
        Resources {
            memory_bytes: Some(1 << 20),
            processes: Some(7),
            nice: Some(5),
            disk_bytes: Some(9),
            ..Resources::default()
        }
    }

    #[test]
    fn a_nice_value_becomes_the_weight_that_the_kernel_gives_it() {
        // As a kernel shows `cpu.weight` after each value was written to `cpu.weight.nice`.
        for (nice, weight) in [(0, 100), (1, 80), (5, 33), (10, 11), (18, 2), (19, 1)] {
            assert_eq!(weight_of_nice(nice), weight, "{nice}");
        }
        assert_eq!(weight_of_nice(u64::MAX), 1);
    }

    #[test]
    fn lists_of_controllers_are_read_and_shown() {
        assert_eq!(Controllers::parse("cpuset cpu io memory pids\n"), ALL);
        assert_eq!(Controllers::parse("hugetlb\n"), Controllers::default());
        // `cpuset` is another controller than `cpu`.
        assert_eq!(Controllers::parse("cpuset pids").names(), ["pids"]);
        assert_eq!(ALL.to_string(), "memory, pids, cpu");
        assert_eq!(Controllers::default().to_string(), "none");
        assert_eq!(
            ALL.without(Controllers::parse("pids")).names(),
            ["memory", "cpu"]
        );
    }

    #[test]
    fn each_limit_is_written_or_watched() {
        let resources = resources();
        let files = |controllers: Controllers| -> Vec<_> {
            let files = controllers.limits(&resources).into_iter();
            files
                .map(|(_, file, value)| format!("{file}={value}"))
                .collect()
        };
        assert_eq!(
            files(ALL),
            [
                "memory.max=1048576",
                "memory.oom.group=1",
                "pids.max=56",
                "cpu.weight=33"
            ]
        );
        let watched = ALL.watched(&resources);
        assert_eq!((watched.memory_bytes, watched.processes), (None, Some(7)));
        assert_eq!(watched.disk_bytes, Some(9));

        let pids = Controllers::parse("pids");
        assert_eq!(files(pids), ["pids.max=56"]);
        let watched = pids.watched(&resources);
        assert_eq!(
            (watched.memory_bytes, watched.processes),
            (Some(1 << 20), Some(7))
        );

        assert!(files(Controllers::default()).is_empty());
        assert_eq!(Controllers::default().watched(&resources), resources);
        assert!(ALL.limits(&Resources::default()).is_empty());
    }
}
