//! Sessions and worktrees as people's lists and boards show them.

use crate::{Name, Session, Stage, Tier, Worktree};

/// A session and where it works.
#[derive(Clone, Debug)]
pub struct SessionCard {
    pub session: Session,
    pub worktree: Option<Worktree>,
}

/// A worktree and what its repository is called.
#[derive(Clone, Debug)]
pub struct WorktreeCard {
    pub worktree: Worktree,
    pub repo: Name,
}

/// All that is to be seen on a board.
#[derive(Clone, Debug)]
pub struct BoardCards {
    /// Those that belong to it, lie on it, or work in a worktree that lies on it, newest first.
    pub sessions: Vec<SessionCard>,
    /// Those that belong to it or lie on it, newest first.
    pub worktrees: Vec<WorktreeCard>,
}

impl SessionCard {
    /// Returns the tier that its latest run has or, before the first one, is to have.
    pub fn shown_tier(&self) -> Tier {
        let session = &self.session;
        session.effective_tier.map_or(session.tier, |it| it.tier)
    }

    /// Returns where the session's work is.
    pub fn stage(&self) -> Stage {
        let session = &self.session;
        let is_spent = session.budget_left().used_up().is_some();
        let changes = self.worktree.as_ref().and_then(|it| it.changes.as_ref());
        Stage::of(session.shown_state(), is_spent, changes)
    }
}
