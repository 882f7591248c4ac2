//! What the kernel knows about a running server: processor time and memory.

use std::fs;
use std::time::Duration;

use anyhow::{Context, Result};

/// Clock ticks per second in `/proc/PID/stat`: fixed by Linux's interface to programs, whatever the kernel's own clock.
const TICKS_PER_SECOND: f64 = 100.0;

/// Returns the processor time that a process has used so far, in all its threads.
pub(super) fn cpu(pid: u32) -> Result<Duration> {
    let stat = read(pid, "stat")?;
    cpu_of(&stat).with_context(|| format!("reading /proc/{pid}/stat: {stat}"))
}

fn cpu_of(stat: &str) -> Option<Duration> {
    // The second field is a name in parentheses that may hold anything, blanks and parentheses too.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(11);
    let user: f64 = fields.next()?.parse().ok()?;
    let system: f64 = fields.next()?.parse().ok()?;
    Some(Duration::from_secs_f64((user + system) / TICKS_PER_SECOND))
}

/// A process's memory, in bytes.
#[derive(Debug, Clone, Copy)]
pub(super) struct Memory {
    /// Pages in memory, shared ones too.
    pub(super) resident: u64,
    /// The same, with a page that several processes share counted in parts.
    pub(super) proportional: u64,
    /// Of the resident pages, those that are no file's: heap and stacks.
    pub(super) anonymous: u64,
}

pub(super) fn memory(pid: u32) -> Result<Memory> {
    let (status, rollup) = (read(pid, "status")?, read(pid, "smaps_rollup")?);
    let field = |text: &str, name: &str| {
        kilobytes(text, name).with_context(|| format!("/proc/{pid} tells no {name}"))
    };
    Ok(Memory {
        resident: field(&status, "VmRSS:")?,
        proportional: field(&rollup, "Pss:")?,
        anonymous: field(&status, "RssAnon:")?,
    })
}

fn kilobytes(text: &str, name: &str) -> Option<u64> {
    let line = text.lines().find_map(|line| line.strip_prefix(name))?;
    let number: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(number * 1024)
}

fn read(pid: u32, file: &str) -> Result<String> {
    let path = format!("/proc/{pid}/{file}");
    fs::read_to_string(&path).with_context(|| format!("reading {path}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_is_user_and_system() {
        let stat = "7 (a (b) c) S 1 7 7 0 -1 4194304 100 0 0 0 250 50 0 0 20 0 8 0 100 1 1";
        assert_eq!(cpu_of(stat), Some(Duration::from_secs(3)));
        assert_eq!(cpu_of("7 (a"), None);
    }

    #[test]
    fn memory_is_read_by_name() {
        let status = "Name:\tx\nVmRSS:\t   14000 kB\nRssAnon:\t     900 kB\n";
        assert_eq!(kilobytes(status, "VmRSS:"), Some(14_000 * 1024));
        assert_eq!(kilobytes(status, "Pss:"), None);
    }

    #[test]
    fn this_process_has_both() {
        let pid = std::process::id();
        assert!(cpu(pid).is_ok());
        assert!(memory(pid).unwrap().resident > 0);
    }
}
