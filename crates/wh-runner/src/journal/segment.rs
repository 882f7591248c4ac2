//! Files of the journal: their names, and what is whole in one.

use std::{
    fs::File,
    io::{self, BufRead, BufReader},
    path::{Path, PathBuf},
};

use super::record;

/// What a file holds up to its first damaged record.
pub(super) struct Scan {
    /// The number after its last whole record.
    pub(super) next: u64,
    /// The length of its whole part.
    pub(super) bytes: u64,
    /// Something follows that is not whole.
    pub(super) torn: bool,
}

/// Returns the first numbers of all files, in order.
pub(super) fn list(dir: &Path) -> io::Result<Vec<u64>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(dir)? {
        let name = entry?.file_name();
        let first = name.to_str().and_then(|name| name.strip_suffix(".log"));
        found.extend(first.and_then(|first| first.parse::<u64>().ok()));
    }
    found.sort_unstable();
    Ok(found)
}

pub(super) fn path(dir: &Path, first: u64) -> PathBuf {
    dir.join(format!("{first:020}.log"))
}

/// Reads a whole file and says how much of it is in order, starting with number `first`.
pub(super) fn scan(path: &Path, first: u64) -> io::Result<Scan> {
    let mut reader = BufReader::new(File::open(path)?);
    let mut line = Vec::new();
    let (mut next, mut bytes) = (first, 0);
    loop {
        line.clear();
        let read = reader.read_until(b'\n', &mut line)?;
        if read == 0 {
            let torn = false;
            return Ok(Scan { next, bytes, torn });
        }
        match record::decode(&line) {
            Some(record) if record.seq == next => {
                next += 1;
                bytes += read as u64;
            }
            _ => {
                let torn = true;
                return Ok(Scan { next, bytes, torn });
            }
        }
    }
}
