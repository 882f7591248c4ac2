//! Who is calling.

use crate::{
    KeyId, Operation, Owner, Reach, RoleSet, SessionId, SessionRole, ShareLevel, SubjectKind,
    UserId, UserRole,
};

/// Who is calling: a user and the credential that speaks for them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Principal {
    pub user: UserId,
    pub role: UserRole,
    pub credential: Credential,
}

/// What the caller showed to be let in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Credential {
    /// The server's own user, on the local socket.
    Local,
    /// A signed-in browser.
    Browser {
        key: KeyId,
    },
    Full {
        key: KeyId,
    },
    Read {
        key: KeyId,
    },
    /// Sees only what this key created.
    Client {
        key: KeyId,
    },
    /// An agent, bound to one session and one run of it.
    Session {
        key: KeyId,
        session: SessionId,
        role: SessionRole,
        /// The roles of the sessions above it.
        lineage: RoleSet,
        epoch: u64,
    },
    /// May change the name of one session, and do nothing else.
    SessionInternal {
        key: KeyId,
        session: SessionId,
    },
}

/// The kind of a credential, without its ids.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CredentialKind {
    Local,
    Browser,
    Full,
    Read,
    Client,
    Session,
    SessionInternal,
}

impl CredentialKind {
    /// Every kind.
    pub const ALL: [Self; 7] = [
        Self::Local,
        Self::Browser,
        Self::Full,
        Self::Read,
        Self::Client,
        Self::Session,
        Self::SessionInternal,
    ];

    /// Returns the kind as stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Browser => "browser",
            Self::Full => "full",
            Self::Read => "read",
            Self::Client => "client",
            Self::Session => "session",
            Self::SessionInternal => "session_internal",
        }
    }

    /// Reads a kind back from its text.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == text)
    }
}

impl Credential {
    /// Returns the kind of this credential.
    pub fn kind(&self) -> CredentialKind {
        match self {
            Self::Local => CredentialKind::Local,
            Self::Browser { .. } => CredentialKind::Browser,
            Self::Full { .. } => CredentialKind::Full,
            Self::Read { .. } => CredentialKind::Read,
            Self::Client { .. } => CredentialKind::Client,
            Self::Session { .. } => CredentialKind::Session,
            Self::SessionInternal { .. } => CredentialKind::SessionInternal,
        }
    }

    /// Returns the key behind it; the local socket has none.
    pub fn key(&self) -> Option<KeyId> {
        match self {
            Self::Local => None,
            Self::Browser { key }
            | Self::Full { key }
            | Self::Read { key }
            | Self::Client { key }
            | Self::Session { key, .. }
            | Self::SessionInternal { key, .. } => Some(*key),
        }
    }

    /// Returns the session it is bound to.
    pub fn session(&self) -> Option<SessionId> {
        match self {
            Self::Session { session, .. } | Self::SessionInternal { session, .. } => Some(*session),
            _ => None,
        }
    }
}

impl Principal {
    /// Returns the part of the world this principal can see.
    pub fn reach(&self) -> Reach {
        match &self.credential {
            Credential::Client { key } => Reach::Key(*key),
            Credential::Session { .. } if self.leads() => Reach::User(self.user),
            Credential::Session { session, .. } | Credential::SessionInternal { session, .. } => {
                Reach::Tree(*session)
            }
            _ if self.role == UserRole::Admin => Reach::All,
            _ => Reach::User(self.user),
        }
    }

    /// Returns what others share with this principal's user, if its credential sees more than its own.
    pub fn guest_reach(&self, level: ShareLevel) -> Option<Reach> {
        let user = self.user;
        let is_user = matches!(self.reach(), Reach::All | Reach::User(_));
        (is_user && !self.leads()).then_some(Reach::Guest { user, level })
    }

    /// Returns whether events about things of this kind are told to this principal, if they lie within its reach.
    pub fn sees_events_of(&self, kind: SubjectKind) -> bool {
        use SubjectKind::{Key, Server, Setting, User, Webhook};
        !(self.leads() && matches!(kind, User | Key | Setting | Server | Webhook))
    }

    /// Returns the owner of what this principal makes.
    pub fn owner(&self) -> Owner {
        let key = match &self.credential {
            Credential::Client { key } => Some(*key),
            _ => None,
        };
        Owner {
            user: self.user,
            key,
        }
    }
}

/// Why a call was refused before anything was looked at.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Denied {
    /// The credential's scope or role does not include the operation.
    #[error("a {} credential may not call {}", kind.as_str(), operation.name())]
    Scope {
        operation: Operation,
        kind: CredentialKind,
    },
    /// The user is not an administrator.
    #[error("only an administrator may call {}", operation.name())]
    Standing { operation: Operation },
    /// The operation is about the caller's own session, and the credential has none.
    #[error("this credential is not bound to a session")]
    NoSession,
}
