//! Which worktree is meant by what a caller wrote.

use wh_domain::{ErrorCode, Reach, Reference, Session, ShortId, Worktree};

use crate::{
    App, AppError, Resource, Result, WorktreeReason,
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
            return only_one(Resource::Worktree, found, |w| {
                format!("{} {}", w.id, w.name)
            });
        }
        let session = match self.session_lookup(reach.own(), reference).await {
            Err(error) if error.code() == ErrorCode::NotFound => {
                return Err(AppError::not_found(Resource::Worktree));
            }
            found => found?,
        };
        let id = session.worktree.ok_or_else(|| without_worktree(&session))?;
        let found = self
            .store
            .worktree_find(reach, &Reference::from(id).id()?)
            .await?;
        let found = found.into_iter().next();
        found.ok_or_else(|| AppError::not_found(Resource::Worktree))
    }
}

/// Returns the error for a session that has no worktree; it says where the session works.
fn without_worktree(session: &Session) -> AppError {
    let id = session.id.short_id();
    let reason = match &session.path {
        Some(path) => WorktreeReason::SessionInPlace {
            session: id,
            path: path.clone(),
        },
        None => WorktreeReason::SessionWithoutRepo { session: id },
    };
    reason.into()
}
