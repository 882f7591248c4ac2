//! What a worktree changed.

use wh_domain::{Operation, Worktree, WorktreeBase, WorktreeDiff, WorktreeDiffQuery};
use wh_git::{Base, CommitId, Diff, DiffLimits, FileDiff, Patch, Patches};

use super::terms::file_of;
use crate::{App, OpContext, Result, WorktreeReason, context::facts};

/// The most of one file's text, so that one cannot take all the room of a page.
const FILE_BYTES_MAX: usize = 128 << 10;

impl App {
    /// Compares a worktree, with what is not committed, with where it began.
    pub async fn worktree_diff(
        &self,
        cx: &OpContext,
        query: WorktreeDiffQuery,
    ) -> Result<WorktreeDiff> {
        let operation = Operation::WorktreeDiff;
        let facts = facts([("worktree", query.worktree.as_str())]);
        self.read(cx, operation, facts, async {
            let reach = cx.authorize(operation)?;
            let worktree = self.worktree_lookup(reach, &query.worktree).await?;
            let repo = self.repo_by_id(worktree.repo).await?;
            let _look = self.worktree_locks.look(worktree.id).await;
            let handle = self.worktree_handle_fetched(&repo, &worktree).await?;
            let base = match &query.against {
                Some(against) => {
                    let base = base_of(against)?;
                    let against = handle.repo().commit_at(&base).await?;
                    // What the other side did meanwhile is not this worktree's change.
                    let head = handle
                        .head()
                        .await?
                        .ok_or(wh_git::WorktreeError::NoCommit)?;
                    let common = handle.repo().merge_base(&head, &against).await?;
                    common.unwrap_or(against)
                }
                None => recorded_base(&worktree)?,
            };
            let patches = match query.with_patches {
                true => Patches::Include,
                false => Patches::Leave,
            };
            let limits = limits(&query);
            let mut diff = handle.diff(&base, patches, limits).await?;
            end_where_text_ends(&mut diff);
            let seen = limits.files_skipped + diff.files.len();
            Ok(WorktreeDiff {
                worktree,
                base: base.to_string(),
                files: diff.files.into_iter().map(file_of).collect(),
                files_left: diff.files_left_out as u64,
                added: diff.added,
                deleted: diff.deleted,
                next: (diff.files_left_out > 0).then_some(seen as u64),
            })
        })
        .await
    }
}

fn limits(query: &WorktreeDiffQuery) -> DiffLimits {
    let total_bytes_max = query.bytes_max as usize;
    DiffLimits {
        files_skipped: usize::try_from(query.files_skipped).unwrap_or(usize::MAX),
        files_max: query.files_max as usize,
        // A page holds the text of several files.
        file_bytes_max: (total_bytes_max / 2).clamp(1, FILE_BYTES_MAX),
        total_bytes_max,
    }
}

/// Leaves files whose text did not fit to the next page, which has room for them.
fn end_where_text_ends(diff: &mut Diff) {
    let left_out = |file: &FileDiff| file.patch == Patch::LeftOut;
    if let Some(end @ 1..) = diff.files.iter().position(left_out) {
        diff.files_left_out += diff.files.len() - end;
        diff.files.truncate(end);
    }
}

/// Returns where the worktree began.
pub(super) fn recorded_base(worktree: &Worktree) -> Result<CommitId> {
    let sha = worktree.base_sha.as_deref().unwrap_or_default();
    CommitId::parse(sha).map_err(|_| WorktreeReason::BaseUnknown.into())
}

/// Turns what a caller named into what git is asked for.
pub(super) fn base_of(base: &WorktreeBase) -> Result<Base> {
    Ok(match base {
        WorktreeBase::Branch(branch) => Base::Branch(branch.clone()),
        WorktreeBase::Commit(commit) => Base::Commit(CommitId::parse(commit)?),
    })
}
