//! The change feed: one numbered entry for everything that changed.

use std::collections::BTreeMap;

use jiff::Timestamp;
use newtype_uuid::{GenericUuid, TypedUuid};
use uuid::Uuid;

use crate::{
    ApprovalIdKind, BoardKind, HostCredentialKind, KeyKind, LoopKind, Owner, RepoKind, SessionId,
    SessionKind, TaskListKind, TurnKind, UserId, UserKind, WebhookKind, WorktreeKind,
};

/// The global number of an event. Numbers have no gaps, and a larger one was committed later.
pub type EventSeq = u64;

/// One entry of the change feed. It says what changed, not what it changed to: a reader asks for that, with its own
/// rights.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    pub seq: EventSeq,
    pub at: Timestamp,
    pub body: NewEvent,
}

/// An event that has no number yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewEvent {
    pub kind: EventKind,
    pub subject: Subject,
    /// Whose the subject is: who may see the event.
    pub owner: Owner,
    /// The session it belongs to, for those who follow a tree.
    pub session: Option<SessionId>,
    /// Who caused it; nobody when the server did it by itself.
    pub actor: Option<UserId>,
    /// A few words a follower would otherwise have to ask for.
    pub facts: Facts,
}

/// Short facts by name.
pub type Facts = BTreeMap<String, String>;

/// What something is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Subject {
    pub kind: SubjectKind,
    pub id: Uuid,
}

/// The kinds of things that change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum SubjectKind {
    User,
    Key,
    Repo,
    Worktree,
    Board,
    Session,
    Turn,
    Approval,
    TaskList,
    Loop,
    Setting,
    Server,
    Webhook,
    Credential,
}

macro_rules! subject_from {
    ($($kind:ty => $subject:ident),+ $(,)?) => {$(
        impl From<TypedUuid<$kind>> for Subject {
            fn from(id: TypedUuid<$kind>) -> Self {
                Self { kind: SubjectKind::$subject, id: id.into_untyped_uuid() }
            }
        }
    )+};
}

subject_from! {
    UserKind => User,
    KeyKind => Key,
    RepoKind => Repo,
    WorktreeKind => Worktree,
    BoardKind => Board,
    SessionKind => Session,
    TurnKind => Turn,
    ApprovalIdKind => Approval,
    WebhookKind => Webhook,
    HostCredentialKind => Credential,
    TaskListKind => TaskList,
    LoopKind => Loop,
}

impl SubjectKind {
    /// Every kind.
    pub const ALL: [Self; 14] = [
        Self::User,
        Self::Key,
        Self::Repo,
        Self::Worktree,
        Self::Board,
        Self::Session,
        Self::Turn,
        Self::Approval,
        Self::TaskList,
        Self::Loop,
        Self::Setting,
        Self::Server,
        Self::Webhook,
        Self::Credential,
    ];

    /// Returns the kind as stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Key => "key",
            Self::Repo => "repo",
            Self::Worktree => "worktree",
            Self::Board => "board",
            Self::Session => "session",
            Self::Turn => "turn",
            Self::Approval => "approval",
            Self::TaskList => "task_list",
            Self::Loop => "loop",
            Self::Setting => "setting",
            Self::Server => "server",
            Self::Webhook => "webhook",
            Self::Credential => "credential",
        }
    }

    /// Reads a kind back from its text.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum EventKind {
    Created,
    Updated,
    StateChanged,
    /// A session's transcript grew.
    MessageAdded,
    /// The agent's program has written to its stderr; told once for all of a second or so.
    LogChanged,
    Revoked,
    Deleted,
}

impl EventKind {
    /// Every kind.
    pub const ALL: [Self; 7] = [
        Self::Created,
        Self::Updated,
        Self::StateChanged,
        Self::MessageAdded,
        Self::LogChanged,
        Self::Revoked,
        Self::Deleted,
    ];

    /// Returns the kind as stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Created => "created",
            Self::Updated => "updated",
            Self::StateChanged => "state_changed",
            Self::MessageAdded => "message_added",
            Self::LogChanged => "log_changed",
            Self::Revoked => "revoked",
            Self::Deleted => "deleted",
        }
    }

    /// Tells whether it is only words, which move nothing on: those of an agent, or of its program.
    pub fn is_words(self) -> bool {
        matches!(self, Self::MessageAdded | Self::LogChanged)
    }

    /// Reads a kind back from its text.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}
