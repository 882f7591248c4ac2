//! Refusals and failures of git itself.

use wh_domain::{Advice, ErrorCode};
use wh_git::{GitError, NotACommitId};

use super::Explain;

impl Explain for GitError {
    fn code(&self) -> ErrorCode {
        match self {
            Self::NotARepository { .. } => ErrorCode::InvalidInput,
            Self::TooLarge { .. } => ErrorCode::LimitExceeded,
            Self::Start(_) | Self::TimedOut { .. } | Self::Failed { .. } => ErrorCode::Unavailable,
        }
    }

    fn advice(&self) -> Vec<Advice> {
        match self {
            Self::NotARepository { .. } => vec![Advice::note(
                "name the top directory of a checkout or a bare repository; `git init` creates one",
            )],
            Self::Start(_) => vec![
                Advice::note("install git on the server's machine"),
                Advice::command("doctor", "check the installation"),
            ],
            Self::TooLarge { .. } => vec![Advice::config_file(
                "repos",
                "clone_bytes_max",
                "raise the limit",
            )],
            Self::TimedOut { .. } | Self::Failed { .. } => Vec::new(),
        }
    }
}

impl Explain for NotACommitId {
    fn code(&self) -> ErrorCode {
        ErrorCode::InvalidInput
    }
}
