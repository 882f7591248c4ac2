//! What the first bytes of a database file tell, read without SQLite so that looking changes nothing.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use crate::OpenError;
use crate::lock::{beside, open_error};

/// Marks our databases in SQLite's header: "Whls".
pub(crate) const APPLICATION_ID: u32 = 0x5768_6c73;

/// Bytes of SQLite's header.
const HEADER_BYTES: usize = 100;

/// The header of a database file (https://www.sqlite.org/fileformat2.html, section 1.3).
struct Header([u8; HEADER_BYTES]);

impl Header {
    fn u32_at(&self, offset: usize) -> u32 {
        let mut bytes = [0; 4];
        bytes.copy_from_slice(&self.0[offset..offset + 4]);
        u32::from_be_bytes(bytes)
    }

    fn has_magic(&self) -> bool {
        self.0.starts_with(b"SQLite format 3\0")
    }

    fn page_bytes(&self) -> Option<u64> {
        match u16::from_be_bytes([self.0[16], self.0[17]]) {
            1 => Some(65_536),
            n if n >= 512 && n.is_power_of_two() => Some(u64::from(n)),
            _ => None,
        }
    }

    /// Returns the number of pages, if it was kept up to date.
    fn pages(&self) -> Option<u64> {
        let current = self.u32_at(24) == self.u32_at(92);
        current.then(|| u64::from(self.u32_at(28)))
    }
}

/// Refuses what is plainly not a database of ours, is cut short, or is newer than `known_version`.
pub(crate) fn check(path: &Path, known_version: u32) -> Result<(), OpenError> {
    let damaged = |what: &str| OpenError::Damaged {
        path: path.to_owned(),
        what: what.to_owned(),
    };
    let foreign = || OpenError::Foreign {
        path: path.to_owned(),
    };
    let (header, file_bytes) = match read(path) {
        Ok(read) => read,
        Err(e) if e.kind() == io::ErrorKind::UnexpectedEof => {
            return Err(damaged("it is empty or cut off within its header"));
        }
        Err(e) => return Err(open_error(path, e)),
    };
    if !header.has_magic() {
        return Err(if header.0.iter().all(|b| *b == 0) {
            damaged("its header is erased")
        } else {
            foreign()
        });
    }
    if header.u32_at(68) != APPLICATION_ID {
        return Err(foreign());
    }
    let page_bytes = header
        .page_bytes()
        .ok_or_else(|| damaged("its header is not valid"))?;
    // A checkpoint that was interrupted may have written the header before the pages; the log has them.
    let has_log = std::fs::metadata(beside(path, "-wal")).is_ok_and(|m| m.len() > 0);
    let pages = header.pages().filter(|_| !has_log);
    if pages.is_some_and(|pages| pages * page_bytes > file_bytes) || file_bytes < page_bytes {
        return Err(damaged("it is cut short"));
    }
    let found = header.u32_at(60);
    if found > known_version {
        return Err(OpenError::Newer {
            path: path.to_owned(),
            found,
            known: known_version,
        });
    }
    Ok(())
}

fn read(path: &Path) -> io::Result<(Header, u64)> {
    let mut file = File::open(path)?;
    let mut bytes = [0; HEADER_BYTES];
    file.read_exact(&mut bytes)?;
    Ok((Header(bytes), file.metadata()?.len()))
}
