//! Sessions together with where they work and whether they are at work: what a caller needs who directs many of them.

use uuid::Uuid;
use wh_domain::{
    BranchName, Page, PageRequest, Reference, RepoSource, Session, SessionQuery, SessionStateName,
    Worktree, WorktreeBase,
};

use crate::{App, OpContext, Result};

/// A session and what is around it.
#[derive(Clone, Debug)]
pub struct SessionWhole {
    pub session: Session,
    /// The repository it works on.
    pub repo: Option<RepoSource>,
    /// The branch its work began at.
    pub base: Option<String>,
    /// The branch that its worktree has.
    pub branch: Option<BranchName>,
    /// Whether a turn is under way or about to begin. One that waits for an answer is not.
    pub at_work: bool,
}

impl App {
    /// Lists sessions as `session_list` does, with what is around them as it is recorded.
    pub async fn session_list_whole(
        &self,
        cx: &OpContext,
        query: SessionQuery,
        page: PageRequest<Uuid>,
    ) -> Result<Page<SessionWhole, Uuid>> {
        let sessions = self.session_list(cx, query, page).await?;
        let mut items = Vec::with_capacity(sessions.items.len());
        for session in sessions.items {
            items.push(self.whole(session).await?.0);
        }
        Ok(Page {
            items,
            next: sessions.next,
            total: sessions.total,
        })
    }

    /// Returns a session as `session_get` does, with what is around it. The branch is looked at: agents change it.
    pub async fn session_get_whole(
        &self,
        cx: &OpContext,
        session: &Reference,
    ) -> Result<SessionWhole> {
        let session = self.session_get(cx, session).await?.session;
        let (mut whole, worktree) = self.whole(session).await?;
        if let Some(worktree) = worktree
            && let Some(branch) = self.current_branch(&worktree).await
        {
            whole.branch = Some(branch);
        }
        Ok(whole)
    }

    async fn whole(&self, session: Session) -> Result<(SessionWhole, Option<Worktree>)> {
        let worktree = match session.worktree {
            // What is gone is not shown; the session is.
            Some(id) => self.worktree_by_id(id).await.ok(),
            None => None,
        };
        let repo = match session.repo {
            Some(id) => self.repo_by_id(id).await.ok(),
            None => None,
        };
        let base = worktree.as_ref().map(|worktree| match &worktree.base {
            Some(WorktreeBase::Branch(branch)) => branch.to_string(),
            Some(WorktreeBase::Commit(commit)) => commit.clone(),
            None => worktree.branch.to_string(),
        });
        let whole = SessionWhole {
            repo: repo.map(|repo| repo.source),
            base,
            branch: worktree.as_ref().map(|worktree| worktree.branch.clone()),
            at_work: self.is_at_work(&session).await?,
            session,
        };
        Ok((whole, worktree))
    }

    /// A prompt that was taken is work, also in the moment before the agent has it; both are looked at together.
    async fn is_at_work(&self, session: &Session) -> Result<bool> {
        match session.state.name() {
            SessionStateName::Running => Ok(true),
            SessionStateName::Idle => {
                let work = self.store.work_get(session.id).await?;
                Ok(work.is_some_and(|work| {
                    let state = work.session.state.name();
                    work.next.is_some() || state == SessionStateName::Running
                }))
            }
            _ => Ok(false),
        }
    }

    /// Returns the branch that a worktree is at, if that can be told.
    async fn current_branch(&self, worktree: &Worktree) -> Option<BranchName> {
        let repo = self.repo_by_id(worktree.repo).await.ok()?;
        let handle = self.worktree_handle(&repo, worktree).ok()?;
        handle.branch().await.ok()?
    }
}
