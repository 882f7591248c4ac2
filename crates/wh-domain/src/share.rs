//! Sharing: what others may do with a board and with the sessions on it.
//!
//! Boards are shared, and nothing else. A session is open to others as the boards are that it is on: the one it was begun
//! on, and those it was placed on. What somebody is not given does not exist for them.

use jiff::Timestamp;

use crate::{Board, BoardRefusal, Reference, User, UserId, UserName};

/// How much of a board's sessions is given. A later one includes those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ShareLevel {
    /// Look at the board, its sessions and what was said in them.
    Read,
    /// Send prompts to its sessions, too.
    Prompt,
}

/// Whom a board is shared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ShareWith {
    /// Every user of this server.
    Everyone,
    User {
        id: UserId,
        name: UserName,
    },
}

/// One grant on a board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Share {
    pub with: ShareWith,
    pub level: ShareLevel,
}

/// A change of whom a board is shared with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoardShareChange {
    pub board: Reference,
    /// Somebody; everyone unless given.
    pub with: Option<Reference>,
    /// Not any more unless given.
    pub level: Option<ShareLevel>,
}

impl ShareWith {
    /// Tells whether a user is meant.
    fn holds(&self, user: UserId) -> bool {
        match self {
            Self::Everyone => true,
            Self::User { id, .. } => *id == user,
        }
    }
}

impl From<User> for ShareWith {
    fn from(user: User) -> Self {
        let (id, name) = (user.id, user.name);
        Self::User { id, name }
    }
}

impl ShareLevel {
    /// Every level, least first.
    pub const ALL: [Self; 2] = [Self::Read, Self::Prompt];

    /// Returns the level as stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Prompt => "prompt",
        }
    }

    /// Reads a level back from its text.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.as_str() == text)
    }
}

impl Board {
    /// The most grants on one board.
    pub const SHARES_MAX: usize = 200;

    /// Returns what a user who does not own the board is given of it.
    pub fn level_for(&self, user: UserId) -> Option<ShareLevel> {
        let given = self.shares.iter().filter(|share| share.with.holds(user));
        given.map(|share| share.level).max()
    }

    /// Returns the board as a user sees it who does not own it: whom else it is shared with is not theirs to know.
    #[must_use]
    pub fn for_guest(&self, user: UserId) -> Self {
        let mut board = self.clone();
        board.shares.retain(|share| share.with.holds(user));
        board
    }

    /// Shares the board with somebody, at another level than before, or (without one) no longer.
    pub fn share(
        &self,
        with: ShareWith,
        level: Option<ShareLevel>,
        now: Timestamp,
    ) -> Result<Self, BoardRefusal> {
        let mut board = self.clone();
        board.shares.retain(|share| share.with != with);
        if let Some(level) = level {
            if board.shares.len() >= Self::SHARES_MAX {
                let (what, max) = ("shares", Self::SHARES_MAX);
                return Err(BoardRefusal::Full { what, max });
            }
            board.shares.push(Share { with, level });
        }
        board.revision += 1;
        board.updated_at = now;
        Ok(board)
    }
}
