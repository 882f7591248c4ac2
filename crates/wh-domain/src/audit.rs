//! The audit log: who called what, with what outcome.

use jiff::Timestamp;
use uuid::Uuid;

use crate::{
    CredentialKind, ErrorCode, Facts, KeyId, Operation, SessionId, Subject, UserId, UserName,
};

/// One call that reached the application, numbered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEntry {
    pub seq: u64,
    /// The name of who called, also of a deleted user.
    pub user_name: Option<UserName>,
    pub body: NewAuditEntry,
}

/// One call that reached the application.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewAuditEntry {
    pub at: Timestamp,
    pub request: Uuid,
    pub user: UserId,
    pub credential: CredentialKind,
    pub key: Option<KeyId>,
    /// The session whose token called.
    pub session: Option<SessionId>,
    pub surface: Surface,
    pub operation: Operation,
    pub subject: Option<Subject>,
    pub outcome: Outcome,
    /// What was asked, in short, without secrets.
    pub facts: Facts,
}

impl NewAuditEntry {
    /// The fact that tells a repeat from the call that it repeats.
    pub const REPLAY: &str = "replay";

    /// Fact key: the operation of the call that made this change.
    pub const PART_OF: &str = "part_of";

    /// Fact key: the id of the resource that was changed.
    pub const CHANGED: &str = "changed";

    /// Makes it the entry of a part of a call of `operation`, which has an entry of its own. A part has no subject: it is listed with the
    /// reads.
    #[must_use]
    pub fn part_of(mut self, operation: Operation) -> Self {
        self.facts
            .insert(Self::PART_OF.to_owned(), operation.name().to_owned());
        let subject = self.subject.take();
        self.with_subject(subject)
    }

    fn with_subject(mut self, subject: Option<Subject>) -> Self {
        match subject {
            Some(subject) if self.facts.contains_key(Self::PART_OF) => {
                self.facts
                    .insert(Self::CHANGED.to_owned(), subject.id.to_string());
            }
            subject => self.subject = subject,
        }
        self
    }

    /// Returns the entry of a call that repeated an earlier one: about what that one made or changed. What the repeat would have made
    /// itself never existed.
    #[must_use]
    pub fn replay_of(mut self, subject: Subject) -> Self {
        self.facts
            .insert(Self::REPLAY.to_owned(), "true".to_owned());
        self.with_subject(Some(subject))
    }
}

/// How a call ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    Done,
    /// Refused or failed, and why.
    Refused(ErrorCode),
}

/// Where a call came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Surface {
    Mcp,
    Rest,
    /// The server itself: reconcilers and start-up.
    Server,
}

impl Surface {
    /// Every surface.
    pub const ALL: [Self; 3] = [Self::Mcp, Self::Rest, Self::Server];

    /// Returns the surface as stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Mcp => "mcp",
            Self::Rest => "rest",
            Self::Server => "server",
        }
    }

    /// Reads a surface back from its text.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|s| s.as_str() == text)
    }
}
