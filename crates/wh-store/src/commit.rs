//! What is committed together with a change.

use wh_domain::{
    EventSeq, IdempotencyKey, KeyId, NewAuditEntry, NewEvent, Operation, Subject, UserId,
};

/// What becomes durable together with a change: who did it, whom to tell, and the claim that makes a repeat harmless.
#[derive(Clone, Debug)]
pub struct Commit {
    pub audit: NewAuditEntry,
    pub events: Vec<NewEvent>,
    pub idempotency: Option<IdempotencyClaim>,
}

/// A caller's mark on a request that it may send twice.
///
/// The first commit with a mark wins. A later one with the same mark and request within a day changes nothing and
/// gets [`Applied::Replayed`]; with the same mark and another request it gets [`crate::StoreError::KeyReused`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdempotencyClaim {
    pub user: UserId,
    /// The credential's key; marks of different credentials never meet.
    pub key: Option<KeyId>,
    pub mark: IdempotencyKey,
    pub operation: Operation,
    /// A digest of what was asked.
    pub request: [u8; 32],
    /// What the request made or changed.
    pub subject: Subject,
}

impl IdempotencyClaim {
    /// Hours for which a repeat gets the first result.
    pub const REMEMBERED_HOURS: i64 = 24;
}

/// What a commit did.
#[must_use]
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Applied {
    /// The change is durable; the number of its last event, if it has any.
    Done { seq: Option<EventSeq> },
    /// The same request was committed before, about this subject; nothing was changed now.
    Replayed { subject: Subject },
}
