//! Credentials for hosts that repositories are fetched from.

use async_trait::async_trait;
use uuid::Uuid;
use wh_domain::{
    CredentialId, GitHost, HostCredential, Page, PageRequest, Reach, SealedCredential,
};

use crate::{Applied, Commit, Result};

/// Keeps encrypted credentials. A user reaches those that they entered; keys of clients and sessions reach none.
#[async_trait]
pub trait HostCredentialStore {
    /// Stores a credential in place of the one for the same host and the same user, or of the server's for that host.
    async fn credential_set(&self, sealed: &SealedCredential, commit: Commit) -> Result<Applied>;

    /// Deletes a credential.
    async fn credential_delete(&self, id: CredentialId, commit: Commit) -> Result<Applied>;

    /// Lists credentials, newest first.
    async fn credential_list(
        &self,
        reach: Reach,
        page: PageRequest<Uuid>,
    ) -> Result<Page<HostCredential, Uuid>>;

    /// Returns every credential for a host within reach.
    async fn credential_for(&self, reach: Reach, host: &GitHost) -> Result<Vec<SealedCredential>>;

    /// Tells whether any credential is stored.
    async fn credential_any(&self) -> Result<bool>;
}
