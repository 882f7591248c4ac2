//! One at a time per repository.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use wh_domain::RepoId;

/// Lets one caller at a time make, merge or remove something of a repository. Only locks that somebody has or waits for
/// are remembered.
#[derive(Debug, Default)]
pub(crate) struct RepoLocks(Mutex<HashMap<RepoId, Arc<Semaphore>>>);

impl RepoLocks {
    /// Waits until nobody else works on `repo`; the lock ends when the permit is dropped.
    pub(crate) async fn take(&self, repo: RepoId) -> OwnedSemaphorePermit {
        let lock = {
            let mut locks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            locks.retain(|_, lock| Arc::strong_count(lock) > 1);
            Arc::clone(
                locks
                    .entry(repo)
                    .or_insert_with(|| Semaphore::new(1).into()),
            )
        };
        lock.acquire_owned()
            .await
            .expect("these semaphores are never closed")
    }
}
