//! Reading a journal from any number, beside its writer or after its death.

use std::{
    fs::File,
    io::{self, BufRead, BufReader},
    path::{Path, PathBuf},
};

use super::{Record, record, segment};

/// Reads records in order. It holds a place in a file and no queue, so a slow follower costs nothing.
#[derive(Debug)]
pub struct JournalReader {
    dir: PathBuf,
    open: Option<BufReader<File>>,
    next: u64,
    line: Vec<u8>,
}

impl JournalReader {
    /// Starts behind `after`. Records that the server acknowledged may be gone; reading then goes on with the oldest kept.
    pub fn new(dir: &Path, after: u64) -> Self {
        Self {
            dir: dir.to_owned(),
            open: None,
            next: after + 1,
            line: Vec::new(),
        }
    }

    /// Returns the next record up to number `newest`, or `None` when there is none. Of a dead runner's journal everything
    /// whole is read with `newest` = `u64::MAX`.
    pub fn next(&mut self, newest: u64) -> io::Result<Option<Record>> {
        while self.next <= newest {
            if self.open.is_none() && !self.open_segment()? {
                return Ok(None);
            }
            let Some(reader) = &mut self.open else {
                return Ok(None);
            };
            self.line.clear();
            self.line.shrink_to(64 << 10);
            reader.read_until(b'\n', &mut self.line)?;
            match record::decode(&self.line) {
                Some(record) if record.seq >= self.next => {
                    self.next = record.seq + 1;
                    return Ok(Some(record));
                }
                // Before the place that was asked for.
                Some(_) => {}
                None => {
                    self.open = None;
                    // At the end of a file the next one begins with the next number; without it, this is the tail.
                    if !segment::path(&self.dir, self.next).exists() {
                        return Ok(None);
                    }
                }
            }
        }
        Ok(None)
    }

    /// Opens the file that holds the next number, or the oldest one after it.
    fn open_segment(&mut self) -> io::Result<bool> {
        let segments = segment::list(&self.dir)?;
        let holds = segments.iter().rev().find(|first| **first <= self.next);
        let Some(first) = holds.or(segments.first()) else {
            return Ok(false);
        };
        self.next = self.next.max(*first);
        match File::open(segment::path(&self.dir, *first)) {
            Ok(file) => self.open = Some(BufReader::new(file)),
            // Acknowledged and removed in this moment: look again.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return self.open_segment(),
            Err(error) => return Err(error),
        }
        Ok(true)
    }
}
