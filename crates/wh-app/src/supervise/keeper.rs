//! One session's keeper: waits for what is wanted and for what happens, and brings the two together.

use std::{sync::Arc, time::Duration};

use jiff::{SignedDuration, Timestamp};
use newtype_uuid::GenericUuid;
use tokio::sync::Notify;
use uuid::Uuid;
use wh_domain::{Run, Session, SessionId, SettingKey, Turn, TurnId};
use wh_runner::{AgentEvent, journal::Record, link::LinkError, process::ProcessMark};
use wh_store::{RunFact, RunStep, SessionWork, StoreError};

use super::{
    link::{Link, Said},
    stderr,
    story::{Story, Telling},
};
use crate::{App, Result};

/// How long a keeper that failed rests before it tries again: twice as long each time, up to the longest.
const RETRY_AFTER: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(60)];

/// Looks after one session for as long as something is to be done about it.
pub(super) struct Keeper {
    pub(super) app: Arc<App>,
    pub(super) session: SessionId,
    bell: Arc<Notify>,
    pub(super) link: Option<Link>,
    pub(super) story: Story,
    /// The process of the run that this keeper started last.
    pub(super) spawned: Option<(u64, ProcessMark)>,
    /// What the run was told already; telling twice is harmless and telling each time is a waste.
    pub(super) sent: Vec<String>,
    /// Since when the process has had nothing to do.
    pub(super) idle_since: Option<Timestamp>,
    pub(super) renewed_at: Option<Timestamp>,
    /// What the last look saw, as long as it holds: words change nothing but the place in the journal.
    pub(super) known: Option<SessionWork>,
    /// When the run last said something, as far as this keeper knows.
    pub(super) heard_at: Timestamp,
    /// The prompt that was handed over and has not been heard of yet.
    pub(super) given: Option<TurnId>,
    /// The model that was asked for when the run of this epoch was started.
    pub(super) run_model: Option<(u64, Option<String>)>,
    /// Where the worktree was when the prompt was handed over.
    pub(super) commit_before: Option<String>,
}

/// What a look at the session came to.
pub(super) enum Look {
    /// Something was done: look again.
    Again,
    /// Nothing to do before this time, unless something happens.
    Rest(Timestamp),
    /// Nothing to do at all.
    Done,
}

/// What woke a keeper.
enum Woken {
    Said(Result<Said, LinkError>),
    Asked,
}

impl Keeper {
    pub(super) fn new(app: Arc<App>, session: SessionId, bell: Arc<Notify>) -> Self {
        let heard_at = app.clock.now();
        Self {
            app,
            session,
            bell,
            link: None,
            story: Story::new(0, None),
            spawned: None,
            sent: Vec::new(),
            idle_since: None,
            renewed_at: None,
            known: None,
            heard_at,
            given: None,
            run_model: None,
            commit_before: None,
        }
    }

    /// Keeps the session until nothing is to be done about it or the server stops.
    pub(super) async fn run(mut self) {
        let stop = self.app.shutdown.clone();
        let [mut rest, longest] = RETRY_AFTER;
        loop {
            let begun = self.app.clock.now();
            let kept = stop.run_until_cancelled(self.keep()).await;
            match kept {
                None | Some(Ok(())) => return,
                Some(Err(error)) => {
                    tracing::warn!(session = %self.session, %error, "a session could not be looked after; trying again");
                    // Whatever was half done, the rows know: begin from them.
                    self.link = None;
                    let went_well = self.app.clock.now().duration_since(begun);
                    rest = match Duration::try_from(went_well) {
                        Ok(time) if time > longest => RETRY_AFTER[0],
                        _ => (rest * 2).min(longest),
                    };
                    if stop
                        .run_until_cancelled(tokio::time::sleep(rest))
                        .await
                        .is_none()
                    {
                        return;
                    }
                }
            }
        }
    }

    async fn keep(&mut self) -> Result<()> {
        loop {
            let rest_until = match self.look().await? {
                Look::Again => continue,
                Look::Done => return Ok(()),
                Look::Rest(until) => until,
            };
            // Words go straight into the transcript; only what changes what is to be done is worth another look.
            loop {
                match self.wait(rest_until).await {
                    Woken::Asked => break,
                    Woken::Said(Ok(Said::Stderr(lines))) => self.store_stderr(&lines).await?,
                    Woken::Said(Ok(Said::Records(records))) => {
                        if self.store_records(&records).await? {
                            break;
                        }
                    }
                    Woken::Said(Err(error)) => {
                        tracing::debug!(session = %self.session, %error, "the link to a run ended");
                        self.link = None;
                        break;
                    }
                }
            }
        }
    }

    async fn wait(&mut self, until: Timestamp) -> Woken {
        let left = until.duration_since(self.app.clock.now());
        let left = Duration::try_from(left).unwrap_or(Duration::ZERO);
        let said = async {
            match &mut self.link {
                Some(link) => link.said().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            biased;
            () = self.bell.notified() => Woken::Asked,
            said = said => Woken::Said(said),
            () = tokio::time::sleep(left) => Woken::Asked,
        }
    }

    /// Stores records and acknowledges them. Tells whether they change what is to be done.
    pub(super) async fn store_records(&mut self, records: &[Record]) -> Result<bool> {
        self.heard_at = self.app.clock.now();
        let work = match self.known.take() {
            Some(work) => work,
            None => match self.app.store.work_get(self.session).await? {
                Some(work) => work,
                None => return Ok(true),
            },
        };
        let mut facts = self.facts_of(&work, records).await?;
        let Some((run, last)) = work.run.clone().zip(records.last()) else {
            return Ok(true);
        };
        let unwanted = work.next.as_ref().is_some_and(|it| it.cancel_requested);
        let timed = work.session.budget.wall_seconds.is_some();
        let weighty = facts.iter().any(|fact| is_weighty(fact, timed || unwanted));
        let is_over = facts
            .iter()
            .any(|fact| matches!(fact, RunFact::Gone { .. }));
        let ended = facts
            .iter()
            .any(|fact| matches!(fact, RunFact::TurnEnded { .. } | RunFact::Gone { .. }));
        if is_over {
            // Before anybody is told that the worktree is at rest.
            self.app.context_remove(&work.session).await;
            self.app.project_config_release(&work.session);
            // The agent may have gone on after its last turn, and now it is gone.
            if let Some(text) = self.app.embedded_disable(&work.session).await {
                let gone = |fact: &RunFact| matches!(fact, RunFact::Gone { .. });
                let at = facts.iter().position(gone).unwrap_or(facts.len());
                facts.insert(at, self.note(&work, text));
            }
        }
        if last.seq > run.journal_seq {
            let step = RunStep {
                session: self.session,
                epoch: run.epoch,
                after: run.journal_seq,
                through: last.seq,
                at: self.app.clock.now(),
                facts,
            };
            let session = self.app.store.run_apply(step).await?;
            if weighty {
                self.wake_parent(&session);
            }
            if session.worktree.is_some() && ended {
                self.app.count_wanted.notify_one();
            }
            let journal_seq = last.seq;
            let run = Some(Run {
                journal_seq,
                ..run.clone()
            });
            let known = SessionWork {
                session,
                run,
                ..work
            };
            self.known = Some(known).filter(|_| !weighty);
        }
        if let Some(link) = &self.link {
            // If this is lost, so is the link, and the next one asks for what is stored.
            link.ack(last.seq).await.ok();
        }
        if is_over && let Some(link) = self.link.take() {
            link.finish().await;
            self.app.run_forget(&run).await;
        }
        Ok(weighty)
    }

    /// Stores the last of what the agent's program wrote to its stderr. It is no step of the session, and nothing to look at.
    async fn store_stderr(&self, lines: &[String]) -> Result<()> {
        let (Some(link), Some(text)) = (&self.link, stderr::text(lines)) else {
            return Ok(());
        };
        let now = self.app.clock.now();
        let store = &self.app.store;
        Ok(store.run_log(self.session, link.epoch, text, now).await?)
    }

    async fn facts_of(&mut self, work: &SessionWork, records: &[Record]) -> Result<Vec<RunFact>> {
        let stored = work.run.as_ref().map_or(0, |run| run.journal_seq);
        let home = self.app.session_place(&work.session).await?;
        let begun = self.begun_in(records).await?;
        let asks = |record: &Record| {
            let event = &record.event;
            matches!(
                event,
                AgentEvent::PermissionRequested { .. } | AgentEvent::QuestionAsked { .. }
            )
        };
        let approval_wait = match records.iter().any(asks) {
            true => self.seconds(SettingKey::ApprovalTimeoutSeconds).await?,
            false => SignedDuration::ZERO,
        };
        let is_money_limited = records
            .iter()
            .any(|record| matches!(record.event, AgentEvent::TurnEnded { .. }))
            && self.app.is_money_limited(work).await?;
        let about = Telling {
            session: &work.session,
            home: &home,
            ids: self.app.ids.as_ref(),
            approval_wait,
            turn: begun.as_ref(),
            has_conversation: work.conversation.is_some(),
            prices: self.app.agents.prices(),
            is_money_limited,
        };
        let mut facts = Vec::new();
        for record in records.iter().filter(|record| record.seq > stored) {
            self.story.tell(record, &about, &mut facts);
        }
        let mut notes = Vec::new();
        for fact in &mut facts {
            match fact {
                RunFact::TurnStarted { commit_before, .. } => {
                    *commit_before = self.commit_before.take();
                    self.given = None;
                }
                RunFact::TurnEnded {
                    turn, commit_after, ..
                } => {
                    // Must run before `session_commit`, which fetches the index of a private clone.
                    let text = self.app.embedded_disable(&work.session).await;
                    notes.extend(text.map(|text| self.note_of(Some(*turn), text)));
                    *commit_after = self.app.session_commit(&work.session).await;
                    self.app.uncommitted_keep(&work.session, *turn).await;
                }
                _ => {}
            }
        }
        let ending = |fact: &RunFact| matches!(fact, RunFact::TurnEnded { .. });
        let at = facts.iter().position(ending).unwrap_or(facts.len());
        facts.splice(at..at, notes);
        Ok(facts)
    }

    /// Returns the turn that begins in these records.
    async fn begun_in(&self, records: &[Record]) -> Result<Option<Turn>> {
        let command = records.iter().rev().find_map(|record| match &record.event {
            AgentEvent::TurnStarted { command } => Some(command),
            _ => None,
        });
        let id = command.and_then(|command| Uuid::try_parse(command).ok());
        match id {
            Some(id) => Ok(self
                .app
                .store
                .turn_by_id(TurnId::from_untyped_uuid(id))
                .await?),
            None => Ok(None),
        }
    }

    /// Stores something that the server itself says.
    pub(super) async fn say(&mut self, session: &Session, facts: Vec<RunFact>) -> Result<()> {
        let step = RunStep {
            session: session.id,
            epoch: session.epoch,
            after: 0,
            through: 0,
            at: self.app.clock.now(),
            facts,
        };
        match self.app.store.run_apply(step).await {
            // Somebody was faster: look again.
            Err(StoreError::Stale { .. }) => Ok(()),
            stored => {
                self.wake_parent(&stored?);
                self.app.count_wanted.notify_one();
                Ok(())
            }
        }
    }

    /// Has the parent looked at: it may have to be told.
    fn wake_parent(&self, session: &Session) {
        if let Some(parent) = session.parent {
            self.app.wake(parent);
        }
    }

    /// Returns a setting in seconds.
    pub(super) async fn seconds(&self, key: SettingKey) -> Result<SignedDuration> {
        let value = self.app.setting(key).await?.value;
        let seconds = value.0.unwrap_or(i64::from(u32::MAX));
        Ok(SignedDuration::from_secs(seconds))
    }
}

/// Tells whether a fact changes what is to be done. The start of a turn does when the turn may take only so long, or is to end.
fn is_weighty(fact: &RunFact, is_limited: bool) -> bool {
    match fact {
        RunFact::Message { .. }
        | RunFact::Introduced(_)
        | RunFact::Delivered(_)
        | RunFact::StillOpen { .. } => false,
        RunFact::TurnStarted { .. } => is_limited,
        _ => true,
    }
}
