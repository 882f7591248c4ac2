//! What callers ask for, checked and in domain terms. Each is the argument of the operation of the same name.

use jiff::Timestamp;

use crate::{
    AgentName, ApprovalId, BoardId, BranchName, Color, Description, Dialect, IdRef, ImageRef,
    KeyId, KeyScope, LoopId, McpDialect, Name, NotAnId, Position, PromptTemplate, Rect, RepoId,
    RepoSource, SessionId, SettingKey, SettingValue, TaskId, TextRefusal, Tier, TurnId, UserId,
    UserName, UserRole, WebhookId, WorktreeBase, WorktreeId, ZoneId,
};

/// A field of a request that cannot be used as it is.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{field}: {problem}")]
pub struct InputRefusal {
    pub field: String,
    pub problem: String,
}

impl InputRefusal {
    /// Says what is wrong with which field.
    pub fn new(field: impl Into<String>, problem: impl ToString) -> Self {
        Self {
            field: field.into(),
            problem: problem.to_string(),
        }
    }
}

/// What a caller wrote to name something: an id, an abbreviation of one or, where names are unique, a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reference(String);

impl Reference {
    /// The most bytes a reference may have.
    const BYTES_MAX: usize = 200;

    /// Takes what a caller wrote.
    pub fn parse(text: &str) -> Result<Self, TextRefusal> {
        let what = "a reference";
        let text = text.trim();
        if text.is_empty() {
            return Err(TextRefusal::Empty { what });
        }
        if text.len() > Self::BYTES_MAX {
            let (bytes, bytes_max) = (text.len(), Self::BYTES_MAX);
            return Err(TextRefusal::TooLong {
                what,
                bytes,
                bytes_max,
            });
        }
        Ok(Self(text.to_owned()))
    }

    /// Reads it as an id.
    pub fn id(&self) -> Result<IdRef, NotAnId> {
        IdRef::parse(&self.0)
    }

    /// Returns what the caller wrote.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

macro_rules! reference_from_id {
    ($($id:ty),+) => {$(
        impl From<$id> for Reference {
            fn from(id: $id) -> Self {
                Self(id.to_string())
            }
        }
    )+};
}

reference_from_id!(
    ApprovalId, BoardId, KeyId, LoopId, RepoId, SessionId, TaskId, TurnId, UserId, WebhookId,
    WorktreeId, ZoneId
);

/// A user to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewUser {
    pub name: UserName,
    pub role: UserRole,
    pub email: Option<String>,
    pub avatar_url: Option<String>,
}

/// A key to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewKey {
    pub name: Name,
    pub scope: KeyScope,
    /// Whose it will be; the caller's unless said otherwise.
    pub user: Option<Reference>,
    pub expires_at: Option<Timestamp>,
    /// The dialect it is for; our own addresses unless given.
    pub dialect: Option<Dialect>,
    /// The session whose name it may change; only for keys of that scope.
    pub session: Option<Reference>,
}

/// A repository to add.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewRepo {
    pub source: RepoSource,
    /// Taken from the source unless given.
    pub name: Option<Name>,
    /// The least containment that sessions in it need.
    pub tier: Option<Tier>,
    /// The image that sessions in it run in, in the tier `container`.
    pub image: Option<ImageRef>,
    /// The tools that the agents of sessions in it are given.
    pub mcp_dialect: Option<McpDialect>,
}

/// A worktree to make.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewWorktree {
    pub repo: Reference,
    /// The branch's unless given.
    pub name: Option<Name>,
    /// One that exists is checked out; otherwise it is made. Taken from the name unless given.
    pub branch: Option<BranchName>,
    /// Where a new branch begins; at the repository's own head unless given.
    pub base: Option<WorktreeBase>,
    pub board: Option<Reference>,
}

/// What is wanted of a worktree's changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorktreeDiffQuery {
    pub worktree: Reference,
    /// What to compare with; where the branch began unless given.
    pub against: Option<WorktreeBase>,
    /// The text of the changes, not only which files changed.
    pub with_patches: bool,
    /// Files that were returned before.
    pub files_skipped: u64,
    pub files_max: u32,
    /// How much text, all files together.
    pub bytes_max: u32,
}

/// A branch to merge.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WorktreeMerge {
    pub worktree: Reference,
    /// The repository's default branch unless given.
    pub into: Option<BranchName>,
    pub message: Option<Description>,
    pub uncommitted: Uncommitted,
    /// Archive the worktree's sessions, remove the worktree and delete its branch once it is merged.
    pub remove_after: bool,
}

/// What a merge does with changes that are not committed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Uncommitted {
    /// Refuses to merge without them.
    #[default]
    Refuse,
    /// Commits them first, with this message.
    Commit(Description),
    /// Merges what is committed and leaves them in the worktree.
    Leave,
}

/// A board to make.
#[derive(Clone, Debug, PartialEq)]
pub struct NewBoard {
    pub name: Name,
    /// Whose it will be; the caller's unless said otherwise.
    pub owner: Option<Reference>,
    pub description: Option<Description>,
    pub zones: Vec<ZoneInput>,
}

/// What to change about a board.
#[derive(Clone, Debug, PartialEq)]
pub struct BoardChange {
    pub board: Reference,
    pub name: Option<Name>,
    pub description: Option<Description>,
    pub zones: Vec<ZoneInput>,
    pub zones_removed: Vec<Reference>,
    pub placements: Vec<PlacementInput>,
    pub items_removed: Vec<ItemReference>,
}

/// A zone to add (without a reference) or to change (with one).
#[derive(Clone, Debug, PartialEq)]
pub struct ZoneInput {
    pub zone: Option<Reference>,
    pub name: Option<Name>,
    pub color: Option<Color>,
    pub rect: Option<Rect>,
    pub prompt_template: Option<PromptTemplate>,
    /// Whether the zone is to prompt no longer.
    pub no_prompt: bool,
    pub agent: Option<AgentName>,
}

/// Something to place on a board.
#[derive(Clone, Debug, PartialEq)]
pub struct PlacementInput {
    pub item: ItemReference,
    pub position: Position,
    pub zone: Option<Reference>,
}

/// Names something that can lie on a board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ItemReference {
    Worktree(Reference),
    Session(Reference),
}

/// A board to copy.
#[derive(Clone, Debug, PartialEq)]
pub struct BoardDuplicate {
    pub board: Reference,
    pub name: Name,
    pub with_worktrees: bool,
}

/// A setting to change: a value, or nothing to go back to the default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettingChange {
    pub key: SettingKey,
    pub value: Option<SettingValue>,
}
