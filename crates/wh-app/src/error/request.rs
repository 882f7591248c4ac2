//! Refusals of a request whose arguments cannot be used.

use wh_domain::{Advice, ErrorCode, InputRefusal, NotAnId, TextRefusal};

use super::{Details, Explain};

/// Why a request was refused before its operation began, or given up.
#[derive(Debug, thiserror::Error)]
pub enum RequestReason {
    #[error("tool not found")]
    UnknownTool,
    /// The arguments are not what the tool takes.
    #[error("{problem}")]
    Arguments {
        /// Where in the arguments, and what is wrong there.
        problem: String,
    },
    #[error("idempotency_key must be a string")]
    IdempotencyKey,
    #[error("the parameter permissions of the address must be ask or allow")]
    PermissionsParameter,
    #[error("the call took longer than {seconds} s")]
    TimedOut { seconds: u64 },
}

impl Explain for RequestReason {
    fn code(&self) -> ErrorCode {
        match self {
            Self::UnknownTool => ErrorCode::NotFound,
            Self::Arguments { .. } | Self::IdempotencyKey | Self::PermissionsParameter => {
                ErrorCode::InvalidInput
            }
            Self::TimedOut { .. } => ErrorCode::Unavailable,
        }
    }

    fn advice(&self) -> Vec<Advice> {
        match self {
            Self::UnknownTool => vec![Advice::note("list the tools to see those you may call")],
            Self::Arguments { .. } => vec![Advice::note(
                "the list of tools describes the arguments of each",
            )],
            Self::TimedOut { .. } => vec![Advice::note(
                "check whether it was done before you repeat it",
            )],
            Self::IdempotencyKey | Self::PermissionsParameter => Vec::new(),
        }
    }
}

impl Explain for InputRefusal {
    fn code(&self) -> ErrorCode {
        ErrorCode::InvalidInput
    }

    fn details(&self) -> Details {
        [("field".to_owned(), self.field.clone().into())]
            .into_iter()
            .collect()
    }
}

impl Explain for TextRefusal {
    fn code(&self) -> ErrorCode {
        ErrorCode::InvalidInput
    }
}

impl Explain for NotAnId {
    fn code(&self) -> ErrorCode {
        ErrorCode::InvalidInput
    }
}
