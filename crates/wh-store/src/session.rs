//! Sessions.

use async_trait::async_trait;
use uuid::Uuid;
use wh_domain::{
    Board, IdRef, NewTurn, Page, PageRequest, Reach, Session, SessionBrief, SessionEvent,
    SessionFilter, SessionId, SessionPatch, SessionTally, SpawnLimits, Worktree,
};

use crate::{Applied, Commit, Result};

/// A session to begin, with everything that belongs to its beginning.
#[derive(Clone, Debug)]
pub struct NewSession {
    pub session: Session,
    /// A worktree that is to be made for it.
    pub worktree: Option<Worktree>,
    /// Its first prompt.
    pub turn: Option<NewTurn>,
    /// The most sessions of its owner that may be under way, this one included.
    pub live_max: u32,
    /// How far its tree may grow, if it has a parent.
    pub spawn: Option<SpawnLimits>,
    /// Where it is laid as it begins.
    pub laid: Option<Laid>,
}

/// A board on which a session lies from its beginning.
#[derive(Clone, Debug)]
pub struct Laid {
    /// The board with the session on it; [`crate::StoreError::Stale`] when another change came before.
    pub board: Board,
    /// What the zone that it lies in prompts, after its first prompt.
    pub turn: Option<NewTurn>,
}

/// Keeps sessions. A session's tree reaches itself and its descendants.
#[async_trait]
pub trait SessionStore {
    /// Adds a session.
    async fn session_insert(&self, session: &Session, commit: Commit) -> Result<Applied>;

    /// Begins a session; [`crate::StoreError::Limit`] when its owner has as many under way as may be.
    async fn session_begin(&self, new: &NewSession, commit: Commit) -> Result<Applied>;

    /// Moves a session to the state that follows; [`crate::StoreError::Illegal`] when none does.
    ///
    /// A stop also takes the prompts that wait out of the queue.
    async fn session_move(
        &self,
        id: SessionId,
        event: &SessionEvent,
        commit: Commit,
    ) -> Result<Applied>;

    /// Archives a session, or restores it; with `stop`, also moves it to the state that follows, in the same transaction.
    async fn session_archive(
        &self,
        id: SessionId,
        archived: bool,
        stop: Option<&SessionEvent>,
        commit: Commit,
    ) -> Result<Applied>;

    /// Forgets a session and its transcript; [`crate::StoreError::InUse`] while it has children or an open run.
    async fn session_delete(&self, id: SessionId, commit: Commit) -> Result<Applied>;

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

    /// Lists sessions as [`Self::session_list`] does, with the properties that lists show.
    async fn session_brief_list(
        &self,
        reach: Reach,
        filter: &SessionFilter,
        page: PageRequest<Uuid>,
    ) -> Result<Page<SessionBrief, Uuid>>;

    /// Counts the sessions of a list, up to [`crate::COUNT_MAX`].
    async fn session_count(&self, reach: Reach, filter: &SessionFilter) -> Result<u64>;

    /// Counts the sessions of a list by what decides their stage, up to [`crate::COUNT_MAX`].
    async fn session_tally(
        &self,
        reach: Reach,
        filter: &SessionFilter,
    ) -> Result<Vec<SessionTally>>;

    /// Counts the forks of a session, for the server's own work.
    async fn session_forks_count(&self, source: SessionId) -> Result<u64>;

    /// Returns all sessions of a tree that lie within reach, parents before children, at most `limit`.
    async fn session_tree(&self, reach: Reach, root: SessionId, limit: u32)
    -> Result<Vec<Session>>;

    /// Tells whether `session` is `ancestor` or descends from it.
    async fn session_is_within(&self, session: SessionId, ancestor: SessionId) -> Result<bool>;
}
