//! Users.

use async_trait::async_trait;
use jiff::Timestamp;
use uuid::Uuid;
use wh_domain::{
    IdRef, LoopId, Page, PageRequest, Reach, SessionId, User, UserId, UserName, UserPatch,
};

use crate::{Applied, Commit, Result};

/// What runs, or is about to, though its owner is disabled.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeftRunning {
    pub loops: Vec<LoopId>,
    pub sessions: Vec<SessionId>,
}

/// Keeps users. A user lies within reach of itself and of [`Reach::All`].
#[async_trait]
pub trait UserStore {
    /// Adds a user; [`crate::StoreError::Taken`] when the name is in use.
    async fn user_insert(&self, user: &User, commit: Commit) -> Result<Applied>;

    /// Changes a user; [`crate::StoreError::LastAdmin`] when no administrator would be left who is let in.
    async fn user_update(
        &self,
        id: UserId,
        patch: &UserPatch,
        at: Timestamp,
        commit: Commit,
    ) -> Result<Applied>;

    /// Returns the oldest administrator who is let in.
    async fn user_first_admin(&self) -> Result<Option<User>>;

    /// Returns what users who are disabled have running still.
    async fn user_left_running(&self) -> Result<LeftRunning>;

    /// Returns the users that `id` could mean, at most ten.
    async fn user_find(&self, reach: Reach, id: &IdRef) -> Result<Vec<User>>;

    /// Returns the user with this id, whoever asks: for authentication.
    async fn user_by_id(&self, id: UserId) -> Result<Option<User>>;

    /// Returns the user of this name.
    async fn user_by_name(&self, reach: Reach, name: &UserName) -> Result<Option<User>>;

    /// Lists users, newest first.
    async fn user_list(&self, reach: Reach, page: PageRequest<Uuid>) -> Result<Page<User, Uuid>>;
}
