//! Where a session works.

use std::path::PathBuf;

use wh_domain::Session;

use crate::{App, Result, RunReason};

impl App {
    /// Returns the directory a session works in, whether or not it is there.
    pub(crate) async fn session_place(&self, session: &Session) -> Result<PathBuf> {
        if let Some(worktree) = session.worktree {
            return Ok(self.worktree_by_id(worktree).await?.path);
        }
        Ok(match &session.path {
            Some(path) => path.clone(),
            None => self.runs.scratch.join(session.id.to_string()),
        })
    }

    /// Returns the directory a session works in, and makes it if it is ours to make.
    pub(crate) async fn session_home(&self, session: &Session) -> Result<PathBuf> {
        if let Some(worktree) = session.worktree {
            return Ok(self.worktree_ensure(worktree).await?.path);
        }
        if let Some(path) = &session.path {
            return self.reopen_directory(session, path).await;
        }
        let place = self.session_place(session).await?;
        std::fs::create_dir_all(&place).map_err(|error| RunReason::Directory {
            path: place.clone(),
            error,
        })?;
        Ok(place)
    }

    /// Returns the commit that a session's worktree is at. Only for the record: what cannot be told is left out.
    pub(crate) async fn session_commit(&self, session: &Session) -> Option<String> {
        let worktree = self.worktree_by_id(session.worktree?).await.ok()?;
        let repo = self.repo_by_id(worktree.repo).await.ok()?;
        let handle = self.worktree_handle_fetched(&repo, &worktree).await;
        let handle = handle
            .map_err(
                |error| tracing::warn!(session = %session.id, %error, "commits were not fetched"),
            )
            .ok()?;
        let head = handle.head().await.ok()??;
        Some(head.to_string())
    }
}
