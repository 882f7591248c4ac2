//! Exit codes, and the one error every command ends in.

use std::process::ExitCode;

use serde_json::Map;
use wh_api::{ErrorBody, ErrorView};
use wh_client::ClientError;
use wh_domain::ErrorCode;

/// What the process tells its caller. The numbers are a promise: scripts rely on them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    Failed = 1,
    Usage = 2,
    NotFound = 3,
    Refused = 4,
    Conflict = 5,
    Unavailable = 6,
    Cancelled = 7,
    NeedsAnswer = 8,
    TimedOut = 9,
    /// What a shell says of a command that Ctrl-C ended.
    Interrupted = 130,
}

/// The same, for people: shown at the end of `--help`.
pub(crate) const EXIT_CODES_HELP: &str = "\
Exit codes:
  0  done
  1  failed
  2  wrong usage, or input that cannot be used
  3  not found
  4  refused: not signed in, or not allowed
  5  conflict, or a limit is reached
  6  the server does not run or cannot be reached
  7  the turn was cancelled
  8  the agent needs an answer: see `wheelhouse approvals`
  9  the time to wait was over first
  130  Ctrl-C; a session that was followed goes on";

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

impl Exit {
    fn of(code: &str) -> Self {
        match ErrorCode::parse(code) {
            Some(ErrorCode::NotFound) => Self::NotFound,
            Some(ErrorCode::InvalidInput | ErrorCode::AmbiguousId) => Self::Usage,
            Some(ErrorCode::Unauthenticated | ErrorCode::Forbidden) => Self::Refused,
            Some(
                ErrorCode::Conflict | ErrorCode::LimitExceeded | ErrorCode::ReviewLimitExceeded,
            ) => Self::Conflict,
            Some(ErrorCode::Unavailable) => Self::Unavailable,
            Some(ErrorCode::Internal) | None => Self::Failed,
        }
    }
}

/// Why a command did not do what was asked, in the shape every surface uses.
#[derive(Debug)]
pub(crate) struct CliError {
    pub(crate) exit: Exit,
    pub(crate) body: ErrorBody,
}

pub(crate) type CliResult<T = ()> = Result<T, CliError>;

impl CliError {
    /// Makes an error whose exit code follows from its code.
    pub(crate) fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self::from(ErrorView {
            code: code.as_str().to_owned(),
            message: message.into(),
            hint: None,
            advice: Vec::new(),
            details: Map::new(),
        })
    }

    /// The input cannot be used.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::InvalidInput, message)
    }

    /// Something on this machine went wrong.
    pub(crate) fn failed(message: impl Into<String>) -> Self {
        Self::new(ErrorCode::Internal, message)
    }

    /// A session did not come to the end that was hoped for.
    pub(crate) fn ended(exit: Exit, message: impl Into<String>) -> Self {
        let code = match exit {
            Exit::Cancelled => "CANCELLED",
            Exit::NeedsAnswer => "NEEDS_ANSWER",
            Exit::TimedOut => "TIMED_OUT",
            Exit::Interrupted => "INTERRUPTED",
            _ => "FAILED",
        };
        let error = ErrorView {
            code: code.to_owned(),
            message: message.into(),
            hint: None,
            advice: Vec::new(),
            details: Map::new(),
        };
        Self {
            exit,
            body: ErrorBody { error },
        }
    }

    /// Adds what to do next.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.body.error.hint = Some(hint.into());
        self.body.error.advice = Vec::new();
        self
    }
}

impl From<ErrorView> for CliError {
    fn from(error: ErrorView) -> Self {
        Self {
            exit: Exit::of(&error.code),
            body: ErrorBody { error },
        }
    }
}

impl From<ClientError> for CliError {
    fn from(error: ClientError) -> Self {
        let message = chain(&error);
        match error {
            ClientError::Refused { error, .. } => error.into(),
            ClientError::Unusable { advice, .. } => Self::usage(message).hint(advice),
            ClientError::NotRunning { advice, .. } => {
                Self::new(ErrorCode::Unavailable, message).hint(advice)
            }
            ClientError::Transport { .. } => Self::new(ErrorCode::Unavailable, message)
                .hint("see whether the server runs well with `wheelhouse doctor`"),
        }
    }
}

impl From<anyhow::Error> for CliError {
    fn from(error: anyhow::Error) -> Self {
        match error.downcast::<ClientError>() {
            Ok(error) => error.into(),
            Err(error) => Self::failed(format!("{error:#}")),
        }
    }
}

/// Writes an error and its causes on one line.
pub(crate) fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        let next = error.to_string();
        if !text.ends_with(&next) {
            text = format!("{text}: {next}");
        }
        cause = error.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_has_its_exit() {
        let exits: Vec<_> = ErrorCode::ALL
            .map(|code| CliError::new(code, "x").exit as u8)
            .into();
        assert_eq!(exits, [3, 2, 2, 4, 4, 5, 5, 5, 6, 1]);
        assert_eq!(Exit::of("SOMETHING_NEW") as u8, 1);
    }
}
