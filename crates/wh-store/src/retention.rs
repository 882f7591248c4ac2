//! What is kept for a while only.

use async_trait::async_trait;
use jiff::Timestamp;

use crate::Result;

/// What may be forgotten.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expired {
    /// Events from before this time; the newest event is always kept, so that numbers go on.
    pub events_before: Timestamp,
    /// Audit entries of reads and refusals from before this time. Entries of changes are kept for good.
    pub reads_before: Timestamp,
    /// The most rows of each kind to remove in one go.
    pub rows_max: u32,
}

/// How much was removed.
#[must_use]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Forgotten {
    pub events: u64,
    pub reads: u64,
}

/// Keeps the database from growing for ever.
#[async_trait]
pub trait RetentionStore {
    /// Removes what has expired, oldest first. Followers of the feed who were further behind are told to start over.
    async fn forget(&self, expired: Expired) -> Result<Forgotten>;
}
