//! Waiting for sessions without polling them.

use std::{sync::Arc, time::Duration};

use tokio::{sync::watch, time::Instant};
use tokio_util::sync::CancellationToken;
use wh_domain::{Event, EventSeq, Operation, Reach, Reference, SessionId, WaitFor, WaitedSession};
use wh_store::{EventsSeen, Store};

use crate::{App, AppError, OpContext, Resource, Result, SessionReason, context::facts};

/// The longest wait of one call.
pub(crate) const WAIT_MAX: Duration = Duration::from_secs(300);

/// How often a wait looks, whether or not it heard of something.
const LOOK_EVERY: Duration = Duration::from_secs(2);

/// The most sessions of one wait.
const SESSIONS_MAX: usize = 50;

impl App {
    /// Waits until sessions are at rest, ended or in need of an answer, for `limit` at most.
    pub async fn session_wait(
        &self,
        cx: &OpContext,
        sessions: &[Reference],
        wait_for: WaitFor,
        limit: Duration,
    ) -> Result<Vec<WaitedSession>> {
        let operation = Operation::SessionWait;
        let first = sessions.first().map_or("", Reference::as_str);
        self.read(cx, operation, facts([("session", first)]), async {
            let ids = self.waited_for(cx.authorize(operation)?, sessions).await?;
            let mut watch = self.watch(limit.min(WAIT_MAX));
            watch.about(&ids);
            loop {
                let sessions = self.waited(&ids).await?;
                if sessions.len() < ids.len() {
                    return Err(AppError::not_found(Resource::Session));
                }
                if wait_for.is_met(&sessions, 0) || !watch.next().await {
                    return Ok(sessions);
                }
            }
        })
        .await
    }

    /// Returns which sessions a caller wants to wait for.
    pub(crate) async fn waited_for(
        &self,
        reach: Reach,
        sessions: &[Reference],
    ) -> Result<Vec<SessionId>> {
        if sessions.is_empty() || sessions.len() > SESSIONS_MAX {
            return Err(SessionReason::WaitCount { max: SESSIONS_MAX }.into());
        }
        let mut ids = Vec::new();
        for reference in sessions {
            ids.push(self.session_lookup(reach, reference).await?.id);
        }
        Ok(ids)
    }

    /// Returns sessions as they are now, without those that are gone.
    pub(crate) async fn waited(&self, ids: &[SessionId]) -> Result<Vec<WaitedSession>> {
        let mut sessions = Vec::new();
        for id in ids {
            if let Some(work) = self.store.work_get(*id).await? {
                let has_queue = work.next.is_some();
                sessions.push(WaitedSession::new(&work.session, has_queue));
            }
        }
        Ok(sessions)
    }

    /// Begins to watch for changes, for `limit` at most.
    pub(crate) fn watch(&self, limit: Duration) -> Watch {
        let changes = self.store.event_watch();
        let seen = *changes.borrow();
        Watch {
            store: Arc::clone(&self.store),
            changes,
            seen,
            sessions: None,
            deadline: Instant::now() + limit,
            stop: self.shutdown.clone(),
        }
    }
}

/// Tells when it is worth to look again.
pub(crate) struct Watch {
    store: Arc<dyn Store>,
    changes: watch::Receiver<EventSeq>,
    /// Everything up to here was looked at.
    seen: EventSeq,
    /// Whose changes are worth a look, once that is known.
    sessions: Option<Vec<SessionId>>,
    deadline: Instant,
    stop: CancellationToken,
}

impl Watch {
    /// Says whose changes are waited for: what others do wakes nobody any more.
    pub(crate) fn about(&mut self, sessions: &[SessionId]) {
        self.sessions = Some(sessions.to_vec());
    }

    /// Waits until something has changed since the call before; false when the time is up or the server stops.
    pub(crate) async fn next(&mut self) -> bool {
        let now = Instant::now();
        if now >= self.deadline {
            return false;
        }
        let look = (now + LOOK_EVERY).min(self.deadline);
        loop {
            tokio::select! {
                changed = self.changes.changed() => match changed {
                    Ok(()) if self.is_worth_a_look() => return true,
                    Ok(()) => {}
                    Err(_) => return false,
                },
                () = tokio::time::sleep_until(look) => return true,
                () = self.stop.cancelled() => return false,
            }
        }
    }

    /// Tells whether what was committed meanwhile may be what is waited for: more words of an agent are not.
    fn is_worth_a_look(&mut self) -> bool {
        let Some(sessions) = &self.sessions else {
            return true;
        };
        let is_worth = |event: &Event| {
            let is_theirs = event.body.session.is_some_and(|id| sessions.contains(&id));
            is_theirs && !event.body.kind.is_words()
        };
        let newest = *self.changes.borrow();
        while self.seen < newest {
            let Some(recent) = self.store.event_recent(Reach::All, self.seen) else {
                self.seen = newest;
                return true;
            };
            self.seen = recent.through;
            let mut events = recent.events.iter().flat_map(EventsSeen::iter);
            if events.any(is_worth) {
                return true;
            }
        }
        false
    }
}
