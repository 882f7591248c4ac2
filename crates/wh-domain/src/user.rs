//! People and service accounts.

use jiff::Timestamp;

use crate::{UserId, UserName};

/// Someone who owns things and whose keys act for them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct User {
    pub id: UserId,
    pub name: UserName,
    pub role: UserRole,
    pub email: Option<String>,
    pub avatar_url: Option<String>,
    pub created_at: Timestamp,
}

/// What a user may do beyond their own things.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UserRole {
    /// Sees and does everything of everyone.
    Admin,
    /// Sees and does what is their own.
    Member,
}

impl UserRole {
    /// Returns the role as stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Admin => "admin",
            Self::Member => "member",
        }
    }

    /// Reads a role back from its text.
    pub fn parse(text: &str) -> Option<Self> {
        [Self::Admin, Self::Member]
            .into_iter()
            .find(|role| role.as_str() == text)
    }
}
