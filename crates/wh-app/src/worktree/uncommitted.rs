//! Files that were not committed at the end of a turn, which forks take along.

use wh_domain::{
    ForkedFiles, PageLimit, PageRequest, Reach, Session, SessionId, Turn, TurnId, Worktree,
};
use wh_git::{RepoHandle, WorktreeHandle};

use crate::{App, Result};

/// The most bytes of files that are kept of a turn.
const BYTES_MAX: u64 = 100 << 20;

/// Of how many turns of a session files are kept.
const TURNS_MAX: usize = 50;

/// The name under which the files wait that a new worktree begins with.
const START: &str = "start";

impl App {
    /// Keeps what is not committed in a session's worktree at the end of a turn. Only for forks: what cannot be kept is left out.
    pub(crate) async fn uncommitted_keep(&self, session: &Session, turn: TurnId) {
        if let Err(error) = self.try_uncommitted_keep(session, turn).await {
            tracing::warn!(session = %session.id, %error, "uncommitted files of a turn are not kept");
        }
    }

    async fn try_uncommitted_keep(&self, session: &Session, turn: TurnId) -> Result<()> {
        let Some(worktree) = session.worktree else {
            return Ok(());
        };
        let worktree = self.worktree_by_id(worktree).await?;
        let repo = self.repo_by_id(worktree.repo).await?;
        let _look = self.worktree_locks.look(worktree.id).await;
        let handle = self.worktree_handle(&repo, &worktree)?;
        let (group, name) = (session.id.to_string(), turn.to_string());
        let kept = handle.uncommitted_keep(&group, &name, BYTES_MAX).await?;
        if kept.is_some() {
            handle.repo().uncommitted_forget(&group, TURNS_MAX).await?;
        }
        Ok(())
    }

    /// Has a worktree that is to be made begin with the files that were not committed at the end of a turn, unless they are to be left.
    pub(crate) async fn uncommitted_take(
        &self,
        source: &Session,
        turn: &Turn,
        worktree: &Worktree,
        leave: bool,
    ) -> Result<ForkedFiles> {
        let Some((session, turn)) = self.happened_in(source, turn).await? else {
            return Ok(ForkedFiles::None);
        };
        let repo = self.repo_handle(&self.repo_by_id(worktree.repo).await?)?;
        let from = (session.to_string(), turn.to_string());
        let to = worktree.id.to_string();
        let is_kept = match leave {
            true => repo.uncommitted_kept(&from.0, &from.1).await?.is_some(),
            false => {
                repo.uncommitted_copy((&from.0, &from.1), (&to, START))
                    .await?
            }
        };
        Ok(match (is_kept, leave) {
            (false, _) => ForkedFiles::None,
            (true, true) => ForkedFiles::Left,
            (true, false) => ForkedFiles::Taken,
        })
    }

    /// Finds the session in which a turn happened: a fork has copies of the turns that it took over.
    async fn happened_in(
        &self,
        session: &Session,
        turn: &Turn,
    ) -> Result<Option<(SessionId, TurnId)>> {
        let (mut session, mut turn) = (session.clone(), turn.clone());
        while let Some(fork) = session.fork.filter(|fork| turn.number <= fork.turn) {
            let Some(work) = self.store.work_get(fork.from).await? else {
                return Ok(None);
            };
            session = work.session;
            let page = PageRequest {
                after: Some(turn.number.saturating_add(1)),
                ..PageRequest::first(PageLimit::clamped(Some(1)))
            };
            let turns = self.store.turn_list(Reach::All, session.id, page).await?;
            let mut turns = turns.items.into_iter();
            match turns.next().filter(|found| found.number == turn.number) {
                Some(found) => turn = found,
                None => return Ok(None),
            }
        }
        Ok(Some((session.id, turn.id)))
    }

    /// Puts the files into a new worktree that it is to begin with, if there are any.
    pub(super) async fn uncommitted_apply(
        &self,
        worktree: &Worktree,
        handle: &WorktreeHandle,
    ) -> Result<()> {
        let group = worktree.id.to_string();
        if handle.uncommitted_apply(&group, START).await? {
            handle.repo().uncommitted_forget(&group, 0).await?;
        }
        Ok(())
    }

    /// Forgets the files that a worktree was to begin with.
    pub(crate) async fn uncommitted_forget(&self, worktree: &Worktree) {
        if let Ok(repo) = self.repo_by_id(worktree.repo).await {
            self.forget_group(&repo, &worktree.id.to_string()).await;
        }
    }

    /// Forgets the files that are kept of a session's turns.
    pub(crate) async fn session_uncommitted_forget(&self, session: &Session) {
        if let Some(repo) = session.repo
            && let Ok(repo) = self.repo_by_id(repo).await
        {
            self.forget_group(&repo, &session.id.to_string()).await;
        }
    }

    async fn forget_group(&self, repo: &wh_domain::Repo, group: &str) {
        let Ok(handle): Result<RepoHandle> = self.repo_handle(repo) else {
            return;
        };
        if let Err(error) = handle.uncommitted_forget(group, 0).await {
            tracing::warn!(group, %error, "kept files are not removed");
        }
    }
}
