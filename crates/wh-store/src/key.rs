//! Credentials.

use async_trait::async_trait;
use jiff::Timestamp;
use uuid::Uuid;
use wh_domain::{IdRef, Key, KeyHash, KeyId, Page, PageRequest, Reach, UserId};

use crate::{Applied, Commit, Result};

/// Keeps credentials, without their secrets. A key lies within reach of its user and of [`Reach::All`].
#[async_trait]
pub trait KeyStore {
    /// Adds a key; [`crate::StoreError::Taken`] when its prefix is in use.
    async fn key_insert(&self, key: &Key, commit: Commit) -> Result<Applied>;

    /// Returns the key with this hash, whatever its state.
    async fn key_by_hash(&self, hash: &KeyHash) -> Result<Option<Key>>;

    /// Returns the keys that `id` could mean, at most ten.
    async fn key_find(&self, reach: Reach, id: &IdRef) -> Result<Vec<Key>>;

    /// Lists keys, newest first; of one user if asked; browser and session credentials only if asked.
    async fn key_list(
        &self,
        reach: Reach,
        user: Option<UserId>,
        include_automatic: bool,
        page: PageRequest<Uuid>,
    ) -> Result<Page<Key, Uuid>>;

    /// Revokes a key; revoking twice keeps the first time.
    async fn key_revoke(&self, id: KeyId, at: Timestamp, commit: Commit) -> Result<Applied>;

    /// Remembers when keys were last used. Not audited, and lost in a crash: it is only for people to look at.
    async fn key_touch(&self, used: &[(KeyId, Timestamp)]) -> Result<()>;
}
