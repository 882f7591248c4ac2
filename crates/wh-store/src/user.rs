//! Users.

use async_trait::async_trait;
use uuid::Uuid;
use wh_domain::{IdRef, Page, PageRequest, Reach, User, UserId, UserName};

use crate::{Applied, Commit, Result};

/// Keeps users. A user lies within reach of itself and of [`Reach::All`].
#[async_trait]
pub trait UserStore {
    /// Adds a user; [`crate::StoreError::Taken`] when the name is in use.
    async fn user_insert(&self, user: &User, commit: Commit) -> Result<Applied>;

    /// Returns the users that `id` could mean, at most ten.
    async fn user_find(&self, reach: Reach, id: &IdRef) -> Result<Vec<User>>;

    /// Returns the user with this id, whoever asks: for authentication.
    async fn user_by_id(&self, id: UserId) -> Result<Option<User>>;

    /// Returns the user of this name.
    async fn user_by_name(&self, reach: Reach, name: &UserName) -> Result<Option<User>>;

    /// Lists users, newest first.
    async fn user_list(&self, reach: Reach, page: PageRequest<Uuid>) -> Result<Page<User, Uuid>>;
}
