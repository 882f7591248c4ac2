//! Samples of the refusals of other crates that are reasons here.

use std::io;

use jiff::Timestamp;
use newtype_uuid::GenericUuid;
use uuid::Uuid;
use wh_agents::LaunchRefusal;
use wh_domain::{
    BoardRefusal, CredentialKind, Denied, DependencyRefusal, Holder, HostRule, HostsRefusal,
    IllegalTransition, ImageRef, LeadRefusal, LocalPathRefusal, Operation, PolicyRefusal,
    SessionEvent, SessionStateName, SettingKey, SettingRefusal, Tier, ZoneId,
};
use wh_git::{CommitError, FileError, GitError, MergeError, RemoveError, Risk, WorktreeError};
use wh_runner::image::{EngineKind, ImageError};
use wh_store::StoreError;

use super::{super::Reason, Samples, all, worktrees::branch};

fn failure() -> io::Error {
    io::Error::other("permission denied")
}

fn path() -> std::path::PathBuf {
    "/tmp/x".into()
}

/// Returns the samples that become a reason of their own kind.
fn own<T: Samples>(is_own: impl Fn(&Reason) -> bool) -> Vec<Reason>
where
    Reason: From<T>,
{
    let reasons = all::<T>().into_iter().map(Reason::from);
    reasons.filter(is_own).collect()
}

pub(super) fn worktree() -> Vec<Reason> {
    own::<WorktreeError>(|reason| matches!(reason, Reason::WorktreeGit(_)))
}

pub(super) fn removal() -> Vec<Reason> {
    own::<RemoveError>(|reason| matches!(reason, Reason::Remove(_)))
}

pub(super) fn file() -> Vec<Reason> {
    own::<FileError>(|reason| matches!(reason, Reason::File(_)))
}

pub(super) fn commit() -> Vec<Reason> {
    own::<CommitError>(|reason| matches!(reason, Reason::Commit(_)))
}

pub(super) fn merge() -> Vec<Reason> {
    own::<MergeError>(|reason| matches!(reason, Reason::MergeGit(_)))
}

impl Samples for Denied {
    fn after(last: Option<&Self>) -> Option<Self> {
        Some(match last {
            None => Self::Scope {
                operation: Operation::SessionCreate,
                kind: CredentialKind::Read,
            },
            Some(Self::Scope { .. }) => Self::Standing {
                operation: Operation::UserCreate,
            },
            Some(Self::Standing { .. }) => Self::NoSession,
            Some(Self::NoSession) => return None,
        })
    }
}

impl Samples for LocalPathRefusal {
    fn after(last: Option<&Self>) -> Option<Self> {
        Some(match last {
            None => Self::ClientKey,
            Some(Self::ClientKey) => Self::NotAllowed,
            Some(Self::NotAllowed) => Self::DataDir,
            Some(Self::DataDir) => return None,
        })
    }
}

impl Samples for BoardRefusal {
    fn after(last: Option<&Self>) -> Option<Self> {
        Some(match last {
            None => Self::Color {
                text: "red".to_owned(),
            },
            Some(Self::Color { .. }) => Self::NoZone {
                id: ZoneId::from_untyped_uuid(Uuid::from_u128(1)),
            },
            Some(Self::NoZone { .. }) => Self::ZoneWithoutName,
            Some(Self::ZoneWithoutName) => Self::ZoneNameTaken {
                name: "review".to_owned(),
            },
            Some(Self::ZoneNameTaken { .. }) => Self::OutOfBounds,
            Some(Self::OutOfBounds) => Self::Full {
                what: "zones",
                max: 100,
            },
            Some(Self::Full { .. }) => return None,
        })
    }
}

impl Samples for SettingRefusal {
    fn after(last: Option<&Self>) -> Option<Self> {
        let name = SettingKey::SpawnDepthMax.name();
        Some(match last {
            None => Self::Unknown {
                name: "no.such".to_owned(),
            },
            Some(Self::Unknown { .. }) => Self::OutOfRange {
                name,
                min: 0,
                max: 10,
            },
            Some(Self::OutOfRange { .. }) => Self::NotAName {
                name,
                names: &["none", "strict"],
            },
            Some(Self::NotAName { .. }) => Self::Required { name },
            Some(Self::Required { .. }) => return None,
        })
    }
}

impl Samples for LeadRefusal {
    fn after(last: Option<&Self>) -> Option<Self> {
        Some(match last {
            None => Self::NotAPerson,
            Some(Self::NotAPerson) => Self::Child,
            Some(Self::Child) => Self::RoleChange,
            Some(Self::RoleChange) => Self::AnotherLead,
            Some(Self::AnotherLead) => Self::LessContained {
                own: Tier::Strict,
                theirs: Tier::None,
            },
            Some(Self::LessContained { .. }) => Self::MoreHosts,
            Some(Self::MoreHosts) => Self::SharedBoard,
            Some(Self::SharedBoard) => Self::NotBelow,
            Some(Self::NotBelow) => Self::DeniedToItself,
            Some(Self::DeniedToItself) => return None,
        })
    }
}

impl Samples for PolicyRefusal {
    fn after(last: Option<&Self>) -> Option<Self> {
        Some(match last {
            None => Self::TooMany,
            Some(Self::TooMany) => Self::Path {
                path: "../x".to_owned(),
            },
            Some(Self::Path { .. }) => return None,
        })
    }
}

impl Samples for HostsRefusal {
    fn after(last: Option<&Self>) -> Option<Self> {
        Some(match last {
            None => Self::NotAllowed {
                rule: HostRule::parse("example.com").expect("a valid host"),
            },
            Some(Self::NotAllowed { .. }) => Self::NotIsolated,
            Some(Self::NotIsolated) => return None,
        })
    }
}

impl Samples for LaunchRefusal {
    fn after(last: Option<&Self>) -> Option<Self> {
        let name = "codex".to_owned();
        Some(match last {
            None => Self::Unknown { name },
            Some(Self::Unknown { .. }) => Self::Missing {
                name,
                programs: vec!["codex-acp".to_owned()],
                install: vec![
                    "wheelhouse agents install codex".to_owned(),
                    "npm install -g codex-acp".to_owned(),
                ],
            },
            Some(Self::Missing { .. }) => return None,
        })
    }
}

impl Samples for ImageError {
    fn after(last: Option<&Self>) -> Option<Self> {
        Some(match last {
            None => Self::NotFound {
                engine: EngineKind::Podman,
                image: ImageRef::parse("localhost/dev:1").expect("a valid image"),
            },
            Some(Self::NotFound { .. }) => Self::Engine {
                command: "podman image inspect x".to_owned(),
                reason: "exit code 1".to_owned(),
            },
            Some(Self::Engine { .. }) => Self::Unpack(failure().into()),
            Some(Self::Unpack(_)) => Self::Io(failure()),
            Some(Self::Io(_)) => return None,
        })
    }
}

impl Samples for GitError {
    fn after(last: Option<&Self>) -> Option<Self> {
        Some(match last {
            None => Self::NotARepository { path: path() },
            Some(Self::NotARepository { .. }) => Self::Start(failure()),
            Some(Self::Start(_)) => Self::TimedOut {
                limit: std::time::Duration::from_secs(60),
            },
            Some(Self::TimedOut { .. }) => Self::TooLarge { limit: 100 },
            Some(Self::TooLarge { .. }) => Self::Failed {
                message: "the remote hung up".to_owned(),
            },
            Some(Self::Failed { .. }) => return None,
        })
    }
}

impl Samples for WorktreeError {
    fn after(last: Option<&Self>) -> Option<Self> {
        Some(match last {
            None => Self::Missing {
                path: path(),
                why: wh_git::Missing::Replaced,
            },
            Some(Self::Missing { .. }) => Self::Foreign { path: path() },
            Some(Self::Foreign { .. }) => Self::RootInsideCheckout {
                root: path(),
                checkout: "/tmp".into(),
            },
            Some(Self::RootInsideCheckout { .. }) => Self::Name {
                name: "..".to_owned(),
            },
            Some(Self::Name { .. }) => Self::Taken { path: path() },
            Some(Self::Taken { .. }) => Self::BranchExists { branch: branch() },
            Some(Self::BranchExists { .. }) => Self::NoBranch { branch: branch() },
            Some(Self::NoBranch { .. }) => Self::NoCommit,
            Some(Self::NoCommit) => Self::CheckedOut {
                branch: branch(),
                at: path(),
            },
            Some(Self::CheckedOut { .. }) => Self::TooLarge {
                what: "bytes",
                limit: 100,
            },
            Some(Self::TooLarge { .. }) => Self::Directory {
                path: path(),
                source: failure(),
            },
            Some(Self::Directory { .. }) => Self::Git(GitError::TooLarge { limit: 100 }),
            Some(Self::Git(_)) => return None,
        })
    }
}

impl Samples for RemoveError {
    fn after(last: Option<&Self>) -> Option<Self> {
        Some(match last {
            None => Self::Risky {
                risks: vec![Risk::Locked],
            },
            Some(Self::Risky { risks }) if risks.contains(&Risk::Locked) => Self::Risky {
                risks: vec![Risk::Stashed { entries: 1 }],
            },
            Some(Self::Risky { .. }) => Self::IgnoredTooLarge {
                bytes: 200,
                bytes_max: 100,
            },
            Some(Self::IgnoredTooLarge { .. }) => Self::Changed { path: path() },
            Some(Self::Changed { .. }) => Self::NotSaved,
            Some(Self::NotSaved) => Self::Files(failure()),
            Some(Self::Files(_)) => Self::Worktree(WorktreeError::NoCommit),
            Some(Self::Worktree(_)) => Self::Git(GitError::TooLarge { limit: 100 }),
            // A fault is made by tests of wh-git alone.
            Some(Self::Git(_) | Self::Fault(_)) => return None,
        })
    }
}

impl Samples for FileError {
    fn after(last: Option<&Self>) -> Option<Self> {
        Some(match last {
            None => Self::Path { path: path() },
            Some(Self::Path { .. }) => Self::NotFound,
            Some(Self::NotFound) => Self::Kind,
            Some(Self::Kind) => Self::Read(failure()),
            Some(Self::Read(_)) => Self::Worktree(WorktreeError::NoCommit),
            Some(Self::Worktree(_)) => return None,
        })
    }
}

impl Samples for CommitError {
    fn after(last: Option<&Self>) -> Option<Self> {
        Some(match last {
            None => Self::Nothing,
            Some(Self::Nothing) => Self::NoMessage,
            Some(Self::NoMessage) => Self::Identity,
            Some(Self::Identity) => Self::InProgress { what: "merge" },
            Some(Self::InProgress { .. }) => Self::Path(FileError::Kind),
            Some(Self::Path(_)) => Self::Worktree(WorktreeError::NoCommit),
            Some(Self::Worktree(_)) => Self::Git(GitError::TooLarge { limit: 100 }),
            Some(Self::Git(_)) => return None,
        })
    }
}

impl Samples for MergeError {
    fn after(last: Option<&Self>) -> Option<Self> {
        Some(match last {
            None => Self::NoBranch { branch: branch() },
            Some(Self::NoBranch { .. }) => Self::Conflicts {
                files: vec![path()],
            },
            Some(Self::Conflicts { .. }) => Self::Dirty { at: path() },
            Some(Self::Dirty { .. }) => Self::CheckedOut { at: path() },
            Some(Self::CheckedOut { .. }) => Self::Moved,
            Some(Self::Moved) => Self::Commit(CommitError::Nothing),
            Some(Self::Commit(_)) => Self::Worktree(WorktreeError::NoCommit),
            Some(Self::Worktree(_)) => Self::Git(GitError::TooLarge { limit: 100 }),
            Some(Self::Git(_)) => return None,
        })
    }
}

impl Samples for StoreError {
    fn after(last: Option<&Self>) -> Option<Self> {
        let what = "sessions";
        let limit = |setting| Self::Limit {
            what,
            max: 10,
            setting,
        };
        Some(match last {
            // What is not found becomes `Reason::NotFound`, unless the store names something that no caller can name.
            None => Self::NotFound { what: "row" },
            Some(Self::NotFound { .. }) => Self::Taken { what: "the name" },
            Some(Self::Taken { .. }) => Self::Stale { what: "the loop" },
            Some(Self::Stale { .. }) => Self::Fenced {
                epoch: 1,
                current: 2,
            },
            Some(Self::Fenced { .. }) => Self::Busy,
            Some(Self::Busy) => limit(None),
            Some(Self::Limit { setting: None, .. }) => limit(Some(SettingKey::SpawnDepthMax)),
            Some(Self::Limit { .. }) => illegal(SessionStateName::ALL[0]),
            Some(Self::Illegal(illegal_in)) => {
                let mut states = SessionStateName::ALL.into_iter();
                let _ = states.find(|state| *state == illegal_in.state);
                states.next().map_or(Self::Settled, illegal)
            }
            Some(Self::Settled) => Self::Dependency(DependencyRefusal::Cycle),
            Some(Self::Dependency(_)) => Self::Held {
                by: Holder::Caller(None),
            },
            Some(Self::Held { .. }) => Self::InUse { what: "processes" },
            Some(Self::InUse { .. }) => Self::LastAdmin,
            Some(Self::LastAdmin) => Self::KeyReused,
            Some(Self::KeyReused) => Self::Full,
            Some(Self::Full) => Self::Unavailable {
                message: "it is closed".to_owned(),
            },
            Some(Self::Unavailable { .. }) => Self::Unreadable {
                what: "session",
                message: "an unknown state".to_owned(),
            },
            Some(Self::Unreadable { .. }) => Self::Backend(Box::new(failure())),
            Some(Self::Backend(_)) => return None,
        })
    }
}

fn illegal(state: SessionStateName) -> StoreError {
    let kill_at = Timestamp::UNIX_EPOCH;
    let event = Box::new(SessionEvent::StopRequested { kill_at });
    StoreError::Illegal(IllegalTransition { state, event })
}
