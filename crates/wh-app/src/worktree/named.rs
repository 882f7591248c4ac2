//! Which worktree is meant by what a caller wrote.

use wh_domain::{ErrorCode, Reach, Reference, Session, ShortId, Worktree};

use crate::{
    App, AppError, Result,
    lookup::{id_of, only_one},
};

impl App {
    /// Finds a worktree by its id, or by the id of a session that works in it.
    ///
    /// What is one's own counts, and not what is only shared: both the session and its worktree must lie there. Whatever
    /// does not is answered as if nothing had that id.
    pub(crate) async fn worktree_lookup(
        &self,
        reach: Reach,
        reference: &Reference,
    ) -> Result<Worktree> {
        let found = self.store.worktree_find(reach, &id_of(reference)?).await?;
        if !found.is_empty() {
            return only_one("worktree", found, |w| format!("{} {}", w.id, w.name));
        }
        let session = match self.session_lookup(reach.own(), reference).await {
            Err(error) if error.code == ErrorCode::NotFound => return Err(no_such_worktree()),
            found => found?,
        };
        let id = session.worktree.ok_or_else(|| without_worktree(&session))?;
        let found = self
            .store
            .worktree_find(reach, &Reference::from(id).id()?)
            .await?;
        found.into_iter().next().ok_or_else(no_such_worktree)
    }
}

fn no_such_worktree() -> AppError {
    AppError::not_found("worktree").hint(
        "worktree_list shows worktrees, session_list the sessions that work in them; an id may be shortened to its last 8 digits",
    )
}

/// Says where the work of a session is that has no worktree.
fn without_worktree(session: &Session) -> AppError {
    let id = session.id.short_id();
    match &session.path {
        Some(path) => {
            let path = path.display();
            AppError::invalid(format!("session {id} works in {path} as it is")).hint(format!(
                "see `git -C {path} diff`, if that is a git repository; a session begun with repo has a worktree"
            ))
        }
        None => AppError::invalid(format!("session {id} works in no repository"))
            .hint("a session begun with repo has a worktree; repo_list names the repositories"),
    }
}
