//! Samples of the reasons about repositories, worktrees and merges.

use wh_domain::BranchName;
use wh_git::Missing;

use super::{
    super::{MergeReason, RepoReason, WorktreeReason},
    Samples,
};

pub(super) fn branch() -> BranchName {
    BranchName::parse("main").expect("a valid branch name")
}

fn text(text: &str) -> String {
    text.to_owned()
}

impl Samples for WorktreeReason {
    fn after(last: Option<&Self>) -> Option<Self> {
        let branch = branch();
        let path = "/tmp/x".into();
        let session = text("01234567");
        Some(match last {
            None => Self::CheckedOut { branch },
            Some(Self::CheckedOut { .. }) => Self::CheckedOutAt { branch, at: path },
            Some(Self::CheckedOutAt { .. }) => Self::Missing(Missing::DirectoryGone),
            Some(Self::Missing(Missing::DirectoryGone)) => Self::Missing(Missing::Replaced),
            Some(Self::Missing(Missing::Replaced)) => Self::Missing(Missing::GitDirGone),
            Some(Self::Missing(Missing::GitDirGone)) => Self::NameRequired,
            Some(Self::NameRequired) => Self::BaseUnknown,
            Some(Self::BaseUnknown) => Self::NoDirectory,
            Some(Self::NoDirectory) => Self::InUse {
                sessions: vec![session],
            },
            Some(Self::InUse { .. }) => Self::SessionInPlace { session, path },
            Some(Self::SessionInPlace { .. }) => Self::SessionWithoutRepo { session },
            Some(Self::SessionWithoutRepo { .. }) => return None,
        })
    }
}

impl Samples for MergeReason {
    fn after(last: Option<&Self>) -> Option<Self> {
        Some(match last {
            None => Self::NoDefaultBranch,
            Some(Self::NoDefaultBranch) => Self::CheckedOut,
            Some(Self::CheckedOut) => Self::OtherBranch {
                found: text("a detached HEAD"),
                branch: branch(),
            },
            Some(Self::OtherBranch { .. }) => Self::Uncommitted {
                files: vec![text("a.rs")],
            },
            Some(Self::Uncommitted { .. }) => Self::UsedByOthers,
            Some(Self::UsedByOthers) => Self::SessionAtWork {
                session: text("01234567"),
            },
            Some(Self::SessionAtWork { .. }) => Self::BranchKept { branch: branch() },
            Some(Self::BranchKept { .. }) => return None,
        })
    }
}

impl Samples for RepoReason {
    fn after(last: Option<&Self>) -> Option<Self> {
        let digest = text("00ff");
        Some(match last {
            None => Self::ImageByMember,
            Some(Self::ImageByMember) => Self::NameRequired,
            Some(Self::NameRequired) => Self::Cloning,
            Some(Self::Cloning) => Self::CloneFailed {
                reason: text("the host does not answer"),
            },
            Some(Self::CloneFailed { .. }) => Self::PrivateHost,
            Some(Self::PrivateHost) => Self::Stopping,
            Some(Self::Stopping) => Self::ConfigNotFound {
                described: text("main (00ff)"),
                digest,
            },
            Some(Self::ConfigNotFound { .. }) => Self::ApprovalNotFound { digest },
            Some(Self::ApprovalNotFound { .. }) => Self::TooManyApprovals { max: 100 },
            Some(Self::TooManyApprovals { .. }) => Self::OtherRepo,
            Some(Self::OtherRepo) => Self::NoCommit,
            Some(Self::NoCommit) => return None,
        })
    }
}
