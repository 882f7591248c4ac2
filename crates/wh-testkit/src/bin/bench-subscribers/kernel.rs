//! What the kernel knows about a process.

use std::{fs, time::Duration};

use anyhow::{Context, Result};

/// Clock ticks per second in `/proc/PID/stat`: fixed by Linux's interface to programs.
const TICKS_PER_SECOND: f64 = 100.0;

/// Returns the processor time that a process has used so far.
pub(crate) fn cpu(pid: u32) -> Result<Duration> {
    let stat = read(pid, "stat")?;
    let (_, fields) = stat.rsplit_once(')').context("no name in stat")?;
    let ticks = fields.split_whitespace().skip(11).take(2);
    let ticks: f64 = ticks.filter_map(|text| text.parse::<f64>().ok()).sum();
    Ok(Duration::from_secs_f64(ticks / TICKS_PER_SECOND))
}

/// Returns the bytes that a process has in memory.
pub(crate) fn resident(pid: u32) -> Result<u64> {
    status(pid, "VmRSS:")
}

/// Returns the most bytes that a process has had in memory.
pub(crate) fn resident_peak(pid: u32) -> Result<u64> {
    status(pid, "VmHWM:")
}

fn status(pid: u32, name: &str) -> Result<u64> {
    let text = read(pid, "status")?;
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let number = line.and_then(|line| line.split_whitespace().next()?.parse::<u64>().ok());
    Ok(number.with_context(|| format!("/proc/{pid} tells no {name}"))? * 1024)
}

fn read(pid: u32, file: &str) -> Result<String> {
    let path = format!("/proc/{pid}/{file}");
    fs::read_to_string(&path).with_context(|| format!("reading {path}"))
}
