//! Which processes live in a directory.

use std::{fs, path::Path};

use rustix::fs::{Mode, OFlags, Stat};

/// How far up from a process's directory the search goes.
const LEVELS_MAX: usize = 64;

/// Returns the processes whose working directory or root lies in `path`.
///
/// Compared by what the directories are and not by their names, which can differ in a sandbox. Where there is no
/// `/proc` nothing is found, and processes of other users can only be seen by root.
pub(crate) fn processes_inside(path: &Path) -> Vec<u32> {
    let Ok(wanted) = rustix::fs::stat(path) else {
        return Vec::new();
    };
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    entries
        .flatten()
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .filter(|pid: &u32| {
            ["cwd", "root"]
                .iter()
                .any(|link| lies_in(&format!("/proc/{pid}/{link}"), &wanted))
        })
        .collect()
}

/// Walks up from a directory and tells whether it meets the wanted one.
fn lies_in(start: &str, wanted: &Stat) -> bool {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let Ok(mut at) = rustix::fs::open(start, flags, Mode::empty()) else {
        return false;
    };
    let mut below = None;
    for _ in 0..LEVELS_MAX {
        let Ok(stat) = rustix::fs::fstat(&at) else {
            return false;
        };
        let here = (stat.st_dev, stat.st_ino);
        if here == (wanted.st_dev, wanted.st_ino) {
            return true;
        }
        if below == Some(here) {
            return false;
        }
        below = Some(here);
        match rustix::fs::openat(&at, "..", flags, Mode::empty()) {
            Ok(up) => at = up,
            Err(_) => return false,
        }
    }
    false
}
