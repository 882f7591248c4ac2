//! Which of its tools a caller is shown.

use std::collections::BTreeSet;

/// The groups of tools, by the names `?toolsets=` takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Toolset {
    Session,
    Message,
    Approval,
    Agent,
    Board,
    Repo,
    Worktree,
    Task,
    Admin,
    Discovery,
}

impl Toolset {
    pub(crate) const ALL: [Self; 10] = [
        Self::Session,
        Self::Message,
        Self::Approval,
        Self::Agent,
        Self::Board,
        Self::Repo,
        Self::Worktree,
        Self::Task,
        Self::Admin,
        Self::Discovery,
    ];

    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Message => "message",
            Self::Approval => "approval",
            Self::Agent => "agent",
            Self::Board => "board",
            Self::Repo => "repo",
            Self::Worktree => "worktree",
            Self::Task => "task",
            Self::Admin => "admin",
            Self::Discovery => "discovery",
        }
    }
}

/// What a caller asked to be shown.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Toolsets {
    /// The tools its scope and role use most.
    #[default]
    Default,
    /// Every tool it may call.
    All,
    /// Every tool it may call of these groups.
    Some(ToolsetNames),
}

/// Names of groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolsetNames(BTreeSet<Toolset>);

impl Toolsets {
    /// Reads a comma-separated list, such as `session,board` or `all`. Names that do not exist are refused with the
    /// ones that do, so that a typing mistake never looks like an empty server.
    pub fn parse(text: &str) -> Result<Self, String> {
        let names: Vec<_> = text
            .split(',')
            .map(str::trim)
            .filter(|n| !n.is_empty())
            .collect();
        if names.is_empty() || names == ["default"] {
            return Ok(Self::Default);
        }
        if names.contains(&"all") {
            return Ok(Self::All);
        }
        let read = |name: &&str| {
            let found = Toolset::ALL.into_iter().find(|set| set.as_str() == *name);
            found.ok_or_else(|| {
                let known: Vec<_> = Toolset::ALL.iter().map(|set| set.as_str()).collect();
                format!(
                    "there is no toolset of that name; there are all, {}",
                    known.join(", ")
                )
            })
        };
        let sets = names.iter().map(read).collect::<Result<_, _>>()?;
        Ok(Self::Some(ToolsetNames(sets)))
    }

    /// Reads the `toolsets` parameter of a query string.
    pub(crate) fn from_query(query: Option<&str>) -> Result<Self, String> {
        let pairs = query.unwrap_or_default().split('&');
        let given = pairs
            .filter_map(|pair| pair.strip_prefix("toolsets="))
            .next_back();
        given.map_or(Ok(Self::Default), |value| {
            Self::parse(&value.replace("%2C", ","))
        })
    }

    /// Tells whether a tool of `set` is shown that is, or is not, among the most used.
    pub(crate) fn show(&self, set: Toolset, is_common: bool) -> bool {
        match self {
            Self::Default => is_common,
            Self::All => true,
            Self::Some(names) => set == Toolset::Discovery || names.0.contains(&set),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn queries_choose() {
        assert_eq!(Toolsets::from_query(None), Ok(Toolsets::Default));
        assert_eq!(
            Toolsets::from_query(Some("a=1&toolsets=all")),
            Ok(Toolsets::All)
        );
        let some = Toolsets::from_query(Some("toolsets=board%2Csession")).unwrap();
        assert!(some.show(Toolset::Board, false) && some.show(Toolset::Discovery, true));
        assert!(!some.show(Toolset::Admin, true));
        assert!(Toolsets::from_query(Some("toolsets=bord")).is_err());
    }
}
