//! Whose something is, and how far a principal can see.

use crate::{KeyId, SessionId, UserId};

/// Whose an entity is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    pub user: UserId,
    /// The client key that made it; only that key's calls (and the user's own) see it.
    pub key: Option<KeyId>,
}

/// The part of the world a principal can see. Everything outside it does not exist for the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Everything of everyone.
    All,
    /// What one user owns.
    User(UserId),
    /// What one client key made.
    Key(KeyId),
    /// One session, its descendants, and what they work on.
    Tree(SessionId),
}

impl Reach {
    /// Tells whether something owned by `owner` lies within reach.
    ///
    /// Membership in a session's tree cannot be told from ownership: the store answers that one.
    pub fn covers_owner(self, owner: Owner) -> bool {
        match self {
            Self::All => true,
            Self::User(user) => owner.user == user,
            Self::Key(key) => owner.key == Some(key),
            Self::Tree(_) => false,
        }
    }
}
