//! Looking at worktrees as they are on disk.

use wh_domain::{
    Archived, PageLimit, PageRequest, Reach, Session, SessionFilter, SessionStateName, Worktree,
    WorktreeLook, WorktreeMissing, WorktreeRisk, WorktreeStateName,
};
use wh_git::{CommitId, Status, WorktreeHandle};

use super::terms::{disk_of, missing_of, risk_of, status_of};
use crate::{App, Result};

/// The most sessions a worktree is shown with.
const SESSIONS_MAX: u32 = 50;

/// How closely to look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Look {
    /// Only whether it is there.
    Presence,
    /// What it takes and what a removal would lose.
    Removal,
    /// What has changed in it and who works there, too.
    Everything,
}

impl App {
    /// Looks at a worktree.
    pub(super) async fn worktree_look(
        &self,
        reach: Reach,
        worktree: Worktree,
        depth: Look,
    ) -> Result<WorktreeLook> {
        let repo = self.repo_by_id(worktree.repo).await?;
        let mut look = WorktreeLook {
            worktree,
            repo: repo.name.clone(),
            missing: None,
            status: None,
            disk: None,
            risks: None,
            sessions: Vec::new(),
        };
        if depth == Look::Everything {
            look.sessions = self.sessions_in(reach, &look.worktree).await?;
        }
        if look.worktree.state.name() != WorktreeStateName::Ready {
            return Ok(look);
        }
        let _look = self.worktree_locks.look(look.worktree.id).await;
        let Ok(handle) = self.worktree_handle(&repo, &look.worktree) else {
            // The repository itself is gone, and git's own directory with it.
            look.missing = Some(WorktreeMissing::GitDirGone);
            return Ok(look);
        };
        if let Err(error) = self.worktree_handle_fetched(&repo, &look.worktree).await {
            tracing::warn!(worktree = %look.worktree.id, %error, "a worktree is shown without its newest commits");
        }
        look.missing = handle.missing().map(missing_of);
        if look.missing.is_none()
            && depth != Look::Presence
            && let Err(error) = look_closely(&handle, &mut look, depth).await
        {
            // One that cannot be read is shown as that, and keeps no other from being shown.
            look.risks = Some(vec![WorktreeRisk {
                kind: "unreadable",
                count: 1,
                bytes: None,
                names: vec![error.to_string()],
                stops_rescue: true,
            }]);
        }
        Ok(look)
    }

    /// Returns sessions that have not ended and name a worktree, newest first.
    pub(super) async fn sessions_at_work(
        &self,
        reach: Reach,
        worktree: &Worktree,
    ) -> Result<Vec<Session>> {
        let filter = SessionFilter {
            worktree: Some(worktree.id),
            states: SessionStateName::ALL
                .into_iter()
                .filter(|state| !state.is_end())
                .collect(),
            ..SessionFilter::default()
        };
        let page = PageRequest::first(PageLimit::clamped(Some(SESSIONS_MAX)));
        Ok(self.store.session_list(reach, &filter, page).await?.items)
    }

    /// Returns the sessions that name a worktree, newest first.
    pub(super) async fn sessions_in(
        &self,
        reach: Reach,
        worktree: &Worktree,
    ) -> Result<Vec<Session>> {
        let filter = SessionFilter {
            worktree: Some(worktree.id),
            archived: Archived::Included,
            ..SessionFilter::default()
        };
        let page = PageRequest::first(PageLimit::clamped(Some(SESSIONS_MAX)));
        Ok(self.store.session_list(reach, &filter, page).await?.items)
    }
}

async fn look_closely(handle: &WorktreeHandle, look: &mut WorktreeLook, depth: Look) -> Result<()> {
    look.disk = Some(disk_of(handle.disk_use().await?));
    let risks = handle.removal_risks().await?;
    look.risks = Some(risks.iter().map(risk_of).collect());
    if depth == Look::Everything {
        look.status = Some(status_of(status(handle, &look.worktree).await?));
    }
    Ok(())
}

/// Looks at what has changed since the worktree's base.
pub(super) async fn status(handle: &WorktreeHandle, worktree: &Worktree) -> Result<Status> {
    let base = worktree.base_sha.as_deref();
    let base = base.and_then(|sha| CommitId::parse(sha).ok());
    Ok(handle.status(base.as_ref()).await?)
}
