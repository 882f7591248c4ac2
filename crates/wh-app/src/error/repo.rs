//! Refusals about repositories and their project configuration.

use wh_domain::{Advice, ArgumentValue, ErrorCode, Operation};

use super::Explain;

/// Why something about a repository was refused.
#[derive(Debug, thiserror::Error)]
pub enum RepoReason {
    #[error("only administrators can choose the container image of a repository")]
    ImageByMember,
    #[error("name is required: the address suggests none")]
    NameRequired,
    #[error("the repository is still being cloned")]
    Cloning,
    #[error("the repository could not be prepared: {reason}")]
    CloneFailed { reason: String },
    #[error("the repository's host is an address of this machine or of a private network")]
    PrivateHost,
    #[error("sessions or loops in the repository are still stopping")]
    Stopping,
    #[error("no project configuration of {described} has the SHA-256 {digest}")]
    ConfigNotFound { described: String, digest: String },
    #[error("the repository has no approval with the SHA-256 {digest}")]
    ApprovalNotFound { digest: String },
    #[error("a repository has at most {max} approvals")]
    TooManyApprovals { max: usize },
    #[error("the worktree or session belongs to another repository")]
    OtherRepo,
    #[error("the repository has no commit yet")]
    NoCommit,
}

impl Explain for RepoReason {
    fn code(&self) -> ErrorCode {
        match self {
            Self::ImageByMember | Self::PrivateHost => ErrorCode::Forbidden,
            Self::NameRequired
            | Self::ConfigNotFound { .. }
            | Self::ApprovalNotFound { .. }
            | Self::OtherRepo => ErrorCode::InvalidInput,
            Self::Cloning => ErrorCode::Unavailable,
            Self::CloneFailed { .. }
            | Self::Stopping
            | Self::TooManyApprovals { .. }
            | Self::NoCommit => ErrorCode::Conflict,
        }
    }

    fn advice(&self) -> Vec<Advice> {
        let note = |text: &'static str| vec![Advice::note(text)];
        let show = |purpose| {
            Advice::call_with(Operation::RepoTrust, [("repo", ArgumentValue::ID)], purpose)
        };
        match self {
            Self::ImageByMember => {
                note("add the repository without an image, or ask an administrator")
            }
            Self::NameRequired | Self::TooManyApprovals { .. } => Vec::new(),
            Self::Cloning => vec![
                Advice::note("try again in a moment"),
                Advice::call(Operation::RepoList, "see its state"),
            ],
            Self::CloneFailed { .. } => note(
                "check the address and that the server may read it; creating a worktree tries again",
            ),
            Self::PrivateHost => vec![
                Advice::note("an administrator can add it"),
                Advice::config_file("repos", "allow_hosts", "allow the host for everyone"),
                Advice::config_file(
                    "repos",
                    "allow_private",
                    "allow private networks for everyone",
                ),
            ],
            Self::Stopping => note("delete it again in a moment"),
            Self::ConfigNotFound { .. } => vec![
                Advice::note("it may have changed: approve what you have read"),
                show("show the project configuration again"),
            ],
            Self::ApprovalNotFound { .. } => vec![show("show the approvals")],
            Self::OtherRepo => note("name the repository that it belongs to"),
            Self::NoCommit => note("name a worktree"),
        }
    }
}
