//! What callers are told of loops.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wh_domain::{
    Iteration, IterationEnd, Loop, LoopDetail, LoopIteration, LoopLogEntry, LoopState, LoopWish,
    Page, ShortId, TaskStatus,
};

use crate::{
    BudgetInput,
    common::{is_zero, time},
    task::shortened,
};

/// The most characters of a specification, of what an iteration came to, and of a task, that are shown.
const SPEC_CHARS_MAX: usize = 2_000;
const SUMMARY_CHARS_MAX: usize = 500;
const TASK_CHARS_MAX: usize = 200;

/// A loop in a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LoopSummaryView {
    /// The last 8 digits of the loop's id, accepted wherever an id is.
    pub id: String,
    pub title: String,
    pub agent: String,
    /// beginning, running, paused or ended
    pub state: String,
    /// completed, limit, budget, stalled, stopped or failed
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    pub iteration: u32,
    pub iterations_max: u32,
    pub created_at: String,
}

impl From<&Loop> for LoopSummaryView {
    fn from(it: &Loop) -> Self {
        Self {
            id: it.id.short_id(),
            title: it.title.to_string(),
            agent: it.agent.to_string(),
            state: it.state.name().to_owned(),
            outcome: outcome(it).map(|(name, _)| name),
            iteration: it.state.iteration(),
            iterations_max: it.iterations_max,
            created_at: time(it.created_at),
        }
    }
}

fn outcome(it: &Loop) -> Option<(String, String)> {
    match &it.state {
        LoopState::Ended { outcome, .. } => Some((outcome.as_str().to_owned(), outcome.reason())),
        _ => None,
    }
}

/// Some loops, newest first.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
pub struct LoopListView {
    pub loops: Vec<LoopSummaryView>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// Total number of results, counted up to 100000.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
}

/// A loop and how its work stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LoopView {
    pub id: String,
    pub short_id: String,
    pub title: String,
    pub agent: String,
    /// beginning, running, paused or ended
    pub state: String,
    /// pause or stop, when that was asked for and is about to happen
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wanted: Option<String>,
    /// completed, limit, budget, stalled, stopped or failed
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<String>,
    /// Why it has ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The number of the iteration that it is at, or was at last.
    pub iteration: u32,
    pub iterations_max: u32,
    /// Iterations in a row that changed nothing.
    pub idle_iterations: u32,
    /// The session that is at work.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// Whether that session waits for an answer; approval_list shows for which.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub waiting: bool,
    pub repo_id: String,
    pub worktree_id: String,
    /// Holds the commits of all iterations.
    pub branch: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub board_id: Option<String>,
    pub spec: String,
    pub tasks: LoopTasksView,
    /// The task in hand.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub task: Option<String>,
    /// For all iterations together; what is absent is not limited.
    pub budget: BudgetInput,
    /// What is left of it.
    pub left: BudgetInput,
    pub tokens_used: u64,
    pub cost_micros: u64,
    /// How much of the cost is an estimate.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub estimated_micros: u64,
    pub wall_seconds_used: u64,
    /// The latest, the last one first.
    pub iterations: Vec<LoopIterationView>,
    pub created_at: String,
    pub updated_at: String,
}

/// How many tasks of each status there are.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LoopTasksView {
    pub remaining: u64,
    pub in_progress: u64,
    pub blocked: u64,
    pub completed: u64,
    pub cancelled: u64,
}

impl LoopTasksView {
    fn new(counts: [u64; 5]) -> Self {
        let mut tasks = Self::default();
        for (status, count) in TaskStatus::ALL.into_iter().zip(counts) {
            *match status {
                TaskStatus::Remaining => &mut tasks.remaining,
                TaskStatus::InProgress => &mut tasks.in_progress,
                TaskStatus::Blocked => &mut tasks.blocked,
                TaskStatus::Completed => &mut tasks.completed,
                TaskStatus::Cancelled => &mut tasks.cancelled,
            } = count;
        }
        tasks
    }
}

/// One iteration of a loop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LoopIterationView {
    pub number: u32,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub session_id: Option<String>,
    /// done, cancelled or failed; absent while it is under way
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub end: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// What it said that it came to, shortened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// Whether it changed a file, a task or a note, or said something new.
    pub changed: bool,
    pub tokens_used: u64,
    pub cost_micros: u64,
    /// How much of the cost is an estimate.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub estimated_micros: u64,
    pub began_at: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<String>,
}

impl LoopIterationView {
    fn new(it: &LoopIteration, summaries: &[Iteration]) -> Self {
        // A session has one summary on a list.
        let said = |said: &&Iteration| it.session.is_some() && said.session == it.session;
        let summary = summaries.iter().find(said);
        Self {
            summary: summary.map(|said| shortened(said.summary.as_str(), SUMMARY_CHARS_MAX)),
            number: it.number,
            session_id: it.session.map(|id| id.to_string()),
            end: it.end.as_ref().map(|end| end.as_str().to_owned()),
            reason: match &it.end {
                Some(IterationEnd::Failed { reason }) => Some(reason.clone()),
                _ => None,
            },
            changed: it.changed,
            tokens_used: it.usage.tokens(),
            cost_micros: it.usage.cost_micros,
            estimated_micros: it.usage.estimated_micros,
            began_at: time(it.began_at),
            ended_at: it.ended_at.map(time),
        }
    }
}

impl From<&LoopDetail> for LoopView {
    fn from(detail: &LoopDetail) -> Self {
        let it = &detail.of;
        let (outcome, reason) = outcome(it).unzip();
        let wanted = match (&it.state, it.wish) {
            (LoopState::Ended { .. }, _)
            | (LoopState::Paused { .. }, LoopWish::Pause)
            | (_, LoopWish::Run) => None,
            (_, wish) => Some(wish),
        };
        let in_hand = |task: &wh_domain::Task| {
            let line = task.content.as_str().lines().next().unwrap_or_default();
            format!("#{} {}", task.number, shortened(line, TASK_CHARS_MAX))
        };
        Self {
            id: it.id.to_string(),
            short_id: it.id.short_id(),
            title: it.title.to_string(),
            agent: it.agent.to_string(),
            state: it.state.name().to_owned(),
            wanted: wanted.map(|wish| wish.as_str().to_owned()),
            outcome,
            reason,
            iteration: it.state.iteration(),
            iterations_max: it.iterations_max,
            idle_iterations: it.idle,
            session_id: it.state.session().map(|id| id.to_string()),
            waiting: detail.is_waiting,
            repo_id: it.repo.to_string(),
            worktree_id: it.worktree.to_string(),
            branch: detail.branch.to_string(),
            board_id: it.board.map(|id| id.to_string()),
            spec: shortened(it.spec.as_str(), SPEC_CHARS_MAX),
            tasks: LoopTasksView::new(detail.counts),
            task: detail.task.as_ref().map(in_hand),
            budget: BudgetInput::from(&it.budget),
            left: BudgetInput::from(&it.budget.less(detail.usage)),
            tokens_used: detail.usage.tokens(),
            cost_micros: detail.usage.cost_micros,
            estimated_micros: detail.usage.estimated_micros,
            wall_seconds_used: detail.usage.wall_seconds,
            iterations: (detail.iterations.iter())
                .map(|it| LoopIterationView::new(it, &detail.summaries))
                .collect(),
            created_at: time(it.created_at),
            updated_at: time(it.updated_at),
        }
    }
}

/// What happened in a loop, in order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LoopLogView {
    pub entries: Vec<LoopLogEntryView>,
    /// Pass it as `after` to go on; absent when nothing was left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_after: Option<u64>,
    /// How many entries are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total: Option<u64>,
}

/// Something that happened in a loop.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LoopLogEntryView {
    pub seq: u64,
    pub at: String,
    pub iteration: u32,
    /// loop, iteration, or the name of a hook
    pub about: String,
    pub text: String,
}

impl From<Page<LoopLogEntry, u64>> for LoopLogView {
    fn from(page: Page<LoopLogEntry, u64>) -> Self {
        let entry = |entry: &LoopLogEntry| LoopLogEntryView {
            seq: entry.seq,
            at: time(entry.body.at),
            iteration: entry.body.iteration,
            about: entry.body.about.clone(),
            text: entry.body.text.clone(),
        };
        Self {
            entries: page.items.iter().map(entry).collect(),
            next_after: page.next,
            total: page.total,
        }
    }
}
