//! Deleting boards, repositories and users.

use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wh_domain::{Board, DeleteMode, Dependents, InputRefusal, Reference, Repo, User};

use crate::common::reference;

/// A board to delete.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BoardDeleteRequest {
    /// The board's id, or its last 8 digits.
    pub board: String,
    /// Delete it although something depends on it: sessions, worktrees and loops stay without a board; its tasks, notes and webhooks are
    /// deleted. False unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub force: Option<bool>,
    /// Idempotency key chosen by the client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
}

impl BoardDeleteRequest {
    /// Returns which board is meant.
    pub fn board(&self) -> Result<Reference, InputRefusal> {
        reference("board", &self.board)
    }

    /// Returns what happens to what depends on it.
    pub fn mode(&self) -> DeleteMode {
        DeleteMode::of(self.force.unwrap_or(false))
    }
}

/// A repository to delete.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RepoDeleteRequest {
    /// The id of a repository, its last 8 digits, or its name.
    pub repo: String,
    /// Delete it although something depends on it: loops are stopped, sessions stopped and archived, worktrees removed after everything
    /// in them was saved. False unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub force: Option<bool>,
    /// Idempotency key chosen by the client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
}

impl RepoDeleteRequest {
    /// Returns which repository is meant.
    pub fn repo(&self) -> Result<Reference, InputRefusal> {
        reference("repo", &self.repo)
    }

    /// Returns what happens to what depends on it.
    pub fn mode(&self) -> DeleteMode {
        DeleteMode::of(self.force.unwrap_or(false))
    }
}

/// A user to delete.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct UserDeleteRequest {
    /// The user's id or name.
    pub user: String,
    /// Delete the user although something depends on it: sessions are stopped and everything the user owns becomes yours; keys are
    /// revoked, and shares, webhooks and the user's own credentials deleted. False unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub force: Option<bool>,
    /// Idempotency key chosen by the client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
}

impl UserDeleteRequest {
    /// Returns which user is meant.
    pub fn user(&self) -> Result<Reference, InputRefusal> {
        reference("user", &self.user)
    }

    /// Returns what happens to what depends on it.
    pub fn mode(&self) -> DeleteMode {
        DeleteMode::of(self.force.unwrap_or(false))
    }
}

/// Dependent resources of one kind.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DependentsView {
    /// sessions, worktrees, loops, tasks, notes, webhooks, boards, repos, keys, shares or credentials
    pub kind: String,
    pub count: u64,
    /// The ids of the first few.
    pub first: Vec<String>,
}

impl From<Dependents> for DependentsView {
    fn from(dependents: Dependents) -> Self {
        Self {
            kind: dependents.kind.as_str().to_owned(),
            count: dependents.count,
            first: dependents.first,
        }
    }
}

/// Something that was deleted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct DeletedView {
    pub id: String,
    pub name: String,
    /// Dependent resources that were detached, stopped, handed over or deleted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub dependents: Vec<DependentsView>,
    /// Where the server keeps its clone of a repository, with branches and saved work that may be nowhere else.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kept: Option<String>,
}

impl DeletedView {
    /// Shows a board that was deleted.
    pub fn of_board(board: &Board, dependents: Vec<Dependents>) -> Self {
        Self {
            id: board.id.to_string(),
            name: board.name.to_string(),
            dependents: dependents.into_iter().map(Into::into).collect(),
            kept: None,
        }
    }

    /// Shows a user who was deleted.
    pub fn of_user(user: &User, dependents: Vec<Dependents>) -> Self {
        Self {
            id: user.id.to_string(),
            name: user.name.to_string(),
            dependents: dependents.into_iter().map(Into::into).collect(),
            kept: None,
        }
    }

    /// Shows a repository that was deleted.
    pub fn of_repo(repo: &Repo, dependents: Vec<Dependents>, kept: Option<&Path>) -> Self {
        Self {
            id: repo.id.to_string(),
            name: repo.name.to_string(),
            dependents: dependents.into_iter().map(Into::into).collect(),
            kept: kept.map(|path| path.display().to_string()),
        }
    }
}
