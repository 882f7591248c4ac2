//! People and service accounts.

use std::path::PathBuf;

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
    /// Since when nothing lets them in and nothing of theirs runs.
    pub disabled_at: Option<Timestamp>,
    /// The directories of the server's machine that a member may open, beside those the configuration allows everyone.
    /// Resolved paths, sorted.
    pub local_roots: Vec<PathBuf>,
}

impl User {
    /// The most directories that one user is allowed.
    pub const LOCAL_ROOTS_MAX: usize = 50;

    /// Tells whether the user is let in, and whether what is theirs may run.
    pub fn is_active(&self) -> bool {
        self.disabled_at.is_none()
    }
}

/// What to change about a user; what is absent stays.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserPatch {
    pub role: Option<UserRole>,
    /// `Some(None)` takes it away.
    pub email: Option<Option<String>>,
    pub disabled: Option<bool>,
    /// Directories that the user may open from now on, as resolved paths.
    pub allow_paths: Vec<PathBuf>,
    /// Directories that the user may not open any more; one that was not allowed is ignored.
    pub disallow_paths: Vec<PathBuf>,
}

impl UserPatch {
    /// Returns the user as this leaves them. One who is disabled already stays so since then.
    pub fn apply(&self, mut user: User, at: Timestamp) -> User {
        user.role = self.role.unwrap_or(user.role);
        if let Some(email) = &self.email {
            user.email.clone_from(email);
        }
        match self.disabled {
            Some(true) => user.disabled_at = user.disabled_at.or(Some(at)),
            Some(false) => user.disabled_at = None,
            None => {}
        }
        let roots = &mut user.local_roots;
        roots.retain(|root| !self.disallow_paths.contains(root));
        roots.extend(self.allow_paths.iter().cloned());
        roots.sort();
        roots.dedup();
        user
    }
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
