//! How many transfers run at the same time, and whose turn it is.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::sync::oneshot;
use wh_domain::UserId;

/// A bounded number of slots, shared fairly between users: the user with the fewest gets the next one, and no user gets
/// all of them, so that remotes that hang block only their owner's clones.
#[derive(Debug)]
pub(crate) struct Slots {
    max: usize,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    used: HashMap<UserId, usize>,
    waiting: VecDeque<(UserId, oneshot::Sender<Slot>)>,
}

/// One slot; it is free again when this is dropped.
#[derive(Debug)]
pub(crate) struct Slot {
    slots: Arc<Slots>,
    user: UserId,
}

impl Slots {
    pub(crate) fn new(max: usize) -> Arc<Self> {
        Arc::new(Self {
            max: max.max(1),
            state: Mutex::default(),
        })
    }

    /// Waits for a slot.
    pub(crate) async fn take(self: &Arc<Self>, user: UserId) -> Option<Slot> {
        let (give, given) = oneshot::channel();
        self.state().waiting.push_back((user, give));
        self.give();
        // The sender goes only with the slots themselves.
        given.await.ok()
    }

    /// Gives free slots to those who wait.
    fn give(self: &Arc<Self>) {
        while let Some((user, give)) = self.next() {
            let slot = Slot {
                slots: Arc::clone(self),
                user,
            };
            // Whoever went away meanwhile drops it, which makes it free again.
            drop(give.send(slot));
        }
    }

    /// Takes the next of those who wait, and counts their slot as used.
    fn next(&self) -> Option<(UserId, oneshot::Sender<Slot>)> {
        let mut state = self.state();
        let State { used, waiting } = &mut *state;
        waiting.retain(|(_, give)| !give.is_closed());
        if used.values().sum::<usize>() >= self.max {
            return None;
        }
        let count = |user: &UserId| used.get(user).copied().unwrap_or(0);
        let own_max = self.max.saturating_sub(1).max(1);
        let next = waiting.iter().enumerate();
        let next = next.filter(|(_, (user, _))| count(user) < own_max);
        let (at, _) = next.min_by_key(|(at, (user, _))| (count(user), *at))?;
        let (user, give) = waiting.remove(at)?;
        *used.entry(user).or_default() += 1;
        Some((user, give))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        {
            let mut state = self.slots.state();
            if let Some(count) = state.used.get_mut(&self.user) {
                *count -= 1;
            }
            state.used.retain(|_, count| *count > 0);
        }
        self.slots.give();
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;
    use newtype_uuid::GenericUuid;
    use uuid::Uuid;

    use super::*;

    fn user(number: u128) -> UserId {
        UserId::from_untyped_uuid(Uuid::from_u128(number))
    }

    #[tokio::test]
    async fn nobody_has_all_and_whoever_has_least_is_next() {
        let slots = Slots::new(4);
        let (ann, bob) = (user(1), user(2));
        let mut held = Vec::new();
        for _ in 0..3 {
            held.push(slots.take(ann).now_or_never().flatten().unwrap());
        }
        let mut fourth = Box::pin(slots.take(ann));
        assert!((&mut fourth).now_or_never().is_none(), "one is for others");
        let his = slots.take(bob).now_or_never().flatten().unwrap();
        let mut second = Box::pin(slots.take(bob));
        assert!((&mut second).now_or_never().is_none(), "all are used");
        held.pop();
        // She waited longer, and has two; he has one.
        assert!((&mut fourth).now_or_never().is_none());
        let second = (&mut second).now_or_never().flatten().unwrap();
        drop((his, second));
        assert!((&mut fourth).now_or_never().flatten().is_some());
    }

    #[tokio::test]
    async fn whoever_goes_away_leaves_the_slot_to_others() {
        let slots = Slots::new(1);
        let first = slots.take(user(1)).now_or_never().flatten().unwrap();
        let mut gone = Box::pin(slots.take(user(2)));
        assert!((&mut gone).now_or_never().is_none());
        let mut last = Box::pin(slots.take(user(3)));
        assert!((&mut last).now_or_never().is_none());
        drop(gone);
        drop(first);
        assert!((&mut last).now_or_never().flatten().is_some());
    }
}
