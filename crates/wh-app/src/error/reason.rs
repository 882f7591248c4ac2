//! Every reason for which an operation is refused or fails.

use wh_agents::LaunchRefusal;
use wh_domain::{
    Advice, BoardRefusal, Denied, ErrorCode, HostsRefusal, InputRefusal, LeadRefusal,
    LocalPathRefusal, LoopRefusal, NotAnId, PolicyRefusal, SettingRefusal, TextRefusal,
    TierRefusal, WorktreeRefusal,
};
use wh_git::{
    CommitError, FileError, GitError, MergeError, NotACommitId, RemoveError, WorktreeError,
};
use wh_runner::image::ImageError;
use wh_store::StoreError;

use super::{
    AccessReason, BoardReason, Details, Explain, LaunchMoment, MergeReason, RepoReason,
    RequestReason, Resource, RunReason, ServerReason, SessionReason, SettingsReason, TaskReason,
    WorktreeReason, store,
};

/// Why an operation was refused or failed.
#[derive(Debug, thiserror::Error)]
pub enum Reason {
    /// The resource is absent, or the caller cannot access it.
    #[error("{0} not found")]
    NotFound(Resource),
    /// The same, for a contract that repeats the id it was given.
    #[error("{label} not found: {id}")]
    NotFoundAs {
        resource: Resource,
        /// What the contract calls the resource.
        label: &'static str,
        id: String,
    },
    #[error("the abbreviated id matches more than one {0}")]
    Ambiguous(Resource),
    #[error("{}", super::access::denied(.0))]
    Denied(#[from] Denied),
    #[error(transparent)]
    Access(#[from] AccessReason),
    #[error(transparent)]
    LocalPath(#[from] LocalPathRefusal),
    #[error(transparent)]
    Input(#[from] InputRefusal),
    #[error(transparent)]
    Text(#[from] TextRefusal),
    #[error(transparent)]
    Id(#[from] NotAnId),
    #[error(transparent)]
    Request(#[from] RequestReason),
    #[error(transparent)]
    Board(#[from] BoardReason),
    #[error(transparent)]
    BoardChange(#[from] BoardRefusal),
    #[error(transparent)]
    Setting(#[from] SettingRefusal),
    #[error(transparent)]
    Settings(#[from] SettingsReason),
    #[error(transparent)]
    Session(#[from] SessionReason),
    #[error(transparent)]
    Lead(#[from] LeadRefusal),
    #[error(transparent)]
    Policy(#[from] PolicyRefusal),
    #[error(transparent)]
    Tier(#[from] TierRefusal),
    #[error(transparent)]
    Hosts(#[from] HostsRefusal),
    /// The agent cannot be started.
    #[error("{refusal}")]
    Launch {
        #[source]
        refusal: LaunchRefusal,
        moment: LaunchMoment,
    },
    #[error(transparent)]
    Run(#[from] RunReason),
    #[error(transparent)]
    Image(#[from] ImageError),
    #[error(transparent)]
    Worktree(#[from] WorktreeReason),
    #[error(transparent)]
    WorktreeState(#[from] WorktreeRefusal),
    /// A worktree cannot be made or used; what callers are told in other words is a [`WorktreeReason`].
    #[error(transparent)]
    WorktreeGit(WorktreeError),
    #[error("{}", super::worktree::removal(.0))]
    Remove(#[source] RemoveError),
    #[error("{}", super::worktree::file(.0))]
    File(#[source] FileError),
    #[error(transparent)]
    Commit(CommitError),
    #[error(transparent)]
    CommitId(#[from] NotACommitId),
    #[error(transparent)]
    Merge(#[from] MergeReason),
    #[error(transparent)]
    MergeGit(MergeError),
    #[error(transparent)]
    Repo(#[from] RepoReason),
    #[error(transparent)]
    Git(#[from] GitError),
    #[error(transparent)]
    Task(#[from] TaskReason),
    #[error(transparent)]
    Loop(#[from] LoopRefusal),
    #[error(transparent)]
    Server(#[from] ServerReason),
    #[error("{}", store::message(.0))]
    Store(#[source] StoreError),
}

impl Reason {
    /// Returns the code.
    pub fn code(&self) -> ErrorCode {
        match self {
            // What is missing is missing on the server's machine, and not the caller's mistake.
            Self::Launch {
                moment: LaunchMoment::Start,
                ..
            } => ErrorCode::Unavailable,
            reason => reason.explained().code(),
        }
    }

    /// Returns what the caller can do.
    pub fn advice(&self) -> Vec<Advice> {
        self.explained().advice()
    }

    /// Returns facts a program can use.
    pub fn details(&self) -> Details {
        self.explained().details()
    }

    fn explained(&self) -> &dyn Explain {
        match self {
            Self::NotFound(resource) | Self::NotFoundAs { resource, .. } => resource,
            Self::Ambiguous(_) => &Ambiguous,
            Self::Denied(it) => it,
            Self::Access(it) => it,
            Self::LocalPath(it) => it,
            Self::Input(it) => it,
            Self::Text(it) => it,
            Self::Id(it) => it,
            Self::Request(it) => it,
            Self::Board(it) => it,
            Self::BoardChange(it) => it,
            Self::Setting(it) => it,
            Self::Settings(it) => it,
            Self::Session(it) => it,
            Self::Lead(it) => it,
            Self::Policy(it) => it,
            Self::Tier(it) => it,
            Self::Hosts(it) => it,
            Self::Launch { refusal, .. } => refusal,
            Self::Run(it) => it,
            Self::Image(it) => it,
            Self::Worktree(it) => it,
            Self::WorktreeState(it) => it,
            Self::WorktreeGit(it) => it,
            Self::Remove(it) => it,
            Self::File(it) => it,
            Self::Commit(it) => it,
            Self::CommitId(it) => it,
            Self::Merge(it) => it,
            Self::MergeGit(it) => it,
            Self::Repo(it) => it,
            Self::Git(it) => it,
            Self::Task(it) => it,
            Self::Loop(it) => it,
            Self::Server(it) => it,
            Self::Store(it) => it,
        }
    }
}

/// An abbreviated id that matches several resources.
struct Ambiguous;

impl Explain for Ambiguous {
    fn code(&self) -> ErrorCode {
        ErrorCode::AmbiguousId
    }

    fn advice(&self) -> Vec<Advice> {
        vec![Advice::note("use more digits, or one of the candidates")]
    }
}

impl From<StoreError> for Reason {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NotFound { what } => match Resource::of_store(what) {
                Some(resource) => Self::NotFound(resource),
                None => Self::Store(error),
            },
            error => Self::Store(error),
        }
    }
}

impl From<WorktreeError> for Reason {
    fn from(error: WorktreeError) -> Self {
        match error {
            WorktreeError::Missing { why, .. } => WorktreeReason::Missing(why).into(),
            // The caller may not know the checkout, so its path is left out.
            WorktreeError::CheckedOut { branch, .. } => {
                WorktreeReason::CheckedOut { branch }.into()
            }
            WorktreeError::Git(error) => error.into(),
            error => Self::WorktreeGit(error),
        }
    }
}

impl From<RemoveError> for Reason {
    fn from(error: RemoveError) -> Self {
        match error {
            RemoveError::Worktree(error) => error.into(),
            RemoveError::Git(error) => error.into(),
            error => Self::Remove(error),
        }
    }
}

impl From<FileError> for Reason {
    fn from(error: FileError) -> Self {
        match error {
            FileError::NotFound => Self::NotFound(Resource::File),
            FileError::Worktree(error) => error.into(),
            error => Self::File(error),
        }
    }
}

impl From<CommitError> for Reason {
    fn from(error: CommitError) -> Self {
        match error {
            CommitError::Path(error) => error.into(),
            CommitError::Worktree(error) => error.into(),
            CommitError::Git(error) => error.into(),
            error => Self::Commit(error),
        }
    }
}

impl From<MergeError> for Reason {
    fn from(error: MergeError) -> Self {
        match error {
            // The caller may not know the checkout, so its path is left out.
            MergeError::CheckedOut { .. } => MergeReason::CheckedOut.into(),
            MergeError::Commit(error) => error.into(),
            MergeError::Worktree(error) => error.into(),
            MergeError::Git(error) => error.into(),
            error => Self::MergeGit(error),
        }
    }
}
