//! The one error of the application: what the caller is told, and what only the log is told.

use serde_json::{Map, Value};
use wh_domain::{
    BoardRefusal, Denied, ErrorCode, Holder, InputRefusal, NotAnId, Operation, Principal,
    SessionStateName, SettingRefusal, TextRefusal, fit_hint,
};
use wh_git::GitError;
use wh_store::StoreError;

/// The result of an operation.
pub type Result<T, E = AppError> = std::result::Result<T, E>;

/// Why an operation was refused or failed.
#[derive(Debug, thiserror::Error)]
#[error("{message}")]
pub struct AppError {
    pub code: ErrorCode,
    /// One readable line for the caller.
    pub message: String,
    /// What to do next.
    pub hint: Option<String>,
    /// Facts a program can use.
    pub details: Map<String, Value>,
    /// For the log only.
    #[source]
    pub source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl AppError {
    /// Makes an error of `code` that says `message`.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self {
            code,
            message: message.into(),
            hint: None,
            details: Map::new(),
            source: None,
        }
    }

    /// The one answer for what is absent and for what is somebody else's. It never repeats what was asked for, so
    /// that the two cannot be told apart.
    pub fn not_found(what: &str) -> Self {
        let short = "an id may be shortened to its last 8 digits";
        let list = format!("{what}_list");
        let hint = match Operation::parse(&list) {
            Some(_) => format!("{list} shows what there is; {short}"),
            None => short.to_owned(),
        };
        Self::new(ErrorCode::NotFound, format!("no such {what}")).hint(hint)
    }

    /// Leaves out of the hint what this caller cannot do.
    #[must_use]
    pub(crate) fn fitted_to(mut self, principal: &Principal) -> Self {
        let may = |operation| principal.authorize(operation).is_ok();
        self.hint = self.hint.and_then(|hint| fit_hint(&hint, may));
        self
    }

    /// Says what is wrong with the input.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::InvalidInput, message)
    }

    /// Adds what to do next.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Adds a fact a program can use.
    #[must_use]
    pub fn detail(mut self, name: &str, value: impl Into<Value>) -> Self {
        self.details.insert(name.to_owned(), value.into());
        self
    }

    pub(crate) fn caused_by(
        mut self,
        source: impl std::error::Error + Send + Sync + 'static,
    ) -> Self {
        self.source = Some(Box::new(source));
        self
    }
}

impl From<Denied> for AppError {
    fn from(denied: Denied) -> Self {
        let hint = match &denied {
            Denied::Scope { .. } => {
                "use a key whose scope includes it; `wheelhouse key create` makes one"
            }
            Denied::Standing { .. } => "ask an administrator",
            Denied::NoSession => "name the session: session_get {\"session\": ID}",
        };
        Self::new(ErrorCode::Forbidden, denied.to_string()).hint(hint)
    }
}

impl From<InputRefusal> for AppError {
    fn from(refusal: InputRefusal) -> Self {
        let field = refusal.field.clone();
        Self::invalid(refusal.to_string()).detail("field", field)
    }
}

impl From<TextRefusal> for AppError {
    fn from(refusal: TextRefusal) -> Self {
        Self::invalid(refusal.to_string())
    }
}

impl From<NotAnId> for AppError {
    fn from(refusal: NotAnId) -> Self {
        Self::invalid(refusal.to_string())
    }
}

impl From<BoardRefusal> for AppError {
    fn from(refusal: BoardRefusal) -> Self {
        let code = match &refusal {
            BoardRefusal::Full { .. } => ErrorCode::LimitExceeded,
            BoardRefusal::ZoneNameTaken { .. } => ErrorCode::Conflict,
            _ => ErrorCode::InvalidInput,
        };
        Self::new(code, refusal.to_string())
            .hint("board_get shows the zones and what lies on the board")
    }
}

impl From<SettingRefusal> for AppError {
    fn from(refusal: SettingRefusal) -> Self {
        Self::invalid(refusal.to_string()).hint("config_get lists every setting and what it may be")
    }
}

impl From<GitError> for AppError {
    fn from(error: GitError) -> Self {
        match error {
            GitError::NotARepository { .. } => Self::invalid(error.to_string()).hint(
                "name the top directory of a checkout or a bare repository; `git init` makes one",
            ),
            GitError::Start(_) => Self::new(ErrorCode::Unavailable, error.to_string())
                .hint("install git on the server's machine; `wheelhouse doctor` checks it")
                .caused_by(error),
            GitError::TooLarge { .. } => Self::new(ErrorCode::LimitExceeded, error.to_string())
                .hint("an administrator can raise clone_bytes_max of [repos] in the configuration file"),
            GitError::TimedOut { .. } | GitError::Failed { .. } => {
                Self::new(ErrorCode::Unavailable, error.to_string()).caused_by(error)
            }
        }
    }
}

impl From<StoreError> for AppError {
    fn from(error: StoreError) -> Self {
        match &error {
            StoreError::NotFound { what } => Self::not_found(what),
            StoreError::Taken { .. } => Self::new(ErrorCode::Conflict, error.to_string())
                .hint("choose another, or use the one that exists"),
            StoreError::Stale { .. } => Self::new(ErrorCode::Conflict, error.to_string())
                .hint("read it again and repeat the change"),
            StoreError::Fenced { .. } => Self::new(ErrorCode::Conflict, error.to_string()),
            StoreError::Busy => Self::new(ErrorCode::Conflict, error.to_string())
                .hint("session_wait tells when it is free; or let the prompt wait: {\"when_busy\": \"queue\"}"),
            StoreError::Limit { setting, .. } => {
                let hint = match setting {
                    Some(key) => format!(
                        "end or archive what is not needed, or have an administrator raise the setting {}",
                        key.name()
                    ),
                    None => "end or remove what is not needed".to_owned(),
                };
                Self::new(ErrorCode::LimitExceeded, error.to_string()).hint(hint)
            }
            StoreError::Illegal(illegal) => Self::new(ErrorCode::Conflict, error.to_string())
                .hint(what_instead(illegal.state)),
            StoreError::Settled => Self::new(ErrorCode::Conflict, error.to_string())
                .hint("approval_list {\"include_settled\": true} tells how"),
            StoreError::Dependency(_) => Self::invalid(error.to_string())
                .hint("task_list shows what depends on what"),
            StoreError::Held { by } => Self::new(ErrorCode::Conflict, error.to_string())
                .hint("task_next {\"claim\": true} gives you another task")
                .detail("held_by", held_by(*by)),
            StoreError::InUse { .. } => Self::new(ErrorCode::Conflict, error.to_string())
                .hint("stop the session and delete its children first"),
            StoreError::LastAdmin => Self::new(ErrorCode::Conflict, error.to_string())
                .hint("make another user an administrator first"),
            StoreError::KeyReused => Self::new(ErrorCode::Conflict, error.to_string())
                .hint("use a fresh idempotency key for a different request"),
            StoreError::Full => Self::new(
                ErrorCode::Unavailable,
                "the disk of the server's data directory is full",
            )
            .hint("nothing was changed; make room there and try again: worktree_list shows worktrees that can go")
            .caused_by(error),
            StoreError::Unavailable { .. } => Self::new(
                ErrorCode::Unavailable,
                "the database is not available right now",
            )
            .hint("try again in a moment; the server's log and `wheelhouse doctor` say more")
            .caused_by(error),
            StoreError::Unreadable { .. } | StoreError::Backend(_) => {
                Self::new(ErrorCode::Internal, "the server failed to do this")
                    .hint("nothing was changed; the server's log says more")
                    .caused_by(error)
            }
        }
    }
}

/// Says what can be done with a session in whose state something cannot happen.
fn what_instead(state: SessionStateName) -> &'static str {
    match state {
        it if it.is_end() => {
            "session_get tells why it ended; session_fork {\"session\": ID} goes on from its last turn in a new session"
        }
        SessionStateName::Stopping => {
            "session_wait tells when it has stopped; session_manage {\"action\": \"start\"} starts it again then"
        }
        _ => "session_get tells its state; session_manage starts, stops and restores",
    }
}

/// Names who has a task.
fn held_by(holder: Holder) -> String {
    match holder {
        Holder::Session(session) => session.to_string(),
        Holder::Caller(_) => "somebody who is not an agent".to_owned(),
    }
}
