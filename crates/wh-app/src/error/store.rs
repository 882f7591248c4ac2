//! Refusals and failures of the store.

use serde_json::Value;
use wh_domain::{Advice, ArgumentValue, ErrorCode, Holder, Operation, SessionStateName};
use wh_store::StoreError;

use super::{Details, Explain};

/// Returns the message of an error of the store. What went wrong inside the store is for the log alone.
pub(super) fn message(error: &StoreError) -> String {
    match error {
        StoreError::Full => "the disk of the server's data directory is full".to_owned(),
        StoreError::Unavailable { .. } => "the database is not available".to_owned(),
        StoreError::Unreadable { .. } | StoreError::Backend(_) => {
            "the server failed to do this".to_owned()
        }
        error => error.to_string(),
    }
}

impl Explain for StoreError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::NotFound { .. } => ErrorCode::NotFound,
            Self::Taken { .. }
            | Self::Stale { .. }
            | Self::Fenced { .. }
            | Self::Busy
            | Self::Illegal(_)
            | Self::Settled
            | Self::Held { .. }
            | Self::InUse { .. }
            | Self::LastAdmin
            | Self::KeyReused => ErrorCode::Conflict,
            Self::Limit { .. } => ErrorCode::LimitExceeded,
            Self::Dependency(_) => ErrorCode::InvalidInput,
            Self::Full | Self::Unavailable { .. } => ErrorCode::Unavailable,
            Self::Unreadable { .. } | Self::Backend(_) => ErrorCode::Internal,
        }
    }

    fn advice(&self) -> Vec<Advice> {
        let note = |text: &'static str| vec![Advice::note(text)];
        match self {
            Self::NotFound { .. } | Self::Fenced { .. } => Vec::new(),
            Self::Taken { .. } => note("choose another, or use the one that exists"),
            Self::Stale { .. } => note("read it again and repeat the change"),
            Self::Busy => vec![
                Advice::call_with(
                    Operation::SessionWait,
                    [("sessions", ArgumentValue::Placeholders("ID"))],
                    "wait until the session is idle",
                ),
                Advice::set(
                    "when_busy",
                    ArgumentValue::Text("queue"),
                    "queue the prompt",
                ),
            ],
            Self::Limit { setting, .. } => {
                let mut advice = note("end or remove what is no longer needed");
                if let Some(key) = setting {
                    advice.push(Advice::setting(key.name(), "raise the limit"));
                }
                advice
            }
            Self::Illegal(illegal) => instead(illegal.state),
            Self::Settled => vec![Advice::call_with(
                Operation::ApprovalList,
                [("include_settled", ArgumentValue::Flag(true))],
                "see how it was answered",
            )],
            Self::Dependency(_) => vec![Advice::call(
                Operation::TaskList,
                "list the tasks and their dependencies",
            )],
            Self::Held { .. } => vec![Advice::call_with(
                Operation::TaskNext,
                [("claim", ArgumentValue::Flag(true))],
                "claim another task",
            )],
            Self::InUse { .. } => note("stop the session and delete its children first"),
            Self::LastAdmin => note("make another user an administrator first"),
            Self::KeyReused => note("use a new idempotency key for a different request"),
            Self::Full => vec![
                Advice::note("nothing was changed; free some space there and try again"),
                Advice::call(
                    Operation::WorktreeList,
                    "find worktrees that can be removed",
                ),
            ],
            Self::Unavailable { .. } => vec![
                Advice::note("try again in a moment"),
                Advice::command("doctor", "check the server"),
            ],
            Self::Unreadable { .. } | Self::Backend(_) => {
                note("nothing was changed; the server's log has the details")
            }
        }
    }

    fn details(&self) -> Details {
        match self {
            Self::Held { by } => [("held_by".to_owned(), Value::from(holder(*by)))]
                .into_iter()
                .collect(),
            _ => Details::new(),
        }
    }
}

/// Returns what can be done with a session in whose state something cannot happen.
fn instead(state: SessionStateName) -> Vec<Advice> {
    let session = ("session", ArgumentValue::ID);
    let read = |purpose| Advice::call_with(Operation::SessionGet, [session], purpose);
    match state {
        it if it.is_end() => vec![
            read("see why it ended"),
            Advice::call_with(
                Operation::SessionFork,
                [session],
                "continue from its last turn in a new session",
            ),
        ],
        SessionStateName::Stopping => vec![
            Advice::call_with(
                Operation::SessionWait,
                [("sessions", ArgumentValue::Placeholders("ID"))],
                "wait until it has stopped",
            ),
            Advice::call_with(
                Operation::SessionManage,
                [session, ("action", ArgumentValue::Text("start"))],
                "start it again then",
            ),
        ],
        _ => vec![
            read("see its state"),
            Advice::call_with(
                Operation::SessionManage,
                [session, ("action", ArgumentValue::Placeholder("ACTION"))],
                "start, stop or restore it",
            ),
        ],
    }
}

/// Names who has a task.
fn holder(holder: Holder) -> String {
    match holder {
        Holder::Session(session) => session.to_string(),
        Holder::Caller(_) => "somebody who is not an agent".to_owned(),
    }
}
