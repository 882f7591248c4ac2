//! Sessions.

use async_trait::async_trait;
use uuid::Uuid;
use wh_domain::{IdRef, Page, PageRequest, Reach, Session, SessionFilter, SessionId, SessionPatch};

use crate::{Applied, Commit, Result};

/// Keeps sessions. A session's tree reaches itself and its descendants.
#[async_trait]
pub trait SessionStore {
    /// Adds a session.
    async fn session_insert(&self, session: &Session, commit: Commit) -> Result<Applied>;

    /// Changes what people may change about a session.
    async fn session_patch(
        &self,
        id: SessionId,
        patch: &SessionPatch,
        commit: Commit,
    ) -> Result<Applied>;

    /// Returns the sessions that `id` could mean, at most ten.
    async fn session_find(&self, reach: Reach, id: &IdRef) -> Result<Vec<Session>>;

    /// Lists sessions, newest first.
    async fn session_list(
        &self,
        reach: Reach,
        filter: &SessionFilter,
        page: PageRequest<Uuid>,
    ) -> Result<Page<Session, Uuid>>;

    /// Returns all sessions of a tree that lie within reach, parents before children, at most `limit`.
    async fn session_tree(&self, reach: Reach, root: SessionId, limit: u32)
    -> Result<Vec<Session>>;

    /// Tells whether `session` is `ancestor` or descends from it.
    async fn session_is_within(&self, session: SessionId, ancestor: SessionId) -> Result<bool>;
}
