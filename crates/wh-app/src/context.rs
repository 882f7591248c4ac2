//! Who calls, when, and by which request: what every operation is given.

use std::sync::{
    Arc, OnceLock,
    atomic::{AtomicBool, AtomicU32, Ordering},
};

use jiff::Timestamp;
use sha2::{Digest, Sha256};
use uuid::Uuid;
use wh_domain::{
    Denied, Facts, IdempotencyKey, NewAuditEntry, NewEvent, Operation, Outcome, Principal, Reach,
    Sender, Subject, Surface,
};
use wh_store::{Commit, IdempotencyClaim};

/// The circumstances of one call.
#[derive(Clone, Debug)]
pub struct OpContext {
    pub principal: Principal,
    pub request: Uuid,
    pub surface: Surface,
    pub now: Timestamp,
    pub idempotency: Option<Idempotency>,
    /// The call of a dialect's tool that this is a part of.
    pub tool: Option<Arc<ToolCall>>,
    /// The operation that this change is a part of, when one call makes several changes.
    pub(crate) part_of: Option<Operation>,
    pub(crate) entries: EntryCount,
}

/// How many entries of the audit log were made for one call. Clones of its circumstances count together.
#[derive(Clone, Debug, Default)]
pub(crate) struct EntryCount(Arc<AtomicU32>);

impl EntryCount {
    pub(crate) fn get(&self) -> u32 {
        self.0.load(Ordering::Relaxed)
    }
}

/// A call of a dialect's tool. Whatever operations it takes, it is one entry of the audit log: that of its change, or else its own. What it
/// changes besides is recorded as [`OpContext::part`]s.
#[derive(Debug)]
pub struct ToolCall {
    name: &'static str,
    has_changed: AtomicBool,
    /// What was asked, by the first operation.
    facts: OnceLock<Facts>,
}

/// A caller's mark on a request that it may send twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Idempotency {
    pub mark: IdempotencyKey,
    /// A digest of the request as it was sent.
    pub request: [u8; 32],
}

impl OpContext {
    /// The fact that names the tool of a dialect.
    pub const TOOL: &str = "tool";

    /// Makes it a part of the call of a dialect's tool.
    #[must_use]
    pub fn within_tool(self, name: &'static str) -> Self {
        let call = ToolCall {
            name,
            has_changed: AtomicBool::new(false),
            facts: OnceLock::new(),
        };
        Self {
            tool: Some(Arc::new(call)),
            ..self
        }
    }

    /// Returns the circumstances of one more change of a call of `operation`. Each has an idempotency key of its own.
    ///
    /// A part is recorded with its change, as every change is, but without a subject, so that it is listed with the reads: the entry of
    /// `operation` stands for the call. It has the same request id.
    #[must_use]
    pub fn part(&self, operation: Operation, n: usize) -> Self {
        let idempotency = self.idempotency.as_ref().map(|given| {
            let mut digest = Sha256::new();
            digest.update(given.mark.as_str());
            digest.update(n.to_be_bytes());
            let mark: String = digest
                .finalize()
                .iter()
                .map(|it| format!("{it:02x}"))
                .collect();
            Idempotency {
                mark: IdempotencyKey::parse(&mark).expect("a digest is a key"),
                request: given.request,
            }
        });
        Self {
            idempotency,
            part_of: Some(operation),
            ..self.clone()
        }
    }

    /// Keeps what was asked for the entry of the call that this is a part of; false if there is none.
    pub(crate) fn leave_to_tool(&self, facts: &Facts) -> bool {
        if let Some(tool) = &self.tool {
            let _is_first = tool.facts.set(facts.clone());
        }
        self.tool.is_some()
    }

    /// Notes that a change was committed with the entry of the call.
    pub(crate) fn note_change(&self) {
        if let Some(tool) = self.tool.as_ref().filter(|_| self.part_of.is_none()) {
            tool.has_changed.store(true, Ordering::Relaxed);
        }
    }

    /// Returns what is recorded of the call of a dialect's tool that is over; nothing if its change has recorded it.
    pub(crate) fn tool_entry(
        &self,
        operation: Operation,
        outcome: Outcome,
    ) -> Option<NewAuditEntry> {
        let tool = self.tool.as_ref()?;
        if outcome == Outcome::Done && tool.has_changed.load(Ordering::Relaxed) {
            return None;
        }
        let facts = tool.facts.get().cloned().unwrap_or_default();
        Some(self.audit(operation, None, outcome, facts))
    }

    /// Decides whether the caller may do this, and on which part of the world.
    pub(crate) fn authorize(&self, operation: Operation) -> Result<Reach, Denied> {
        self.principal.authorize(operation)
    }

    /// Returns who asks.
    pub(crate) fn sender(&self) -> Sender {
        Sender {
            user: self.principal.user,
            session: self.principal.credential.session(),
        }
    }

    /// Makes what is committed together with a change to `subject`.
    pub(crate) fn commit(
        &self,
        operation: Operation,
        subject: Subject,
        facts: Facts,
        events: Vec<NewEvent>,
    ) -> Commit {
        Commit {
            audit: self.audit(operation, Some(subject), Outcome::Done, facts),
            events,
            idempotency: self.claim(operation, subject),
        }
    }

    /// Makes the claim on the caller's mark, if there is one.
    pub(crate) fn claim(&self, operation: Operation, subject: Subject) -> Option<IdempotencyClaim> {
        self.idempotency.as_ref().map(|given| IdempotencyClaim {
            user: self.principal.user,
            key: self.principal.credential.key(),
            mark: given.mark.clone(),
            operation,
            request: given.request,
            subject,
        })
    }

    /// Makes the audit entry of a call that ended like this.
    pub(crate) fn audit(
        &self,
        operation: Operation,
        subject: Option<Subject>,
        outcome: Outcome,
        mut facts: Facts,
    ) -> NewAuditEntry {
        self.entries.0.fetch_add(1, Ordering::Relaxed);
        if let Some(tool) = &self.tool {
            facts.insert(Self::TOOL.to_owned(), tool.name.to_owned());
        }
        let entry = NewAuditEntry {
            at: self.now,
            request: self.request,
            user: self.principal.user,
            credential: self.principal.credential.kind(),
            key: self.principal.credential.key(),
            session: self.principal.credential.session(),
            surface: self.surface,
            operation,
            subject,
            outcome,
            facts,
        };
        match self.part_of {
            Some(operation) => entry.part_of(operation),
            None => entry,
        }
    }
}

/// Collects short facts for the audit log, without secrets and bounded.
pub(crate) fn facts<const N: usize>(pairs: [(&str, &str); N]) -> Facts {
    /// The most bytes of a fact that are kept.
    const FACT_BYTES_MAX: usize = 200;
    pairs
        .into_iter()
        .map(|(name, value)| {
            let mut value = wh_domain::redact(value).into_owned();
            value.truncate(value.floor_char_boundary(FACT_BYTES_MAX));
            (name.to_owned(), value)
        })
        .collect()
}

/// Returns the outcome to record for a result.
pub(crate) fn outcome<T>(result: &Result<T, crate::AppError>) -> Outcome {
    match result {
        Ok(_) => Outcome::Done,
        Err(error) => Outcome::Refused(error.code()),
    }
}
