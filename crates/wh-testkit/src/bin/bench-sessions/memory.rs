//! What processes hold, as the kernel counts it.

use std::fs;

use anyhow::{Context, Result};

/// The memory of some processes, in bytes.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Memory {
    pub(crate) processes: u32,
    pub(crate) resident: u64,
    /// Shared pages are divided among those who share them.
    pub(crate) proportional: u64,
}

/// Returns what a process and everything below it holds.
pub(crate) fn tree(root: u32) -> Result<Memory> {
    let mut sum = tree_of_one(root)?;
    for child in children(root) {
        // One may end while we look.
        if let Ok(below) = tree(child) {
            sum.processes += below.processes;
            sum.resident += below.resident;
            sum.proportional += below.proportional;
        }
    }
    Ok(sum)
}

/// Returns what one process holds.
pub(crate) fn tree_of_one(pid: u32) -> Result<Memory> {
    let path = format!("/proc/{pid}/smaps_rollup");
    let text = fs::read_to_string(&path).with_context(|| format!("reading {path}"))?;
    let kilobytes = |name: &str| {
        let line = text.lines().find(|line| line.starts_with(name));
        let number = line.and_then(|line| line.split_whitespace().nth(1));
        number
            .and_then(|number| number.parse::<u64>().ok())
            .unwrap_or(0)
    };
    Ok(Memory {
        processes: 1,
        resident: kilobytes("Rss:") << 10,
        proportional: kilobytes("Pss:") << 10,
    })
}

fn children(pid: u32) -> Vec<u32> {
    let Ok(threads) = fs::read_dir(format!("/proc/{pid}/task")) else {
        return Vec::new();
    };
    let of_thread = |entry: std::io::Result<fs::DirEntry>| {
        let path = entry.ok()?.path().join("children");
        fs::read_to_string(path).ok()
    };
    let lists: Vec<_> = threads.filter_map(of_thread).collect();
    let pids = lists.iter().flat_map(|list| list.split_whitespace());
    pids.filter_map(|pid| pid.parse().ok()).collect()
}
