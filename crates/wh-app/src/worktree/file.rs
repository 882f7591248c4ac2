//! Reading one file of a worktree.

use std::path::Path;

use wh_domain::{Operation, Reference, WorktreeFile};
use wh_git::FileContent;

use super::terms::texts;
use crate::{App, OpContext, Result, context::facts};

/// The most bytes of a file that are read.
const FILE_BYTES_MAX: usize = 1 << 20;

impl App {
    /// Reads what lies at a path of a worktree; only the first mebibyte of a file.
    pub async fn worktree_file(
        &self,
        cx: &OpContext,
        worktree: &Reference,
        path: &Path,
    ) -> Result<WorktreeFile> {
        let operation = Operation::WorktreeGet;
        let shown = path.display().to_string();
        let facts = facts([("worktree", worktree.as_str()), ("path", &shown)]);
        self.read(cx, operation, facts, async {
            let reach = cx.authorize(operation)?;
            let worktree = self.worktree_lookup(reach, worktree).await?;
            let repo = self.repo_by_id(worktree.repo).await?;
            let _look = self.worktree_locks.look(worktree.id).await;
            let handle = self.worktree_handle(&repo, &worktree)?;
            Ok(match handle.file_read(path, FILE_BYTES_MAX).await? {
                FileContent::File {
                    bytes,
                    size,
                    truncated,
                } => WorktreeFile::File {
                    bytes,
                    size,
                    truncated,
                },
                FileContent::Link { target } => WorktreeFile::Link {
                    target: target.display().to_string(),
                },
                FileContent::Directory { names, truncated } => WorktreeFile::Directory {
                    names: texts(&names),
                    truncated,
                },
            })
        })
        .await
    }
}
