//! What happened in a run, on disk, until the server has it.
//!
//! Records are numbered from 1 and appended, one per line: a CRC-32 in hex, a space, JSON. A line that is not whole can only be
//! the last one, after a crash; it is found by its checksum and cut when the journal is opened again. Files of about
//! [`Limits::segment_bytes`](crate::Limits) follow each other, named by their first number; one goes away when it is closed
//! and all of it is acknowledged.
//!
//! **Durability.** A record is in the kernel's hands before anyone sees it, so the death of the runner loses nothing. For the
//! death of the machine, files are synced at the ends of turns, at requests for permission, when a file is closed, and at the
//! latest [`SYNC_INTERVAL`] after a record that the server has not acknowledged by then. What it has acknowledged is on its disk;
//! while it keeps up, the words of many agents cost no syncs of their own.

mod reader;
mod record;
mod segment;
mod unsynced;

use std::{
    collections::VecDeque,
    fs::{DirBuilder, File, OpenOptions},
    io::{self, Write},
    os::unix::fs::{DirBuilderExt, OpenOptionsExt},
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use self::unsynced::Unsynced;
pub use self::{reader::JournalReader, record::Record};
use crate::event::AgentEvent;

/// The longest that a record is neither synced nor acknowledged.
pub const SYNC_INTERVAL: Duration = Duration::from_millis(200);

/// The writing end. There is one per run; the lock on the run's directory sees to that.
#[derive(Debug)]
pub struct Journal {
    dir: PathBuf,
    segment_bytes: u64,
    file: File,
    /// Oldest first; the last is the one being written.
    segments: VecDeque<Segment>,
    newest: u64,
    acked: u64,
    unsynced: Unsynced,
    line: Vec<u8>,
}

#[derive(Debug)]
struct Segment {
    first: u64,
    bytes: u64,
}

impl Journal {
    /// Opens the journal in `dir`, made if absent. A torn tail is cut.
    pub fn open(dir: &Path, segment_bytes: u64) -> io::Result<Self> {
        DirBuilder::new().recursive(true).mode(0o700).create(dir)?;
        let mut segments = VecDeque::new();
        let mut newest = 0;
        let mut whole = true;
        for first in segment::list(dir)? {
            let path = segment::path(dir, first);
            // What follows a damaged record is not in order any more and was never acknowledged.
            if !whole || (newest > 0 && first != newest + 1) {
                std::fs::remove_file(path)?;
                continue;
            }
            let found = segment::scan(&path, first)?;
            whole = !found.torn;
            if found.torn {
                let file = OpenOptions::new().write(true).open(&path)?;
                file.set_len(found.bytes)?;
                file.sync_all()?;
            }
            newest = found.next - 1;
            segments.push_back(Segment {
                first,
                bytes: found.bytes,
            });
        }
        if segments.is_empty() {
            segments.push_back(Segment { first: 1, bytes: 0 });
        }
        let last = segments.back().map_or(1, |segment| segment.first);
        Ok(Self {
            dir: dir.to_owned(),
            segment_bytes,
            file: append_to(&segment::path(dir, last))?,
            acked: segments[0].first - 1,
            segments,
            newest,
            unsynced: Unsynced::default(),
            line: Vec::new(),
        })
    }

    /// Appends an event and returns its number.
    pub fn append(&mut self, at: u64, event: &AgentEvent) -> io::Result<u64> {
        let seq = self.newest + 1;
        if self.current().bytes >= self.segment_bytes {
            self.rotate(seq)?;
        }
        self.line.clear();
        record::encode(seq, at, event, &mut self.line)?;
        if let Err(error) = self.file.write_all(&self.line) {
            // Half a record must not stay in front of the next one.
            let whole = self.current().bytes;
            self.file.set_len(whole)?;
            return Err(error);
        }
        let written = self.line.len() as u64;
        self.current().bytes += written;
        self.line.shrink_to(64 << 10);
        self.newest = seq;
        self.unsynced.note(seq, Instant::now());
        Ok(seq)
    }

    /// Notes that the server has everything up to `seq`, and lets go of what nobody needs.
    pub fn ack(&mut self, seq: u64) -> io::Result<()> {
        self.acked = self.acked.max(seq.min(self.newest));
        self.unsynced.let_go(self.acked);
        while self.segments.len() > 1 && self.segments[1].first <= self.acked + 1 {
            std::fs::remove_file(segment::path(&self.dir, self.segments[0].first))?;
            self.segments.pop_front();
        }
        Ok(())
    }

    /// Returns the newest number; 0 when there is none.
    pub fn newest(&self) -> u64 {
        self.newest
    }

    pub fn acked(&self) -> u64 {
        self.acked
    }

    /// Returns the bytes on disk that the server has not let go.
    pub fn bytes(&self) -> u64 {
        self.segments.iter().map(|segment| segment.bytes).sum()
    }

    /// Makes everything durable now.
    pub fn sync(&mut self) -> io::Result<()> {
        self.unsynced.take();
        self.file.sync_data()
    }

    /// Returns a handle to sync elsewhere, when there is something to sync; what is appended later counts as unsynced again.
    pub fn take_unsynced(&mut self) -> io::Result<Option<File>> {
        match self.unsynced.take() {
            true => self.file.try_clone().map(Some),
            false => Ok(None),
        }
    }

    /// Returns by when it is to be synced, if it is.
    pub fn sync_by(&self) -> Option<Instant> {
        Some(self.unsynced.since()? + SYNC_INTERVAL)
    }

    fn rotate(&mut self, first: u64) -> io::Result<()> {
        self.sync()?;
        self.file = append_to(&segment::path(&self.dir, first))?;
        self.segments.push_back(Segment { first, bytes: 0 });
        // The name of a new file is durable only with its directory.
        File::open(&self.dir)?.sync_all()?;
        let acked = self.acked;
        self.ack(acked)
    }

    fn current(&mut self) -> &mut Segment {
        self.segments
            .back_mut()
            .expect("a journal always has a segment")
    }
}

fn append_to(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .open(path)
}

#[cfg(test)]
mod tests;
