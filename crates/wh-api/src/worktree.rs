//! Worktrees: what callers ask for. What they are told is in `view`.

mod view;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wh_domain::{
    BranchName, Description, InputRefusal, Name, NewWorktree, Reference, Uncommitted, WorktreeBase,
    WorktreeDiffQuery, WorktreeMerge, WorktreeRemoval, WorktreeStateName,
};

pub use self::view::{
    FileChangeView, RiskView, WorktreeDiffView, WorktreeListView, WorktreeMergedView,
    WorktreeRemovedView, WorktreeStatusView, WorktreeSummaryView, WorktreeView,
};
use crate::NumberOrId;
use crate::common::{list_request, optional, optional_reference, reference};

list_request! {
    /// Which worktrees to list.
    WorktreeListRequest {
        /// Only worktrees of this repository, by id or name.
        repo: String,
        /// Only worktrees of this board.
        board: String,
        /// Only worktrees in one of these states: making, ready, removing, removed. All but removed ones unless given.
        states: Vec<String>,
        /// Only ready ones in which no session is at work, with their size and what removing them would lose.
        finished: bool,
    }
}

impl WorktreeListRequest {
    /// Returns the states asked for.
    pub fn states(&self) -> Result<Vec<WorktreeStateName>, InputRefusal> {
        let read = |text: &String| {
            WorktreeStateName::parse(text).ok_or_else(|| {
                let known: Vec<_> = WorktreeStateName::ALL.iter().map(|s| s.as_str()).collect();
                InputRefusal::new("states", format!("must be among {}", known.join(", ")))
            })
        };
        self.states.iter().flatten().map(read).collect()
    }

    /// Returns the repository asked for.
    pub fn repo(&self) -> Result<Option<Reference>, InputRefusal> {
        optional_reference("repo", self.repo.as_deref())
    }

    /// Returns the board asked for.
    pub fn board(&self) -> Result<Option<Reference>, InputRefusal> {
        optional_reference("board", self.board.as_deref())
    }
}

/// Names a worktree.
#[derive(Clone, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorktreeGetRequest {
    /// The id of a worktree, or of a session that works in it, or its last 8 digits.
    pub worktree: String,
}

impl WorktreeGetRequest {
    /// Returns which worktree is meant.
    pub fn worktree(&self) -> Result<Reference, InputRefusal> {
        reference("worktree", &self.worktree)
    }
}

/// A worktree to make.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorktreeCreateRequest {
    /// The repository's id or name.
    pub repo: String,
    /// What it is for; the branch's name unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// One that exists is checked out, another is made; wh/NAME-ID unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<String>,
    /// The branch or full commit at which a new branch begins; the repository's HEAD unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// The board it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub board: Option<String>,
    /// A mark of your choice: a repeat with the same mark makes no second worktree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
}

impl TryFrom<WorktreeCreateRequest> for NewWorktree {
    type Error = InputRefusal;

    fn try_from(request: WorktreeCreateRequest) -> Result<Self, InputRefusal> {
        Ok(Self {
            repo: reference("repo", &request.repo)?,
            name: optional("name", request.name.as_deref(), Name::parse)?,
            branch: optional("branch", request.branch.as_deref(), BranchName::parse)?,
            base: optional("base", request.base.as_deref(), base)?,
            board: optional_reference("board", request.board.as_deref())?,
        })
    }
}

/// Which changes of a worktree to show.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorktreeDiffRequest {
    /// The id of a worktree, or of a session that works in it, or its last 8 digits.
    pub worktree: String,
    /// Compare with where it left this branch or full commit; with where the worktree began unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub against: Option<String>,
    /// The text of the changes too, not only which files changed; true unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub patch: Option<bool>,
    /// How much text at most, in bytes: 1000 to 1000000, 50000 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes_max: Option<u32>,
    /// How many files at most: 1 to 300, 100 unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// next_cursor of the page before, or how many files to skip.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<NumberOrId>,
}

impl TryFrom<WorktreeDiffRequest> for WorktreeDiffQuery {
    type Error = InputRefusal;

    fn try_from(request: WorktreeDiffRequest) -> Result<Self, InputRefusal> {
        let page = crate::PageQuery::new(None, request.cursor.as_ref());
        Ok(Self {
            worktree: reference("worktree", &request.worktree)?,
            against: optional("against", request.against.as_deref(), base)?,
            with_patches: request.patch.unwrap_or(true),
            files_skipped: page.by_number()?.after.unwrap_or(0),
            files_max: request.limit.unwrap_or(100).clamp(1, 300),
            bytes_max: request.bytes_max.unwrap_or(50_000).clamp(1_000, 1_000_000),
        })
    }
}

/// A worktree whose branch is to be merged.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorktreeMergeRequest {
    /// The id of a worktree, or of a session that works in it, or its last 8 digits.
    pub worktree: String,
    /// The branch to merge into; the repository's default branch unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub into: Option<String>,
    /// The message of a merge commit, if one is made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Commit all uncommitted changes first, with this message; the repository's hooks do not run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub commit: Option<String>,
    /// Merge without the uncommitted changes, which stay in the worktree; false by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub leave_uncommitted: Option<bool>,
    /// After the merge, archive the worktree's sessions, remove the worktree and delete its branch; ignored files are saved under a
    /// git reference. False by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remove_after: Option<bool>,
    /// A mark of your choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
}

impl TryFrom<WorktreeMergeRequest> for WorktreeMerge {
    type Error = InputRefusal;

    fn try_from(request: WorktreeMergeRequest) -> Result<Self, InputRefusal> {
        let commit = optional("commit", request.commit.as_deref(), Description::parse)?;
        let leave = request.leave_uncommitted.unwrap_or(false);
        let remove_after = request.remove_after.unwrap_or(false);
        let uncommitted = match (commit, leave) {
            (Some(_), true) => {
                let message = "commit and leave_uncommitted exclude each other; remove one";
                return Err(InputRefusal::new("commit", message));
            }
            (Some(message), false) => Uncommitted::Commit(message),
            (None, true) if remove_after => {
                let message = "remove_after and leave_uncommitted exclude each other; remove one";
                return Err(InputRefusal::new("remove_after", message));
            }
            (None, true) => Uncommitted::Leave,
            (None, false) => Uncommitted::Refuse,
        };
        Ok(Self {
            worktree: reference("worktree", &request.worktree)?,
            into: optional("into", request.into.as_deref(), BranchName::parse)?,
            message: optional("message", request.message.as_deref(), Description::parse)?,
            uncommitted,
            remove_after,
        })
    }
}

/// A worktree to remove.
#[derive(Clone, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct WorktreeRemoveRequest {
    /// The id of a worktree, or of a session that works in it, or its last 8 digits.
    pub worktree: String,
    /// Save everything under a git reference first, instead of refusing; false unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rescue: Option<bool>,
    /// With rescue: delete ignored files, such as build output, that are too large to save; false unless given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub discard_ignored: Option<bool>,
    /// A mark of your choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idempotency_key: Option<String>,
}

impl WorktreeRemoveRequest {
    /// Returns which worktree is meant.
    pub fn worktree(&self) -> Result<Reference, InputRefusal> {
        reference("worktree", &self.worktree)
    }

    /// Returns how to treat what would be lost.
    pub fn how(&self) -> Result<WorktreeRemoval, InputRefusal> {
        let (rescue, discard) = (self.rescue, self.discard_ignored);
        match (rescue.unwrap_or(false), discard.unwrap_or(false)) {
            (false, false) => Ok(WorktreeRemoval::Refuse),
            (true, false) => Ok(WorktreeRemoval::Rescue),
            (true, true) => Ok(WorktreeRemoval::RescueButIgnored),
            (false, true) => Err(InputRefusal::new(
                "discard_ignored",
                "is only for a removal with rescue",
            )),
        }
    }
}

/// Reads a full commit name or a branch.
pub(crate) fn base(text: &str) -> Result<WorktreeBase, wh_domain::TextRefusal> {
    let hex = |c: char| matches!(c, '0'..='9' | 'a'..='f');
    if matches!(text.len(), 40 | 64) && text.chars().all(hex) {
        return Ok(WorktreeBase::Commit(text.to_owned()));
    }
    BranchName::parse(text).map(WorktreeBase::Branch)
}
