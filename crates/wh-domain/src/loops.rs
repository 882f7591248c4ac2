//! Loops: a fresh agent for each iteration, over one list of tasks and one worktree, until the work is done.

use jiff::Timestamp;

use crate::{
    AgentName, BoardId, Budget, HostList, LoopId, LoopSpec, McpDialect, ModelName, Owner, Policy,
    PromptTemplate, RepoId, SessionId, Tier, Title, Usage, WorktreeId,
};

/// The most iterations of one loop.
pub const ITERATIONS_MAX: u32 = 1_000;

/// The iterations of a loop unless another number is asked for.
pub const ITERATIONS_USUAL: u32 = 20;

/// So many iterations in a row that change nothing end a loop.
pub const IDLE_MAX: u32 = 2;

/// Work that goes on until it is done: its iterations are sessions, one after the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    pub id: LoopId,
    pub owner: Owner,
    pub title: Title,
    pub repo: RepoId,
    /// One for its whole life, so that its branch holds the commits of every iteration.
    pub worktree: WorktreeId,
    pub board: Option<BoardId>,
    pub agent: AgentName,
    /// The agent's way of working, if another than its usual one was asked for.
    pub mode: Option<String>,
    /// The model that the agent of every iteration is to use.
    pub model: Option<ModelName>,
    /// The tools that the agent of every iteration is given.
    pub mcp_dialect: McpDialect,
    pub policy: Policy,
    /// What is to be done.
    pub spec: LoopSpec,
    /// What makes the prompts; the built-in one unless given.
    pub template: Option<PromptTemplate>,
    pub iterations_max: u32,
    /// For all iterations together.
    pub budget: Budget,
    /// The session that started it, to which its use counts too; absent when no agent did.
    pub started_by: Option<SessionId>,
    /// How far its iterations are contained at least, as the session that started it was.
    pub tier: Option<Tier>,
    /// The hosts that its iterations may connect to, as of the session that started it.
    pub hosts: Option<HostList>,
    /// What the iterations that are over have used.
    pub usage: Usage,
    pub state: LoopState,
    pub wish: LoopWish,
    /// Iterations in a row that changed nothing.
    pub idle: u32,
    /// Counts its changes: a change that was decided on what somebody else has changed since is refused.
    pub revision: u64,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// Where a loop stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoopState {
    /// The iteration of this number is about to begin.
    Beginning { iteration: u32 },
    /// A session is at work on the iteration.
    Running { iteration: u32, session: SessionId },
    /// Rests after the iteration of this number until it is resumed.
    Paused { after: u32 },
    /// An end, after the iteration of this number. One at a limit can be resumed.
    Ended { after: u32, outcome: LoopOutcome },
}

/// Why a loop has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoopOutcome {
    /// An agent said that the work is done, and no task was open.
    Completed,
    /// As many iterations as it may have.
    Limit,
    /// This part of its budget is used up.
    Budget { part: String },
    /// Iterations in a row changed nothing.
    Stalled,
    /// Somebody asked for it.
    Stopped,
    /// Iterations in a row failed and changed nothing, or none can ever begin.
    Failed { reason: String },
}

impl LoopOutcome {
    /// Returns the outcome as stored and shown.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Limit => "limit",
            Self::Budget { .. } => "budget",
            Self::Stalled => "stalled",
            Self::Stopped => "stopped",
            Self::Failed { .. } => "failed",
        }
    }

    /// Says what happened, for people.
    pub fn reason(&self) -> String {
        match self {
            Self::Completed => "the work is done".to_owned(),
            Self::Limit => "it has had as many iterations as it may have".to_owned(),
            Self::Budget { part } => format!("its budget of {part} is used up"),
            Self::Stalled => format!(
                "{IDLE_MAX} iterations in a row changed nothing: no commit, no file, no task, no note and no new summary"
            ),
            Self::Stopped => "it was stopped".to_owned(),
            Self::Failed { reason } => format!("it could not go on: {reason}"),
        }
    }

    /// Reads an outcome back from its text and what is told with it.
    pub fn parse(text: &str, detail: &str) -> Option<Self> {
        let detail = detail.to_owned();
        Some(match text {
            "completed" => Self::Completed,
            "limit" => Self::Limit,
            "budget" => Self::Budget { part: detail },
            "stalled" => Self::Stalled,
            "stopped" => Self::Stopped,
            "failed" => Self::Failed { reason: detail },
            _ => return None,
        })
    }

    /// Returns what is told with it.
    pub fn detail(&self) -> &str {
        match self {
            Self::Budget { part } => part,
            Self::Failed { reason } => reason,
            Self::Completed | Self::Limit | Self::Stalled | Self::Stopped => "",
        }
    }
}

impl LoopState {
    /// Returns the state's name.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Beginning { .. } => "beginning",
            Self::Running { .. } => "running",
            Self::Paused { .. } => "paused",
            Self::Ended { .. } => "ended",
        }
    }

    /// Returns the number of the iteration that it is at, or was at last.
    pub fn iteration(&self) -> u32 {
        match self {
            Self::Beginning { iteration } | Self::Running { iteration, .. } => *iteration,
            Self::Paused { after } | Self::Ended { after, .. } => *after,
        }
    }

    /// Returns the session that is at work.
    pub fn session(&self) -> Option<SessionId> {
        match self {
            Self::Running { session, .. } => Some(*session),
            _ => None,
        }
    }

    /// Returns whether the loop has ended.
    pub fn is_end(&self) -> bool {
        matches!(self, Self::Ended { .. })
    }
}

/// What is to become of a loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LoopWish {
    Run,
    /// Rest after the iteration that is under way.
    Pause,
    /// End, and the iteration that is under way with it.
    Stop,
}

impl LoopWish {
    /// Every wish.
    pub const ALL: [Self; 3] = [Self::Run, Self::Pause, Self::Stop];

    /// Returns the wish as stored and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Pause => "pause",
            Self::Stop => "stop",
        }
    }

    /// Reads a wish back from its text.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == text)
    }
}

/// How an iteration ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IterationEnd {
    /// The agent came to the end of its turn.
    Done,
    /// Somebody ended it early.
    Cancelled,
    /// It could not begin, or its agent failed.
    Failed { reason: String },
}

impl IterationEnd {
    /// Returns the end as stored and shown.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Cancelled => "cancelled",
            Self::Failed { .. } => "failed",
        }
    }

    /// Reads an end back from its text and the reason beside it.
    pub fn parse(text: &str, reason: Option<&str>) -> Option<Self> {
        Some(match text {
            "done" => Self::Done,
            "cancelled" => Self::Cancelled,
            "failed" => Self::Failed {
                reason: reason.unwrap_or_default().to_owned(),
            },
            _ => return None,
        })
    }
}

/// What the next step of a loop follows from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopFacts {
    /// How the iteration ended, and whether it changed anything; nothing when one is about to begin.
    pub ended: Option<(IterationEnd, bool)>,
    /// Whether somebody said that the work of its list is done, which is refused while a task is open.
    pub is_complete: bool,
    /// What all iterations have used.
    pub usage: Usage,
}

impl Loop {
    /// The only way a loop goes on by itself: returns what it becomes, given the facts.
    #[must_use]
    pub fn step(&self, facts: &LoopFacts) -> Self {
        let mut after = self.clone();
        after.usage = facts.usage;
        after.idle = match &facts.ended {
            Some((_, true)) => 0,
            Some((_, false)) => self.idle + 1,
            None => self.idle,
        };
        let last = match (&facts.ended, &self.state) {
            (None, LoopState::Beginning { iteration }) => iteration.saturating_sub(1),
            _ => self.state.iteration(),
        };
        let is_cancelled = matches!(facts.ended, Some((IterationEnd::Cancelled, _)));
        let end = |outcome| LoopState::Ended {
            after: last,
            outcome,
        };
        let left = self.budget.less(facts.usage);
        after.state = if self.wish == LoopWish::Stop {
            end(LoopOutcome::Stopped)
        } else if facts.is_complete {
            end(LoopOutcome::Completed)
        } else if let Some(part) = left.used_up() {
            let part = part.to_owned();
            end(LoopOutcome::Budget { part })
        } else if after.idle >= IDLE_MAX && facts.ended.is_some() {
            end(idle_outcome(facts))
        } else if last >= self.iterations_max {
            end(LoopOutcome::Limit)
        } else if self.wish == LoopWish::Pause || is_cancelled {
            LoopState::Paused { after: last }
        } else {
            LoopState::Beginning {
                iteration: last + 1,
            }
        };
        after
    }

    /// Returns what is left of its budget after what the iterations that are over have used.
    pub fn budget_left(&self) -> Budget {
        self.budget.less(self.usage)
    }
}

fn idle_outcome(facts: &LoopFacts) -> LoopOutcome {
    match &facts.ended {
        Some((IterationEnd::Failed { reason }, _)) => LoopOutcome::Failed {
            reason: reason.clone(),
        },
        _ => LoopOutcome::Stalled,
    }
}

/// One iteration of a loop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopIteration {
    pub loop_id: LoopId,
    /// Counts from 1.
    pub number: u32,
    /// Nothing when it could not begin, or was deleted.
    pub session: Option<SessionId>,
    /// What there was before it: two marks are equal when nothing has changed in between.
    pub mark: String,
    pub end: Option<IterationEnd>,
    pub changed: bool,
    pub usage: Usage,
    pub began_at: Timestamp,
    pub ended_at: Option<Timestamp>,
}

/// Something that happened in a loop, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopLogEntry {
    /// Counts the entries of the loop from 1.
    pub seq: u64,
    pub body: NewLoopLogEntry,
}

/// An entry that has no number yet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewLoopLogEntry {
    pub at: Timestamp,
    pub iteration: u32,
    /// What it is about: `loop`, `iteration`, or the name of a hook.
    pub about: String,
    pub text: String,
}

#[cfg(test)]
#[path = "loops_tests.rs"]
pub(crate) mod tests;
