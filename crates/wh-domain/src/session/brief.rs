//! The part of a session that lists show.

use jiff::Timestamp;

use super::Session;
use crate::{AgentName, BoardId, SessionId, SessionStateName, Title, TurnState, WorktreeId};

/// The properties of a session that lists show: a page of them is read without the session's other columns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionBrief {
    pub id: SessionId,
    pub title: Title,
    pub agent: AgentName,
    pub state: SessionStateName,
    pub parent: Option<SessionId>,
    pub worktree: Option<WorktreeId>,
    pub board: Option<BoardId>,
    /// The `seq` of the latest message; 0 when there is none.
    pub last_seq: u64,
    pub created_at: Timestamp,
    /// Whether prompts wait for it although it is idle.
    pub has_queue: bool,
    /// The state of its latest turn, for an idle session that has a parent.
    pub latest_turn: Option<TurnState>,
}

impl SessionBrief {
    /// Returns its state as shown.
    pub fn shown_state(&self) -> SessionStateName {
        self.state.with_queue(self.has_queue)
    }

    /// Returns the listed properties of a session, whose latest turn is in the state `latest_turn`.
    pub fn of(session: &Session, latest_turn: Option<TurnState>) -> Self {
        let state = session.state.name();
        let is_idle_child = state == SessionStateName::Idle && session.parent.is_some();
        Self {
            id: session.id,
            title: session.title.clone(),
            agent: session.agent.clone(),
            state,
            parent: session.parent,
            worktree: session.worktree,
            board: session.board,
            last_seq: session.last_seq,
            created_at: session.created_at,
            has_queue: session.has_queue,
            latest_turn: latest_turn.filter(|_| is_idle_child),
        }
    }
}
