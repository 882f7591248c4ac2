//! Starting, stopping and putting away.

use std::time::Duration;

use jiff::SignedDuration;
use wh_domain::{
    EventKind, Facts, NewEvent, Operation, Reach, Reference, Session, SessionAction, SessionEvent,
    SessionId, SessionState,
};

use crate::{App, OpContext, Result, SessionReason, context::facts};

/// How long a stop may take before the whole tree is killed.
const STOP_WITHIN: SignedDuration = SignedDuration::from_secs(5);
/// How long deleting waits for the end of a session's processes.
const DELETE_WITHIN: Duration = Duration::from_secs(15);

impl App {
    /// Starts, stops, archives, restores or deletes a session. Answers at once; `session_wait` tells when it is done.
    pub async fn session_manage(
        &self,
        cx: &OpContext,
        session: &Reference,
        action: SessionAction,
    ) -> Result<Session> {
        let operation = Operation::SessionManage;
        let facts = facts([("session", session.as_str()), ("action", action.as_str())]);
        self.change(cx, operation, facts.clone(), async {
            let reach = cx.authorize(operation)?;
            let found = self.session_lookup(reach, session).await?;
            self.check_directs(cx, &found).await?;
            match action {
                SessionAction::Start => {
                    if found.archived {
                        return Err(SessionReason::Archived.into());
                    }
                    self.refuse_disabled_owner(cx, found.owner).await?;
                    let event = SessionEvent::ResumeRequested;
                    self.session_step(cx, &found, event, facts).await?;
                }
                SessionAction::Stop => self.session_stop(cx, &found, facts).await?,
                SessionAction::Archive | SessionAction::Restore => {
                    let archived = action == SessionAction::Archive;
                    let stop = (archived && must_stop(&found.state)).then(|| stop_event(cx));
                    let events = vec![updated(cx, &found, EventKind::Updated)];
                    let commit = cx.commit(operation, found.id.into(), facts, events);
                    let archive =
                        self.store
                            .session_archive(found.id, archived, stop.as_ref(), commit);
                    let _applied = archive.await?;
                }
                SessionAction::Delete => {
                    self.session_forget(cx, &found, facts).await?;
                    return Ok(found);
                }
            }
            self.wake(found.id);
            self.session_lookup(reach, &Reference::from(found.id)).await
        })
        .await
    }

    /// Asks every session that has a process, or is about to get one, to stop, and returns which. Their keepers see to it.
    pub async fn session_stop_all(&self, cx: &OpContext) -> Result<Vec<SessionId>> {
        let mut asked = Vec::new();
        for id in self.store.work_list().await? {
            let work = self.store.work_get(id).await?;
            if work.is_some_and(|work| is_under_way(&work.session.state)) {
                let session = Reference::from(id);
                self.session_manage(cx, &session, SessionAction::Stop)
                    .await?;
                asked.push(id);
            }
        }
        Ok(asked)
    }

    /// Waits until none of these sessions has a process, for `limit` at most, and returns them as they are then.
    pub async fn session_stop_wait(
        &self,
        ids: &[SessionId],
        limit: Duration,
    ) -> Result<Vec<Session>> {
        let mut watch = self.watch(limit);
        loop {
            let (mut sessions, mut is_done) = (Vec::new(), true);
            for id in ids {
                let Some(work) = self.store.work_get(*id).await? else {
                    continue;
                };
                is_done &= work.run.is_none_or(|run| run.ended_at.is_some())
                    && !matches!(work.session.state, SessionState::Stopping { .. });
                sessions.push(work.session);
            }
            if is_done || !watch.next().await {
                return Ok(sessions);
            }
        }
    }

    async fn session_step(
        &self,
        cx: &OpContext,
        session: &Session,
        event: SessionEvent,
        facts: Facts,
    ) -> Result<()> {
        let commit = cx.commit(Operation::SessionManage, session.id.into(), facts, vec![]);
        let _applied = self.store.session_move(session.id, &event, commit).await?;
        Ok(())
    }

    /// Asks for a stop. Asking for one of a session that is stopped already is not a mistake.
    async fn session_stop(&self, cx: &OpContext, session: &Session, facts: Facts) -> Result<()> {
        if session.state == SessionState::Stopped {
            return Ok(());
        }
        self.session_step(cx, session, stop_event(cx), facts).await
    }

    /// Stops the session, waits until its processes have ended, and deletes it.
    async fn session_forget(&self, cx: &OpContext, session: &Session, facts: Facts) -> Result<()> {
        let tree = self
            .store
            .session_tree(Reach::All, session.root, u32::MAX)
            .await?;
        if tree.iter().any(|it| it.parent == Some(session.id)) {
            return Err(SessionReason::HasChildren.into());
        }
        if must_stop(&session.state) {
            // Only the deletion claims the caller's idempotency key: a retry has to delete what the first call only stopped.
            let stopping = OpContext {
                idempotency: None,
                ..cx.part(Operation::SessionManage, 0)
            };
            let mut facts = facts.clone();
            let action = SessionAction::Stop.as_str().to_owned();
            facts.insert("action".to_owned(), action);
            self.session_stop(&stopping, session, facts).await?;
            self.wake(session.id);
        }
        let left = self.session_stop_wait(&[session.id], DELETE_WITHIN).await?;
        let has_process = match self.store.work_get(session.id).await? {
            Some(work) => work.run.is_some_and(|run| run.ended_at.is_none()),
            None => false,
        };
        if has_process || left.iter().any(|it| must_stop(&it.state)) {
            return Err(SessionReason::Stopping.into());
        }
        let events = vec![updated(cx, session, EventKind::Deleted)];
        let commit = cx.commit(Operation::SessionManage, session.id.into(), facts, events);
        let _applied = self.store.session_delete(session.id, commit).await?;
        self.session_dir_remove(session.id).await;
        self.session_uncommitted_forget(session).await;
        Ok(())
    }
}

fn stop_event(cx: &OpContext) -> SessionEvent {
    SessionEvent::StopRequested {
        kill_at: cx.now + STOP_WITHIN,
    }
}

/// Tells whether a session has to be stopped before it is archived or deleted.
fn must_stop(state: &SessionState) -> bool {
    is_under_way(state) && !matches!(state, SessionState::Stopping { .. })
}

/// Tells whether something may be happening in a session.
fn is_under_way(state: &SessionState) -> bool {
    !(state.name().is_end() || matches!(state, SessionState::Stopped | SessionState::Interrupted))
}

fn updated(cx: &OpContext, session: &Session, kind: EventKind) -> NewEvent {
    NewEvent {
        kind,
        subject: session.id.into(),
        owner: session.owner,
        session: Some(session.id),
        actor: Some(cx.principal.user),
        facts: Facts::new(),
    }
}
