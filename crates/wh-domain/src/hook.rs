//! Hooks: commands of the operator that run beside loops.

use std::{collections::BTreeMap, time::Duration};

/// When a command is run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum HookPoint {
    /// Before the first iteration of a loop.
    SessionStart,
    /// Before each iteration; a failure keeps it from beginning.
    PreIteration,
    /// After each iteration.
    PostIteration,
    /// When a loop has ended.
    SessionEnd,
    /// After an iteration, for each task that was completed in it.
    OnTaskComplete,
    /// When an iteration has failed or could not begin.
    OnError,
}

impl HookPoint {
    /// Every point.
    pub const ALL: [Self; 6] = [
        Self::SessionStart,
        Self::PreIteration,
        Self::PostIteration,
        Self::SessionEnd,
        Self::OnTaskComplete,
        Self::OnError,
    ];

    /// Returns the name as configured and shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::SessionStart => "session_start",
            Self::PreIteration => "pre_iteration",
            Self::PostIteration => "post_iteration",
            Self::SessionEnd => "session_end",
            Self::OnTaskComplete => "on_task_complete",
            Self::OnError => "on_error",
        }
    }

    /// Reads a point back from its name.
    pub fn parse(text: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|it| it.as_str() == text)
    }
}

/// Which commands are run when. They come from the configuration of the server and from nowhere else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoopHooks {
    /// A program and its arguments; nothing reads them as a shell would.
    pub commands: BTreeMap<HookPoint, Vec<String>>,
    /// The variables that each has, beside those that tell of the loop.
    pub environment: BTreeMap<String, String>,
    /// How long each may take; it is ended then, and has failed.
    pub time_limit: Duration,
}

impl LoopHooks {
    /// The time limit unless another is configured.
    pub const USUAL_LIMIT: Duration = Duration::from_secs(60);
}

impl Default for LoopHooks {
    fn default() -> Self {
        Self {
            commands: BTreeMap::new(),
            environment: BTreeMap::new(),
            time_limit: Self::USUAL_LIMIT,
        }
    }
}
