//! Approvals: what only a person or a parent may settle.

use jiff::Timestamp;

use crate::{ApprovalId, Author, Sender, SessionId, TurnId};

/// Something an agent waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Approval {
    pub id: ApprovalId,
    pub session: SessionId,
    pub turn: Option<TurnId>,
    /// The run that asked.
    pub epoch: u64,
    /// The run's own name for the request.
    pub request: String,
    pub kind: ApprovalKind,
    pub state: ApprovalState,
    /// What is asked, in words.
    pub text: String,
    /// The rest of it, as JSON: the exact command or change, the options.
    pub detail: Option<String>,
    /// The words of an answer, or the reason of a denial, which the agent reads in its next prompt.
    pub answer: Option<String>,
    /// Allow, or refuse, everything of this kind from now on.
    pub always: bool,
    /// Who settled it; nobody when a rule or the clock did.
    pub answered_by: Option<Author>,
    /// When silence becomes a refusal.
    pub expires_at: Option<Timestamp>,
    pub created_at: Timestamp,
    pub settled_at: Option<Timestamp>,
    /// When the runner confirmed that the agent got the answer, or that it no longer waits for one.
    pub delivered_at: Option<Timestamp>,
}

/// What is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ApprovalKind {
    Permission,
    Question,
    Plan,
}

impl ApprovalKind {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Permission, Self::Question, Self::Plan];

    /// Returns the kind as stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Permission => "permission",
            Self::Question => "question",
            Self::Plan => "plan",
        }
    }

    /// Reads a kind back from its text.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// How an approval stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ApprovalState {
    Pending,
    Allowed,
    Denied,
    /// Nobody answered in time, which denies.
    TimedOut,
    /// The turn that asked is gone.
    Withdrawn,
}

impl ApprovalState {
    /// Every state.
    pub const ALL: [Self; 5] = [
        Self::Pending,
        Self::Allowed,
        Self::Denied,
        Self::TimedOut,
        Self::Withdrawn,
    ];

    /// Returns the state as stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Allowed => "allowed",
            Self::Denied => "denied",
            Self::TimedOut => "timed_out",
            Self::Withdrawn => "withdrawn",
        }
    }

    /// Reads a state back from its text.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.as_str() == text)
    }
}

/// How an approval is settled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settlement {
    pub state: ApprovalState,
    pub answer: Option<String>,
    pub always: bool,
    pub by: Option<Sender>,
}

/// Which approvals a list holds. Everything left open matches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ApprovalFilter {
    pub session: Option<SessionId>,
    /// Settled ones too.
    pub include_settled: bool,
}
