//! How much memory a tree of processes uses, without a cgroup that counts it.
//!
//! Shared memory is counted in two ways, and the larger figure counts: what the processes map, once for each that maps it, and what
//! the files in memory hold that they opened (`memfd_create`) or keep in the `/dev/shm` of their sandbox, mapped or not. One figure
//! alone would leave out memory; their sum would count most of it twice.

use std::{
    collections::HashMap,
    fs,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
};

/// Bytes of a block in `st_blocks`.
const BLOCK_BYTES: u64 = 512;

/// Adds up the memory of processes.
#[derive(Debug, Default)]
pub(super) struct MemoryUse {
    private: u64,
    mapped: u64,
    /// Bytes of each file in memory, by device and inode; of a whole file system with inode 0.
    files: HashMap<(u64, u64), u64>,
}

impl MemoryUse {
    /// Adds a process. Returns nothing if there is none of this number.
    pub(super) fn add(&mut self, pid: u32) -> Option<()> {
        let dir = PathBuf::from(format!("/proc/{pid}"));
        let status = fs::read_to_string(dir.join("status")).ok()?;
        self.private += field(&status, "RssAnon:");
        self.mapped += field(&status, "RssShmem:");
        self.add_open_files(&dir.join("fd"));
        self.add_shared_directory(&dir.join("root/dev/shm"));
        Some(())
    }

    pub(super) fn bytes(&self) -> u64 {
        let in_files = self.files.values().sum::<u64>();
        self.private + self.mapped.max(in_files)
    }

    fn add_open_files(&mut self, fds: &Path) {
        for fd in fs::read_dir(fds).into_iter().flatten().flatten() {
            let is_in_memory = fs::read_link(fd.path()).is_ok_and(|target| {
                target
                    .as_os_str()
                    .as_encoded_bytes()
                    .starts_with(b"/memfd:")
            });
            if is_in_memory && let Ok(found) = fs::metadata(fd.path()) {
                let bytes = found.blocks() * BLOCK_BYTES;
                self.files.insert((found.dev(), found.ino()), bytes);
            }
        }
    }

    /// Adds what a `/dev/shm` holds, unless it is the machine's own, which other programs use too.
    fn add_shared_directory(&mut self, path: &Path) {
        let Ok(found) = fs::metadata(path) else {
            return;
        };
        let is_ours = fs::metadata("/dev/shm").is_ok_and(|ours| ours.dev() == found.dev());
        if is_ours || self.files.contains_key(&(found.dev(), 0)) {
            return;
        }
        if let Ok(held) = rustix::fs::statvfs(path) {
            let bytes = held.f_blocks.saturating_sub(held.f_bfree) * held.f_frsize;
            self.files.insert((found.dev(), 0), bytes);
        }
    }
}

/// Returns a field of `/proc/PID/status` that is given in kB. Kernel threads and zombies have none.
fn field(status: &str, name: &str) -> u64 {
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let number = line.and_then(|line| line.split_ascii_whitespace().next());
    number.and_then(|it| it.parse::<u64>().ok()).unwrap_or(0) * 1024
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_in_memory_counts_without_being_mapped() {
        let bytes = |used: &MemoryUse| used.files.values().sum::<u64>();
        let mut before = MemoryUse::default();
        before.add(std::process::id()).unwrap();
        assert!(before.private > 0);
        let flags = rustix::fs::MemfdFlags::CLOEXEC;
        let file = rustix::fs::memfd_create("test", flags).unwrap();
        let mut file = fs::File::from(file);
        std::io::Write::write_all(&mut file, &vec![1; 8 << 20]).unwrap();
        let mut after = MemoryUse::default();
        after.add(std::process::id()).unwrap();
        assert!(bytes(&after) >= bytes(&before) + (8 << 20));
    }
}
