//! Sessions as people's lists show them: enough to see what each is at without opening it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wh_domain::{Session, SessionState, ShortId};

use crate::common::time;

/// A session in a list, and what it is at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionCardView {
    /// The last 8 digits of the session's id, accepted wherever an id is.
    pub id: String,
    pub title: String,
    pub agent: String,
    pub state: String,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Which part of its own budget is used up: no prompt is run any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_spent: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub archived: bool,
    /// The last 8 digits of its parent's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// The last 8 digits of its worktree's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree: Option<String>,
    /// The latest thing the agent said, shortened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_words: Option<String>,
    pub created_at: String,
    pub updated_at: String,
    /// Millionths of a US dollar; absent when it cost nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<u64>,
}

impl From<&Session> for SessionCardView {
    fn from(session: &Session) -> Self {
        let failure = match &session.state {
            SessionState::Failed { reason } => Some(reason.clone()),
            _ => None,
        };
        Self {
            id: session.id.short_id(),
            title: session.title.to_string(),
            agent: session.agent.to_string(),
            state: session.state.name().as_str().to_owned(),
            failure,
            budget_spent: session.budget_left().used_up().map(str::to_owned),
            archived: session.archived,
            parent: session.parent.map(|id| id.short_id()),
            worktree: session.worktree.map(|id| id.short_id()),
            last_words: session.last_words.clone(),
            created_at: time(session.created_at),
            updated_at: time(session.updated_at),
            cost_micros: Some(session.usage.cost_micros).filter(|cost| *cost > 0),
        }
    }
}
