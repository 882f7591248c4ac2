//! What may be written a moment later: audit entries of reads, and when keys were last used.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use tokio::sync::{Notify, Semaphore};
use tokio::time::{Instant, sleep_until, timeout};
use wh_domain::KeyId;
use wh_store::{Result, StoreError};

use crate::audit::AuditRow;
use crate::error::closed;

/// How long an entry waits at most for others, or for a change, to be written together with.
const DELAY: Duration = Duration::from_millis(200);

/// So many entries are not kept waiting any longer.
const ENTRIES_PROMPT: usize = 1_024;

/// The most entries that may be unwritten; a caller waits when there are more.
const ENTRIES_MAX: usize = 8_192;

/// How long a caller waits for room. It takes that long only when the disk is full or failing.
const ROOM_WAIT: Duration = Duration::from_secs(2);

/// Entries that wait to be written.
pub(crate) struct Notes {
    waiting: Mutex<Waiting>,
    room: Semaphore,
    changed: Notify,
}

/// What waits.
#[derive(Default)]
pub(crate) struct Waiting {
    pub(crate) audits: Vec<AuditRow>,
    pub(crate) touched: HashMap<KeyId, Timestamp>,
    since: Option<Instant>,
    /// The last attempt failed, so the next one waits its time even when there are many.
    failed: bool,
    closed: bool,
}

impl Waiting {
    pub(crate) fn is_empty(&self) -> bool {
        self.audits.is_empty() && self.touched.is_empty()
    }
}

impl Notes {
    pub(crate) fn new() -> Self {
        Self {
            waiting: Mutex::default(),
            room: Semaphore::new(ENTRIES_MAX),
            changed: Notify::new(),
        }
    }

    /// Adds an audit entry; waits for room, but not until it is written.
    pub(crate) async fn audit(&self, entry: AuditRow) -> Result<()> {
        match self.room.try_acquire() {
            Ok(permit) => permit.forget(),
            Err(_) => self.wait_for_room().await?,
        }
        let mut waiting = self.lock();
        if waiting.closed {
            return Err(closed());
        }
        waiting.audits.push(entry);
        let prompt = waiting.audits.len() == ENTRIES_PROMPT;
        self.begin(waiting, prompt);
        Ok(())
    }

    async fn wait_for_room(&self) -> Result<()> {
        match timeout(ROOM_WAIT, self.room.acquire()).await {
            Ok(Ok(permit)) => permit.forget(),
            Ok(Err(_)) => return Err(closed()),
            Err(_) => {
                let message = "audit entries cannot be written".to_owned();
                return Err(StoreError::Unavailable { message });
            }
        }
        Ok(())
    }

    /// Remembers when keys were last used.
    pub(crate) fn touch(&self, used: &[(KeyId, Timestamp)]) -> Result<()> {
        let mut waiting = self.lock();
        if waiting.closed {
            return Err(closed());
        }
        for (key, at) in used {
            let latest = waiting.touched.entry(*key).or_insert(*at);
            *latest = (*latest).max(*at);
        }
        if !used.is_empty() {
            self.begin(waiting, false);
        }
        Ok(())
    }

    fn begin(&self, mut waiting: MutexGuard<'_, Waiting>, prompt: bool) {
        let first = waiting.since.is_none();
        waiting.since.get_or_insert_with(Instant::now);
        drop(waiting);
        if first || prompt {
            self.changed.notify_one();
        }
    }

    /// Waits until something should be written even if nothing else is.
    ///
    /// # Cancel safety
    ///
    /// It only looks; a later call sees the same.
    pub(crate) async fn due(&self) {
        loop {
            let deadline = {
                let waiting = self.lock();
                if waiting.audits.len() >= ENTRIES_PROMPT && !waiting.failed {
                    return;
                }
                waiting.since.map(|since| since + DELAY)
            };
            match deadline {
                None => self.changed.notified().await,
                Some(deadline) => tokio::select! {
                    () = sleep_until(deadline) => return,
                    () = self.changed.notified() => {}
                },
            }
        }
    }

    /// Takes everything that waits. Give it to [`Self::written`] or [`Self::put_back`].
    pub(crate) fn take(&self) -> Waiting {
        let mut waiting = self.lock();
        let closed = waiting.closed;
        let taken = std::mem::take(&mut *waiting);
        waiting.closed = closed;
        taken
    }

    /// Makes room again for what was written.
    pub(crate) fn written(&self, entries: usize) {
        self.room.add_permits(entries);
    }

    /// Keeps what could not be written, for another attempt.
    pub(crate) fn put_back(&self, mut taken: Waiting) {
        let mut waiting = self.lock();
        taken.audits.append(&mut waiting.audits);
        for (key, at) in waiting.touched.drain() {
            taken.touched.insert(key, at);
        }
        waiting.since = (!taken.is_empty()).then(Instant::now);
        waiting.audits = taken.audits;
        waiting.touched = taken.touched;
        waiting.failed = true;
    }

    /// Takes no more entries.
    pub(crate) fn close(&self) {
        self.lock().closed = true;
        self.room.close();
    }

    fn lock(&self) -> MutexGuard<'_, Waiting> {
        // Nothing in here can panic half-way through a change.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
