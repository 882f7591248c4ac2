//! Deleting resources that others depend on: finds the dependent resources and describes them.

use core::fmt;

/// Dependent resources of one kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dependents {
    pub kind: DependentKind,
    pub count: u64,
    /// The ids of the first few, oldest first.
    pub first: Vec<String>,
}

/// What can depend on a board, a repository or a user.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DependentKind {
    Sessions,
    Worktrees,
    Loops,
    Tasks,
    Notes,
    Webhooks,
    Boards,
    Repos,
    Keys,
    /// Boards that others shared with a user.
    Shares,
    Credentials,
}

impl DependentKind {
    /// Returns the kind as callers see it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sessions => "sessions",
            Self::Worktrees => "worktrees",
            Self::Loops => "loops",
            Self::Tasks => "tasks",
            Self::Notes => "notes",
            Self::Webhooks => "webhooks",
            Self::Boards => "boards",
            Self::Repos => "repos",
            Self::Keys => "keys",
            Self::Shares => "shares",
            Self::Credentials => "credentials",
        }
    }
}

impl Dependents {
    /// How many ids are listed of each kind.
    pub const FIRST_MAX: u32 = 5;
}

impl fmt::Display for Dependents {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (kind, count) = (self.kind.as_str(), self.count);
        let kind = match count {
            1 => &kind[..kind.len() - 1],
            _ => kind,
        };
        write!(f, "{count} {kind} ({}", self.first.join(", "))?;
        let is_more = count > self.first.len() as u64;
        f.write_str(if is_more { ", …)" } else { ")" })
    }
}

/// Lists dependents in one line.
pub fn list_dependents(dependents: &[Dependents]) -> String {
    let texts: Vec<_> = dependents.iter().map(ToString::to_string).collect();
    texts.join(", ")
}

/// Whether something is deleted although others depend on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeleteMode {
    /// It is refused.
    IfUnused,
    /// What depends on it is ended or detached first.
    Force,
}

impl DeleteMode {
    /// Reads the flag of a request.
    pub fn of(force: bool) -> Self {
        match force {
            true => Self::Force,
            false => Self::IfUnused,
        }
    }

    /// Returns the mode as it is recorded.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::IfUnused => "if_unused",
            Self::Force => "force",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dependents_are_counted_and_the_first_are_named() {
        let of = |kind, count, ids: &[&str]| Dependents {
            kind,
            count,
            first: ids.iter().map(|id| (*id).to_owned()).collect(),
        };
        let all = [
            of(DependentKind::Sessions, 7, &["a", "b"]),
            of(DependentKind::Loops, 1, &["c"]),
        ];
        assert_eq!(list_dependents(&all), "7 sessions (a, b, …), 1 loop (c)");
    }
}
