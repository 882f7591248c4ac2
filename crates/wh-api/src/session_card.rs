//! Sessions as people's lists show them: enough to see what each is at without opening it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wh_domain::{
    BoardCards, SessionCard, SessionCounts, SessionState, ShortId, Stage, Tier, WorktreeCard,
    WorktreeChanges,
};

use crate::common::{is_zero, time};

/// A session in a list, and what it is at.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionCardView {
    /// The last 8 digits of the session's id, accepted wherever an id is.
    pub id: String,
    pub title: String,
    pub agent: String,
    pub state: String,
    /// What that means for whoever looks: needs_you, working, in_review, ready_to_merge, ready or done
    pub stage: String,
    /// Why it failed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
    /// Which part of its own budget is used up: no prompt is run any more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub budget_spent: Option<String>,
    /// How far its processes are contained; absent for guarded, the default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tier: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub archived: bool,
    /// The last 8 digits of its parent's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// The last 8 digits of its worktree's id.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub worktree: Option<String>,
    /// The branch it works on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<ChangesView>,
    /// The latest thing the agent said, shortened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_words: Option<String>,
    pub created_at: String,
    pub updated_at: String,
    /// Millionths of a US dollar; absent when it cost nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost_micros: Option<u64>,
    /// How much of the cost is an estimate.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub estimated_micros: u64,
}

impl From<&SessionCard> for SessionCardView {
    fn from(card: &SessionCard) -> Self {
        let SessionCard { session, worktree } = card;
        let failure = match &session.state {
            SessionState::Failed { reason } => Some(reason.clone()),
            _ => None,
        };
        Self {
            id: session.id.short_id(),
            title: session.title.to_string(),
            agent: session.agent.to_string(),
            state: session.shown_state().as_str().to_owned(),
            stage: card.stage().as_str().to_owned(),
            failure,
            budget_spent: session.budget_left().used_up().map(str::to_owned),
            tier: Some(card.shown_tier())
                .filter(|tier| *tier != Tier::DEFAULT)
                .map(|tier| tier.to_string()),
            archived: session.archived,
            parent: session.parent.map(|id| id.short_id()),
            worktree: session.worktree.map(|id| id.short_id()),
            branch: worktree.as_ref().map(|it| it.branch.to_string()),
            changes: worktree.as_ref().and_then(|it| it.changes).map(Into::into),
            last_words: session.last_words.clone(),
            created_at: time(session.created_at),
            updated_at: time(session.updated_at),
            cost_micros: Some(session.usage.cost_micros).filter(|cost| *cost > 0),
            estimated_micros: session.usage.estimated_micros,
        }
    }
}

/// How many sessions there are, without archived ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SessionCountsView {
    pub total: u64,
    /// They wait for an answer, failed, were interrupted, or have used up their budget.
    pub needs_you: u64,
    pub working: u64,
    pub in_review: u64,
    pub ready_to_merge: u64,
    pub ready: u64,
    pub done: u64,
}

impl From<SessionCounts> for SessionCountsView {
    fn from(counts: SessionCounts) -> Self {
        Self {
            total: counts.total(),
            needs_you: counts.in_stage(Stage::NeedsYou),
            working: counts.in_stage(Stage::Working),
            in_review: counts.in_stage(Stage::InReview),
            ready_to_merge: counts.in_stage(Stage::ReadyToMerge),
            ready: counts.in_stage(Stage::Ready),
            done: counts.in_stage(Stage::Done),
        }
    }
}

/// What a worktree had to show when its latest turn ended, or it was merged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ChangesView {
    /// Lines that differ from where it began, committed or not.
    pub added: u64,
    pub deleted: u64,
    /// Commits since it began.
    pub ahead: u64,
    /// Commits that are neither in the branch it began at nor in the repository's default branch.
    pub unmerged: u64,
    /// Whether something is not committed.
    pub dirty: bool,
}

impl From<WorktreeChanges> for ChangesView {
    fn from(changes: WorktreeChanges) -> Self {
        Self {
            added: changes.added,
            deleted: changes.deleted,
            ahead: changes.ahead,
            unmerged: changes.unmerged,
            dirty: !changes.is_clean,
        }
    }
}

/// A worktree on a board.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct WorktreeCardView {
    /// The last 8 digits of the worktree's id, accepted wherever an id is.
    pub id: String,
    pub name: String,
    pub repo: String,
    pub branch: String,
    pub state: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub changes: Option<ChangesView>,
    pub created_at: String,
}

impl From<&WorktreeCard> for WorktreeCardView {
    fn from(card: &WorktreeCard) -> Self {
        let worktree = &card.worktree;
        Self {
            id: worktree.id.short_id(),
            name: worktree.name.to_string(),
            repo: card.repo.to_string(),
            branch: worktree.branch.to_string(),
            state: worktree.state.name().as_str().to_owned(),
            changes: worktree.changes.map(Into::into),
            created_at: time(worktree.created_at),
        }
    }
}

/// All that is to be seen on a board, newest first.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct BoardCardsView {
    /// Sessions that belong to it, lie on it, or work in a worktree that lies on it.
    pub sessions: Vec<SessionCardView>,
    /// Worktrees that belong to it or lie on it.
    pub worktrees: Vec<WorktreeCardView>,
}

impl From<&BoardCards> for BoardCardsView {
    fn from(cards: &BoardCards) -> Self {
        Self {
            sessions: cards.sessions.iter().map(Into::into).collect(),
            worktrees: cards.worktrees.iter().map(Into::into).collect(),
        }
    }
}
