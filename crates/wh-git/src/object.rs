//! Names of objects, checked once.

use std::fmt;

use crate::GitError;

/// The full name of a commit: 40 or 64 lowercase hex digits, never an abbreviation, option or expression.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CommitId(String);

impl CommitId {
    /// Reads a full commit name.
    pub fn parse(text: &str) -> Result<Self, NotACommitId> {
        let hex = |c: char| matches!(c, '0'..='9' | 'a'..='f');
        if matches!(text.len(), 40 | 64) && text.chars().all(hex) {
            Ok(Self(text.to_owned()))
        } else {
            Err(NotACommitId)
        }
    }

    /// Returns the name as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the name that says "no such reference yet" to `update-ref`.
    pub(crate) fn zero_like(&self) -> String {
        "0".repeat(self.0.len())
    }

    /// Reads what git printed where a commit name is expected.
    pub(crate) fn said(text: &str) -> Result<Self, GitError> {
        Self::parse(text.trim()).map_err(|_| GitError::failed("git printed no commit name"))
    }
}

impl fmt::Display for CommitId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The text is not a full commit name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a commit is named by its 40 or 64 hex digits")]
pub struct NotACommitId;
