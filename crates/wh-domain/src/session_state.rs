//! The states of a session and the one function that moves between them.

use jiff::Timestamp;

use crate::{ReviewId, TurnId};

/// What a session is doing. Each variant carries exactly what is true then.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionState {
    /// Its worktree and process are being made.
    Creating,
    /// Ready for a prompt. Its process may have been put away; the next prompt brings it back.
    Idle,
    /// A turn is under way.
    Running { turn: TurnId, since: Timestamp },
    /// A turn waits for `pending` approvals.
    Waiting {
        turn: TurnId,
        since: Timestamp,
        pending: u32,
    },
    /// Its branch is being reviewed.
    Reviewing { review: ReviewId },
    /// Its process tree is being ended, by force after `kill_at`.
    Stopping { kill_at: Timestamp },
    /// Ended on request; can be resumed.
    Stopped,
    /// The process went away in the middle of something; can be resumed.
    Interrupted,
    /// An end: the work is done.
    Completed,
    /// An end: it cannot go on.
    Failed { reason: String },
    /// An end: a reviewer that has spoken.
    Terminated,
    /// An end: given up.
    Abandoned,
}

/// A state without its details, for filters and columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SessionStateName {
    Creating,
    Idle,
    Running,
    Waiting,
    Reviewing,
    Stopping,
    Stopped,
    Interrupted,
    Completed,
    Failed,
    Terminated,
    Abandoned,
}

impl SessionStateName {
    /// Every state.
    pub const ALL: [Self; 12] = [
        Self::Creating,
        Self::Idle,
        Self::Running,
        Self::Waiting,
        Self::Reviewing,
        Self::Stopping,
        Self::Stopped,
        Self::Interrupted,
        Self::Completed,
        Self::Failed,
        Self::Terminated,
        Self::Abandoned,
    ];

    /// Tells whether nothing will happen to a session by itself, given whether prompts wait for it.
    pub fn is_at_rest(self, has_queue: bool) -> bool {
        match self {
            Self::Creating | Self::Running | Self::Reviewing | Self::Stopping => false,
            Self::Idle => !has_queue,
            Self::Waiting
            | Self::Stopped
            | Self::Interrupted
            | Self::Completed
            | Self::Failed
            | Self::Terminated
            | Self::Abandoned => true,
        }
    }

    /// Returns the state as shown: an idle session for which prompts wait has taken them on, so it is running.
    #[must_use]
    pub fn with_queue(self, has_queue: bool) -> Self {
        match self {
            Self::Idle if has_queue => Self::Running,
            state => state,
        }
    }

    /// Returns the name in the database and in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Creating => "creating",
            Self::Idle => "idle",
            Self::Running => "running",
            Self::Waiting => "waiting",
            Self::Reviewing => "reviewing",
            Self::Stopping => "stopping",
            Self::Stopped => "stopped",
            Self::Interrupted => "interrupted",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Terminated => "terminated",
            Self::Abandoned => "abandoned",
        }
    }

    /// Reads a name back from its text.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|name| name.as_str() == text)
    }

    /// Tells whether nothing can follow.
    pub fn is_end(self) -> bool {
        matches!(
            self,
            Self::Completed | Self::Failed | Self::Terminated | Self::Abandoned
        )
    }
}

/// Something that happened to a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionEvent {
    /// The agent answered and can be prompted.
    ProcessReady,
    /// A prompt was handed to the agent.
    TurnStarted { turn: TurnId, at: Timestamp },
    /// The agent asks for something only a person or parent may settle.
    ApprovalRequested,
    /// One of the pending approvals was answered.
    ApprovalSettled,
    /// The turn is over.
    TurnFinished,
    /// A reviewer was asked to judge the branch.
    ReviewStarted { review: ReviewId },
    /// The review is over, whatever its verdict.
    ReviewFinished,
    /// Somebody asked for the process to end.
    StopRequested { kill_at: Timestamp },
    /// The whole process tree is verifiably gone.
    ProcessGone,
    /// Somebody asked to go on.
    ResumeRequested,
    /// The work is done.
    WorkCompleted,
    /// It cannot go on.
    WorkFailed { reason: String },
    /// The reviewer has spoken.
    ReviewerDone,
    /// It was given up.
    WorkAbandoned,
}

impl SessionEvent {
    /// Returns what a session does when this happens, as it follows "a session cannot".
    pub fn verb(&self) -> &'static str {
        match self {
            Self::ProcessReady => "get ready",
            Self::TurnStarted { .. } => "take a prompt",
            Self::ApprovalRequested => "ask for approval",
            Self::ApprovalSettled => "be given an approval",
            Self::TurnFinished => "finish a turn",
            Self::ReviewStarted { .. } => "be reviewed",
            Self::ReviewFinished => "finish a review",
            Self::StopRequested { .. } => "be stopped",
            Self::ProcessGone => "lose its process",
            Self::ResumeRequested => "be started",
            Self::WorkCompleted => "be completed",
            Self::WorkFailed { .. } => "fail",
            Self::ReviewerDone => "end its review",
            Self::WorkAbandoned => "be abandoned",
        }
    }
}

/// The event does not fit the state.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a session that is {} cannot {}", state.as_str(), event.verb())]
pub struct IllegalTransition {
    pub state: SessionStateName,
    pub event: Box<SessionEvent>,
}

impl SessionState {
    /// Returns the state's name.
    pub fn name(&self) -> SessionStateName {
        match self {
            Self::Creating => SessionStateName::Creating,
            Self::Idle => SessionStateName::Idle,
            Self::Running { .. } => SessionStateName::Running,
            Self::Waiting { .. } => SessionStateName::Waiting,
            Self::Reviewing { .. } => SessionStateName::Reviewing,
            Self::Stopping { .. } => SessionStateName::Stopping,
            Self::Stopped => SessionStateName::Stopped,
            Self::Interrupted => SessionStateName::Interrupted,
            Self::Completed => SessionStateName::Completed,
            Self::Failed { .. } => SessionStateName::Failed,
            Self::Terminated => SessionStateName::Terminated,
            Self::Abandoned => SessionStateName::Abandoned,
        }
    }

    /// Returns the turn that is under way.
    pub fn turn(&self) -> Option<TurnId> {
        match self {
            Self::Running { turn, .. } | Self::Waiting { turn, .. } => Some(*turn),
            _ => None,
        }
    }

    /// The only way a session changes state. What is not listed is an error, never silently ignored.
    pub fn next(&self, event: SessionEvent) -> Result<Self, IllegalTransition> {
        use SessionEvent as E;
        if self.name().is_end() {
            return Err(self.refuse(event));
        }
        match (self, event) {
            // Every state that is no end can end.
            (_, E::WorkFailed { reason }) => Ok(Self::Failed { reason }),
            (_, E::WorkAbandoned) => Ok(Self::Abandoned),
            // Asking twice to stop keeps the earlier deadline: nobody can postpone a kill.
            (Self::Stopping { kill_at: first }, E::StopRequested { kill_at }) => {
                Ok(Self::Stopping {
                    kill_at: kill_at.min(*first),
                })
            }
            (Self::Stopped, event @ E::StopRequested { .. }) => Err(self.refuse(event)),
            (_, E::StopRequested { kill_at }) => Ok(Self::Stopping { kill_at }),
            (_, event) => self.next_live(event),
        }
    }

    /// Moves between the states that are no ends.
    fn next_live(&self, event: SessionEvent) -> Result<Self, IllegalTransition> {
        use SessionEvent as E;
        match (self, event) {
            (Self::Creating, E::ProcessReady)
            | (Self::Running { .. } | Self::Waiting { .. }, E::TurnFinished)
            | (Self::Reviewing { .. }, E::ReviewFinished) => Ok(Self::Idle),

            (Self::Idle | Self::Reviewing { .. }, E::TurnStarted { turn, at }) => {
                Ok(Self::Running { turn, since: at })
            }
            (Self::Running { turn, since }, E::ApprovalRequested) => Ok(Self::Waiting {
                turn: *turn,
                since: *since,
                pending: 1,
            }),
            (
                Self::Waiting {
                    turn,
                    since,
                    pending,
                },
                E::ApprovalRequested,
            ) => Ok(Self::Waiting {
                turn: *turn,
                since: *since,
                pending: pending.saturating_add(1),
            }),
            (
                Self::Waiting {
                    turn,
                    since,
                    pending: 0 | 1,
                },
                E::ApprovalSettled,
            ) => Ok(Self::Running {
                turn: *turn,
                since: *since,
            }),
            (
                Self::Waiting {
                    turn,
                    since,
                    pending,
                },
                E::ApprovalSettled,
            ) => Ok(Self::Waiting {
                turn: *turn,
                since: *since,
                pending: pending - 1,
            }),
            (Self::Idle, E::ReviewStarted { review }) => Ok(Self::Reviewing { review }),

            // An idle session whose process is put away, or dies, is still idle: the next prompt starts another.
            (Self::Idle, E::ProcessReady | E::ProcessGone) => Ok(Self::Idle),
            (Self::Reviewing { review }, E::ProcessGone) => Ok(Self::Reviewing { review: *review }),
            (Self::Stopping { .. }, E::ProcessGone) => Ok(Self::Stopped),
            (Self::Creating | Self::Running { .. } | Self::Waiting { .. }, E::ProcessGone) => {
                Ok(Self::Interrupted)
            }
            (Self::Stopped | Self::Interrupted, E::ResumeRequested) => Ok(Self::Creating),

            (Self::Idle | Self::Running { .. } | Self::Reviewing { .. }, E::WorkCompleted) => {
                Ok(Self::Completed)
            }
            (Self::Idle | Self::Running { .. }, E::ReviewerDone) => Ok(Self::Terminated),
            (_, event) => Err(self.refuse(event)),
        }
    }

    fn refuse(&self, event: SessionEvent) -> IllegalTransition {
        IllegalTransition {
            state: self.name(),
            event: Box::new(event),
        }
    }
}

#[cfg(test)]
#[path = "session_state_tests.rs"]
mod tests;
