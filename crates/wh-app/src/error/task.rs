//! Refusals about task lists, and about loops: see `LoopRefusal` of `wh-domain` for changes of those.

use wh_domain::{
    Advice, ArgumentValue, ErrorCode, LoopLimit, LoopRefusal, McpDialect, Operation, SpentLimit,
};

use super::Explain;

/// Why something about tasks or a loop was refused.
#[derive(Debug, thiserror::Error)]
pub enum TaskReason {
    #[error("the task list is not named")]
    NoList,
    #[error("{field}: there is no task {task:?} in this list")]
    NotInList { field: &'static str, task: String },
    #[error("depends_on: there is no task {task} in this call")]
    NotInCall { task: String },
    #[error("nothing to change")]
    NothingToChange,
    #[error("{open} tasks are not done: {}", .named.join("; "))]
    OpenTasks { open: u64, named: Vec<String> },
    #[error("{what} must not be empty")]
    CountEmpty { what: String },
    #[error("at most {max} {what} can be added at once")]
    CountTooLarge { what: String, max: usize },
    #[error("the dialect {} has no tools for the iterations of a loop", .dialect.as_str())]
    DialectWithoutLoop { dialect: McpDialect },
    #[error("the hook {hook} failed: {failure}")]
    HookFailed { hook: &'static str, failure: String },
}

impl TaskReason {
    /// The argument that continues a list.
    pub(crate) const CURSOR: &'static str = "cursor";
    /// The argument that names what a task waits for.
    pub(crate) const DEPENDS_ON: &'static str = "depends_on";
}

impl Explain for TaskReason {
    fn code(&self) -> ErrorCode {
        match self {
            Self::NoList
            | Self::NotInList { .. }
            | Self::NotInCall { .. }
            | Self::NothingToChange
            | Self::CountEmpty { .. }
            | Self::CountTooLarge { .. }
            | Self::DialectWithoutLoop { .. } => ErrorCode::InvalidInput,
            Self::OpenTasks { .. } | Self::HookFailed { .. } => ErrorCode::Conflict,
        }
    }

    fn advice(&self) -> Vec<Advice> {
        match self {
            Self::NoList => [
                ("session", "ID", "use the list of a session tree"),
                ("board", "ID", "use the list of a board"),
                ("loop", "ID", "use the list of a loop"),
                ("list", "NAME", "use one of your own lists"),
            ]
            .map(|(name, value, purpose)| {
                Advice::set(name, ArgumentValue::Placeholder(value), purpose)
            })
            .into(),
            Self::NotInList { field, .. } if *field == Self::CURSOR => {
                vec![Advice::note(
                    "use the cursor that the previous page returned",
                )]
            }
            Self::NotInList { .. } => vec![Advice::call(Operation::TaskList, "list the tasks")],
            Self::NothingToChange => vec![Advice::note(
                "give a status, a priority, a content or dependencies",
            )],
            Self::OpenTasks { .. } => vec![
                Advice::call(Operation::TaskNext, "get the next task"),
                Advice::call_with(
                    Operation::TaskUpdate,
                    [
                        ("task", ArgumentValue::ID),
                        ("status", ArgumentValue::Text("cancelled")),
                    ],
                    "cancel a task that is not needed",
                ),
            ],
            Self::DialectWithoutLoop { .. } => {
                vec![Advice::note("choose wheelhouse or iteratr")]
            }
            Self::NotInCall { .. }
            | Self::CountEmpty { .. }
            | Self::CountTooLarge { .. }
            | Self::HookFailed { .. } => Vec::new(),
        }
    }
}

impl Explain for LoopRefusal {
    fn code(&self) -> ErrorCode {
        match self {
            Self::ByAgent | Self::AboveServer => ErrorCode::Forbidden,
            Self::Ended { .. } | Self::AtWork { .. } | Self::NoRoom { .. } => ErrorCode::Conflict,
            Self::StarterSpent { .. } => ErrorCode::LimitExceeded,
        }
    }

    fn advice(&self) -> Vec<Advice> {
        match self {
            Self::ByAgent => vec![Advice::note("ask the loop's owner to change them")],
            Self::AboveServer => vec![
                Advice::call(Operation::ConfigGet, "see the limits"),
                Advice::setting("budget.session.*", "raise the limits"),
                Advice::note("an administrator can also raise this budget"),
            ],
            Self::Ended { .. } => vec![Advice::call(
                Operation::LoopStart,
                "start another loop, on the same branch if you name it",
            )],
            Self::AtWork { .. } => vec![Advice::call_with(
                Operation::LoopPause,
                [("loop", ArgumentValue::ID)],
                "pause it after this iteration",
            )],
            Self::NoRoom { spent } => raise(spent),
            Self::StarterSpent { .. } => vec![Advice::call_with(
                Operation::SessionUpdate,
                [
                    ("session", ArgumentValue::ID),
                    ("budget", ArgumentValue::Placeholder("BUDGET")),
                ],
                "raise that budget",
            )],
        }
    }
}

/// Returns the advice to raise limits that are used up.
fn raise(spent: &[SpentLimit]) -> Vec<Advice> {
    let of_iterations = |spent: &&SpentLimit| spent.limit == LoopLimit::Iterations;
    let iterations = spent.iter().filter(of_iterations).count();
    let mut advice = Vec::new();
    if iterations < spent.len() {
        advice.push(Advice::call_with(
            Operation::LoopResume,
            [
                ("loop", ArgumentValue::ID),
                ("budget", ArgumentValue::Placeholder("BUDGET")),
            ],
            "continue with a larger budget",
        ));
    }
    if iterations > 0 {
        advice.push(Advice::call_with(
            Operation::LoopResume,
            [
                ("loop", ArgumentValue::ID),
                ("iterations_max", ArgumentValue::Placeholder("N")),
            ],
            "continue with more iterations",
        ));
    }
    advice
}
