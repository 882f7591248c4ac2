//! Shares the server between users, so that one who sends many requests at once does not delay the others.
//!
//! While several users send requests, the server works on a few requests of each at once, as many as there are processors but not more than
//! [`ADMITTED_MAX`]; further requests wait in a queue of their user.
//! A user who is alone is not limited. So a request waits behind a few requests of every other user, and not behind all of them, for a
//! thread, a database connection and everything else that is given to whoever comes first.
//!
//! A request counts for [`COUNTED_FOR`] at most. One that takes longer waits for something itself, such as an agent, git or a model, and
//! must not keep its user's other requests from being answered.

use std::{
    collections::{HashMap, HashSet, VecDeque},
    future::Future,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
    time::Duration,
};

use futures::future::BoxFuture;
use tokio::time::{Instant, Sleep, sleep};
use wh_domain::UserId;

/// Requests of one user that are worked on at once while other users send requests too, however many processors there are: the database
/// has so many connections for reading.
const ADMITTED_MAX: usize = 4;
/// The same with one processor: a request that waits for the disk leaves the processor to another one.
const ADMITTED_MIN: usize = 2;
/// How long a request counts as being worked on.
const COUNTED_FOR: Duration = Duration::from_millis(20);
/// How long after a request its user counts as sending requests.
const ACTIVE_FOR: Duration = Duration::from_secs(1);

/// Decides which requests are worked on.
#[derive(Debug)]
pub(crate) struct FairShare {
    state: Mutex<State>,
}

impl Default for FairShare {
    fn default() -> Self {
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        Self::admitting(processors.clamp(ADMITTED_MIN, ADMITTED_MAX))
    }
}

type Number = u64;

#[derive(Debug)]
struct State {
    /// Requests of one user that are worked on at once while other users send requests too.
    admitted_max: usize,
    users: HashMap<UserId, Share>,
    /// Queued requests that were admitted and do not know it yet.
    admitted: HashSet<Number>,
    next_number: Number,
    pruned_at: Option<Instant>,
}

/// The requests of one user.
#[derive(Debug)]
struct Share {
    latest: Instant,
    /// Requests that are worked on and when each was admitted, oldest first.
    running: VecDeque<(Number, Instant)>,
    queue: VecDeque<(Number, Waker)>,
}

impl FairShare {
    fn admitting(admitted_max: usize) -> Self {
        let state = State {
            admitted_max,
            users: HashMap::new(),
            admitted: HashSet::new(),
            next_number: 0,
            pruned_at: None,
        };
        Self {
            state: Mutex::new(state),
        }
    }

    /// Answers a request of `user` when it is admitted.
    pub(crate) fn share<T>(
        self: &Arc<Self>,
        user: UserId,
        request: BoxFuture<'static, T>,
    ) -> Shared<T> {
        let number = self.lock().arrive(user, Instant::now());
        Shared {
            fair: self.clone(),
            user,
            number,
            request,
            stage: Stage::New,
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing below panics while it holds the lock.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn arrive(&mut self, user: UserId, now: Instant) -> Number {
        self.prune(now);
        let share = self.users.entry(user).or_insert_with(|| Share {
            latest: now,
            running: VecDeque::new(),
            queue: VecDeque::new(),
        });
        share.latest = now;
        self.next_number += 1;
        self.next_number
    }

    /// Forgets users who have sent nothing for a while.
    fn prune(&mut self, now: Instant) {
        if self.pruned_at.is_none_or(|at| now >= at + ACTIVE_FOR) {
            self.pruned_at = Some(now);
            self.users.retain(|_, share| {
                !share.running.is_empty() || !share.queue.is_empty() || share.is_active(now)
            });
        }
    }

    /// Admits the request, or adds it to its user's queue.
    fn admit(&mut self, user: UserId, number: Number, waker: &Waker, now: Instant) -> bool {
        let is_contended = self.is_contended(user, now);
        let Some(share) = self.users.get_mut(&user) else {
            return true;
        };
        if is_contended && (!share.queue.is_empty() || share.counted(now) >= self.admitted_max) {
            share.queue.push_back((number, waker.clone()));
            return false;
        }
        share.running.push_back((number, now));
        true
    }

    /// Tells whether a queued request was admitted meanwhile; if not, `waker` is woken when it is.
    fn is_admitted(&mut self, user: UserId, number: Number, waker: &Waker, now: Instant) -> bool {
        self.admit_queued(user, now);
        if self.admitted.remove(&number) {
            return true;
        }
        let share = self.users.get_mut(&user);
        let mut queued = share.into_iter().flat_map(|share| &mut share.queue);
        if let Some((_, kept)) = queued.find(|(queued, _)| *queued == number) {
            kept.clone_from(waker);
        }
        false
    }

    fn admit_queued(&mut self, user: UserId, now: Instant) {
        let is_contended = self.is_contended(user, now);
        let Some(share) = self.users.get_mut(&user) else {
            return;
        };
        while !share.queue.is_empty() && (!is_contended || share.counted(now) < self.admitted_max) {
            if let Some((number, waker)) = share.queue.pop_front() {
                share.running.push_back((number, now));
                self.admitted.insert(number);
                waker.wake();
            }
        }
    }

    /// Forgets a request that was answered or given up.
    fn leave(&mut self, user: UserId, number: Number, now: Instant) {
        self.admitted.remove(&number);
        if let Some(share) = self.users.get_mut(&user) {
            share.running.retain(|(running, _)| *running != number);
            share.queue.retain(|(queued, _)| *queued != number);
        }
        self.admit_queued(user, now);
    }

    /// Tells whether anybody else sends requests.
    fn is_contended(&self, user: UserId, now: Instant) -> bool {
        let mut others = self.users.iter().filter(|(other, _)| **other != user);
        others.any(|(_, share)| share.is_active(now))
    }
}

impl Share {
    fn is_active(&self, now: Instant) -> bool {
        now < self.latest + ACTIVE_FOR
    }

    /// Counts the requests that are worked on; those that take longer are counted no more.
    fn counted(&mut self, now: Instant) -> usize {
        while let Some((_, admitted_at)) = self.running.front()
            && *admitted_at + COUNTED_FOR <= now
        {
            self.running.pop_front();
        }
        self.running.len()
    }
}

/// A request that waits until it is admitted.
pub(crate) struct Shared<T> {
    fair: Arc<FairShare>,
    user: UserId,
    number: Number,
    request: BoxFuture<'static, T>,
    stage: Stage,
}

enum Stage {
    New,
    /// Looks again when the sleep is over: others may count no more.
    Queued(Pin<Box<Sleep>>),
    Running,
}

impl<T> Future for Shared<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        let this = &mut *self;
        if !this.is_admitted(cx) {
            return Poll::Pending;
        }
        this.stage = Stage::Running;
        this.request.as_mut().poll(cx)
    }
}

impl<T> Shared<T> {
    fn is_admitted(&mut self, cx: &mut Context<'_>) -> bool {
        let (user, number) = (self.user, self.number);
        if matches!(self.stage, Stage::New) {
            let admitted = self
                .fair
                .lock()
                .admit(user, number, cx.waker(), Instant::now());
            if admitted {
                return true;
            }
            self.stage = Stage::Queued(Box::pin(sleep(COUNTED_FOR)));
        }
        let Stage::Queued(wait) = &mut self.stage else {
            return true;
        };
        loop {
            let mut state = self.fair.lock();
            if state.is_admitted(user, number, cx.waker(), Instant::now()) {
                return true;
            }
            drop(state);
            if wait.as_mut().poll(cx).is_pending() {
                return false;
            }
            wait.as_mut().reset(Instant::now() + COUNTED_FOR);
        }
    }
}

impl<T> Drop for Shared<T> {
    fn drop(&mut self) {
        let now = Instant::now();
        self.fair.lock().leave(self.user, self.number, now);
    }
}

#[cfg(test)]
mod tests {
    use futures::future::pending;
    use newtype_uuid::GenericUuid;
    use uuid::Uuid;

    use super::*;

    fn user(number: u128) -> UserId {
        UserId::from_untyped_uuid(Uuid::from_u128(number))
    }

    fn requests(fair: &Arc<FairShare>, sender: UserId, count: usize) -> Vec<Shared<()>> {
        let request = |_| fair.share(sender, Box::pin(pending()));
        (0..count).map(request).collect()
    }

    /// Polls each request once and returns how many are worked on.
    async fn running(requests: &mut [Shared<()>]) -> usize {
        for request in requests.iter_mut() {
            assert!(futures::poll!(request).is_pending());
        }
        let running = |it: &&Shared<()>| matches!(it.stage, Stage::Running);
        requests.iter().filter(running).count()
    }

    #[tokio::test]
    async fn the_only_user_is_not_limited() {
        let fair = Arc::new(FairShare::admitting(ADMITTED_MAX));
        let mut requests = requests(&fair, user(1), 100);
        assert_eq!(running(&mut requests).await, 100);
    }

    #[tokio::test]
    async fn a_busy_user_is_limited_while_others_send_requests() {
        let fair = Arc::new(FairShare::admitting(ADMITTED_MAX));
        let mut other = requests(&fair, user(2), 1);
        let mut busy = requests(&fair, user(1), 100);
        assert_eq!(running(&mut busy).await, ADMITTED_MAX);
        assert_eq!(running(&mut other).await, 1);
        // As many as are answered follow, in their order.
        busy.drain(..3);
        assert_eq!(running(&mut busy).await, ADMITTED_MAX);
        assert!(matches!(busy[ADMITTED_MAX - 1].stage, Stage::Running));
    }

    #[tokio::test]
    async fn requests_that_wait_for_something_count_for_a_moment_only() {
        let fair = Arc::new(FairShare::admitting(ADMITTED_MAX));
        let _other = requests(&fair, user(2), 1);
        let mut busy = requests(&fair, user(1), 3 * ADMITTED_MAX);
        assert_eq!(running(&mut busy).await, ADMITTED_MAX);
        {
            let mut state = fair.lock();
            let share = state.users.get_mut(&user(1)).unwrap();
            for (_, admitted_at) in &mut share.running {
                *admitted_at -= COUNTED_FOR;
            }
        }
        assert_eq!(running(&mut busy).await, 2 * ADMITTED_MAX);
    }

    #[tokio::test]
    async fn a_queue_is_admitted_when_its_user_is_alone_again() {
        let fair = Arc::new(FairShare::admitting(ADMITTED_MAX));
        let other = requests(&fair, user(2), 1);
        let mut busy = requests(&fair, user(1), 50);
        assert_eq!(running(&mut busy).await, ADMITTED_MAX);
        drop(other);
        fair.lock().users.get_mut(&user(2)).unwrap().latest -= ACTIVE_FOR;
        assert_eq!(running(&mut busy).await, 50);
    }

    #[tokio::test]
    async fn queued_requests_run_by_themselves() {
        let fair = Arc::new(FairShare::admitting(ADMITTED_MAX));
        let _other = requests(&fair, user(2), 1);
        let slow = (0..20).map(|number| {
            let request = async move {
                tokio::time::sleep(Duration::from_millis(1)).await;
                number
            };
            fair.share(user(1), Box::pin(request))
        });
        let answers = futures::future::join_all(slow).await;
        assert_eq!(answers, (0..20).collect::<Vec<_>>());
    }

    #[tokio::test]
    async fn dropped_requests_leave_nothing() {
        let fair = Arc::new(FairShare::admitting(ADMITTED_MAX));
        let mut other = requests(&fair, user(2), 1);
        let mut busy = requests(&fair, user(1), 20);
        running(&mut busy).await;
        running(&mut other).await;
        // Admits some that never learn it.
        busy.drain(..2);
        drop((busy, other));
        let mut state = fair.lock();
        assert!(state.admitted.is_empty());
        state.prune(Instant::now() + 2 * ACTIVE_FOR);
        assert!(state.users.is_empty());
    }
}
