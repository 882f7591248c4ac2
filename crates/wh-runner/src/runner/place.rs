//! Whether the run's directory is still the one it was.

use std::{
    fs, io,
    os::unix::fs::MetadataExt,
    path::PathBuf,
    time::{Duration, Instant},
};

use crate::spec::RunDir;

/// How often it is looked at: a deleted directory is noticed so much later at most.
const LOOK_EVERY: Duration = Duration::from_secs(3);

/// The directory of a run, known by the lock in it. Without it nobody can find the runner or read its journal, so a runner that
/// has lost it has nothing left to work for.
#[derive(Debug)]
pub(super) struct Place {
    lock: PathBuf,
    /// Device and number of the lock's file: another directory may come to stand in the same place.
    identity: (u64, u64),
    look_at: Instant,
    is_lost: bool,
}

impl Place {
    /// Takes the directory as it is now; the lock is there.
    pub(super) fn new(dir: &RunDir) -> io::Result<Self> {
        let lock = dir.lock();
        let found = fs::metadata(&lock)?;
        Ok(Self {
            lock,
            identity: (found.dev(), found.ino()),
            look_at: Instant::now() + LOOK_EVERY,
            is_lost: false,
        })
    }

    /// Returns when to look next.
    pub(super) fn due(&self) -> Option<Instant> {
        (!self.is_lost).then_some(self.look_at)
    }

    /// Looks, if it is time. Tells once that the directory is gone; one that cannot be looked at is not gone.
    pub(super) fn is_found_lost(&mut self, now: Instant) -> bool {
        if self.is_lost || now < self.look_at {
            return false;
        }
        self.look_at = now + LOOK_EVERY;
        self.is_lost = match fs::metadata(&self.lock) {
            Ok(found) => (found.dev(), found.ino()) != self.identity,
            Err(error) => matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ),
        };
        self.is_lost
    }

    /// Tells whether it was found to be gone.
    pub(super) fn is_lost(&self) -> bool {
        self.is_lost
    }
}
