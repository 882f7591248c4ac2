//! One at a time per repository.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use wh_domain::RepoId;

/// Lets one caller at a time make, merge or remove something of a repository. Only those under way are remembered.
#[derive(Debug, Default)]
pub(crate) struct RepoTurns(Mutex<HashMap<RepoId, Arc<Semaphore>>>);

impl RepoTurns {
    /// Waits for a turn on `repo`; it ends when the permit is dropped.
    pub(crate) async fn take(&self, repo: RepoId) -> OwnedSemaphorePermit {
        let turn = {
            let mut turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            turns.retain(|_, turn| Arc::strong_count(turn) > 1);
            Arc::clone(
                turns
                    .entry(repo)
                    .or_insert_with(|| Semaphore::new(1).into()),
            )
        };
        turn.acquire_owned().await.expect("turns are never closed")
    }
}
