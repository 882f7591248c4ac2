//! Who may work on something alone, and who looks at it with others.

use std::{
    collections::HashMap,
    hash::Hash,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// As many as can look at one thing together.
const LOOKERS_MAX: u32 = 1_000;

/// Locks by id. First come, first served; only those that somebody has or waits for are remembered.
#[derive(Debug)]
pub(crate) struct Locks<Id>(Mutex<HashMap<Id, Arc<Semaphore>>>);

impl<Id> Default for Locks<Id> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<Id: Eq + Hash> Locks<Id> {
    /// Waits until nobody else works on it or looks at it; the lock ends when the permit is dropped.
    pub(crate) async fn take(&self, id: Id) -> OwnedSemaphorePermit {
        self.acquire(id, LOOKERS_MAX).await
    }

    /// Waits until nobody works on it alone. Whoever looks must not look again inside: between the two, somebody may
    /// have begun to wait for all to be gone.
    pub(crate) async fn look(&self, id: Id) -> OwnedSemaphorePermit {
        self.acquire(id, 1).await
    }

    async fn acquire(&self, id: Id, permits: u32) -> OwnedSemaphorePermit {
        let lock = {
            let mut locks = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            locks.retain(|_, lock| Arc::strong_count(lock) > 1);
            let new = || Arc::new(Semaphore::new(LOOKERS_MAX as usize));
            Arc::clone(locks.entry(id).or_insert_with(new))
        };
        lock.acquire_many_owned(permits)
            .await
            .expect("these semaphores are never closed")
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[tokio::test]
    async fn many_look_together_and_one_works_alone() {
        let locks = Locks::<u8>::default();
        let (first, second) = (locks.look(1).await, locks.look(1).await);
        assert!(locks.take(1).now_or_never().is_none());
        assert!(locks.take(2).now_or_never().is_some());
        drop((first, second));
        let alone = locks.take(1).await;
        assert!(locks.look(1).now_or_never().is_none());
        drop(alone);
        assert!(locks.look(1).now_or_never().is_some());
    }
}
