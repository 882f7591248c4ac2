//! Repositories.

use std::collections::BTreeSet;

use async_trait::async_trait;
use uuid::Uuid;
use wh_domain::{ConfigDigest, IdRef, Page, PageRequest, Reach, Repo, RepoId, TrustedConfig};

use crate::{Applied, Commit, Result};

/// Keeps repositories. A session's tree reaches the repositories its sessions work on.
#[async_trait]
pub trait RepoStore {
    /// Adds a repository; [`crate::StoreError::Taken`] when its owner has one of that name.
    async fn repo_insert(&self, repo: &Repo, commit: Commit) -> Result<Applied>;

    /// Records that a repository was found, cloned, or could not be; [`crate::StoreError::Stale`] when it is ready already.
    ///
    /// The default branch is recorded with it.
    async fn repo_settle(&self, repo: &Repo, commit: Commit) -> Result<Applied>;

    /// Returns repositories that are neither ready nor failed, oldest first, at most `limit`.
    async fn repo_pending(&self, limit: u32) -> Result<Vec<Repo>>;

    /// Returns the repositories that `id` could mean, at most ten.
    async fn repo_find(&self, reach: Reach, id: &IdRef) -> Result<Vec<Repo>>;

    /// Lists repositories, newest first.
    async fn repo_list(&self, reach: Reach, page: PageRequest<Uuid>) -> Result<Page<Repo, Uuid>>;

    /// Records approvals of a repository's project configuration and deletes revoked ones. Existing approvals stay as they are.
    async fn repo_trust(
        &self,
        repo: RepoId,
        approve: &[TrustedConfig],
        revoke: &[ConfigDigest],
        commit: Commit,
    ) -> Result<Applied>;

    /// Returns the approved project configuration of a repository: names and digests.
    async fn repo_trusted(&self, repo: RepoId) -> Result<BTreeSet<(String, ConfigDigest)>>;
}
