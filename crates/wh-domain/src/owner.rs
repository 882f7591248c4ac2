//! Whose something is, and how far a principal can see.

use crate::{Board, KeyId, SessionId, ShareLevel, UserId};

/// Whose an entity is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Owner {
    pub user: UserId,
    /// The client key that made it; only that key's calls (and the user's own) see it.
    pub key: Option<KeyId>,
}

impl Owner {
    /// Returns the part of the world that the owner sees.
    pub fn reach(self) -> Reach {
        match self.key {
            Some(key) => Reach::Key(key),
            None => Reach::User(self.user),
        }
    }
}

/// The part of the world a principal can see. Everything outside it does not exist for the caller.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reach {
    /// Everything of everyone.
    All,
    /// What one user owns.
    User(UserId),
    /// What others share with one user, at this level or above.
    Guest { user: UserId, level: ShareLevel },
    /// What one user owns, and what others share with them.
    UserAndGuest { user: UserId, level: ShareLevel },
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
            Self::User(user) | Self::UserAndGuest { user, .. } => owner.user == user,
            Self::Key(key) => owner.key == Some(key),
            Self::Guest { .. } | Self::Tree(_) => false,
        }
    }

    /// Tells whether a board lies within reach; of a session's tree, the store tells.
    pub fn covers_board(self, board: &Board) -> bool {
        let given = match self {
            Self::Guest { user, level } | Self::UserAndGuest { user, level } => {
                board.owner.user != user && board.level_for(user) >= Some(level)
            }
            _ => false,
        };
        given || self.covers_owner(board.owner)
    }

    /// Returns the part of it that is not only shared.
    #[must_use]
    pub fn own(self) -> Self {
        match self {
            Self::UserAndGuest { user, .. } => Self::User(user),
            reach => reach,
        }
    }
}
