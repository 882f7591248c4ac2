//! What a keeper does: compares what is recorded with the session's process, and takes the next step.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use wh_domain::{
    IdRef, MessageKind, Reach, Run, Session, SessionState, SettingKey, ToolsLink, Turn, TurnId,
};
use wh_runner::{
    link::{self, Action, LinkError, Outcome},
    process,
};
use wh_store::{RunFact, SessionWork};

use super::{
    keeper::{Keeper, Look},
    launch::{Started, TOKEN_LIFE},
    link::{Attach, Link, left_behind},
    story::{STOPPED, Story, new_message},
};
use crate::Result;

/// How long a runner may take to listen.
const ATTACH_WITHIN: Duration = Duration::from_secs(10);

/// How often a keeper looks though nothing woke it: whether the directory is there, whether the process is.
const LOOK_EVERY: SignedDuration = SignedDuration::from_secs(5);

/// How often a live run's token is renewed.
const RENEW_EVERY: SignedDuration = SignedDuration::from_hours(1);

/// An agent that should have called our tools by then is reported.
const TOOLS_WITHIN: SignedDuration = SignedDuration::from_secs(30);

/// How long after its time a stop that the runner does not carry out is carried out for it.
const STOP_PATIENCE: SignedDuration = SignedDuration::from_secs(5);

impl Keeper {
    /// Looks at the session and does the next thing about it.
    pub(super) async fn look(&mut self) -> Result<Look> {
        self.known = None;
        let Some(work) = self.app.store.work_get(self.session).await? else {
            return Ok(Look::Done);
        };
        let look = self.act_on(&work).await?;
        if matches!(look, Look::Rest(_)) {
            self.known = Some(work);
        }
        Ok(look)
    }

    async fn act_on(&mut self, work: &SessionWork) -> Result<Look> {
        match work.run.clone().filter(|run| run.ended_at.is_none()) {
            Some(run) => match &self.link {
                Some(link) if link.epoch == run.epoch => self.tend(work, &run).await,
                _ => self.connect(work, &run).await,
            },
            None => {
                self.link = None;
                self.without_process(work).await
            }
        }
    }

    /// There is no process: starts one if that is wanted.
    async fn without_process(&mut self, work: &SessionWork) -> Result<Look> {
        let session = &work.session;
        if let Some(turn) = unwanted(work) {
            self.withdraw(work, turn).await?;
            return Ok(Look::Again);
        }
        match (&session.state, &work.next) {
            (SessionState::Stopping { .. }, _) => {
                self.gone(work, None, None).await?;
                Ok(Look::Again)
            }
            // No state may claim a process that is not there.
            (SessionState::Running { .. } | SessionState::Waiting { .. }, _) => {
                let ending = "the process that held the agent is gone".to_owned();
                self.gone(work, Some(ending), None).await?;
                Ok(Look::Again)
            }
            (SessionState::Creating, _) => self.start(work).await,
            (SessionState::Idle | SessionState::Reviewing { .. }, Some(turn)) => {
                if let Some(reason) = self.app.spent(work).await? {
                    self.drop_turn(work, turn, reason).await?;
                    return Ok(Look::Again);
                }
                self.start(work).await
            }
            (SessionState::Idle, None) if work.has_news && self.tell_news().await? => {
                Ok(Look::Again)
            }
            _ => Ok(Look::Done),
        }
    }

    async fn start(&mut self, work: &SessionWork) -> Result<Look> {
        match self.app.run_start(work).await {
            Ok(Started::Yes {
                epoch,
                runner,
                notice,
            }) => {
                self.spawned = Some((epoch, runner));
                self.story = Story::new(epoch, None);
                self.sent.clear();
                self.idle_since = None;
                self.renewed_at = Some(self.app.clock.now());
                if let Some(notice) = notice {
                    let session = Session {
                        epoch,
                        ..work.session.clone()
                    };
                    self.say(&session, vec![self.note(work, notice)]).await?;
                }
                Ok(Look::Again)
            }
            Ok(Started::NotBefore(at)) => Ok(Look::Rest(at)),
            Err(error) => {
                let reason = error.in_words();
                let failed = work.conversation.is_none().then(|| reason.clone());
                if let Some(turn) = work.next.as_ref().filter(|_| failed.is_none()) {
                    self.drop_turn(work, turn, reason.clone()).await?;
                }
                // A run that was recorded and not started ends with this too.
                let now = self.app.store.work_get(self.session).await?;
                self.gone(now.as_ref().unwrap_or(work), Some(reason), failed)
                    .await?;
                Ok(Look::Again)
            }
        }
    }

    /// Takes a run up that was started a moment ago, or by an earlier life of the server.
    async fn connect(&mut self, work: &SessionWork, run: &Run) -> Result<Look> {
        let dir = self.app.run_dir(run);
        if dir.read_spec().is_err() {
            // The server ended between recording the run and starting it.
            return match work.session.state {
                SessionState::Creating | SessionState::Idle => self.start(work).await,
                _ => {
                    // Or somebody took the directory away, and the runner is about to notice.
                    self.sweep(run).await;
                    let ending = "it was never started".to_owned();
                    self.gone(work, Some(ending), None).await?;
                    Ok(Look::Again)
                }
            };
        }
        let spawned = self.spawned.filter(|(epoch, _)| *epoch == run.epoch);
        let runner = link::read_runner(&dir).or(spawned.map(|(_, mark)| mark));
        let attach = Attach {
            epoch: run.epoch,
            after: run.journal_seq,
            within: ATTACH_WITHIN,
            runner,
        };
        match Link::open(&dir, attach).await {
            Ok(mut link) => {
                self.story = Story::new(run.epoch, work.running.as_ref().map(|turn| turn.id));
                self.sent.clear();
                self.given = None;
                let requests = link.take_open_requests();
                self.link = Some(link);
                if !requests.is_empty() {
                    let still_open = RunFact::StillOpen { requests };
                    self.say(&work.session, vec![still_open]).await?;
                }
                Ok(Look::Again)
            }
            Err(error) if link::read_runner(&dir).is_some_and(|mark| mark.is_alive()) => {
                if let SessionState::Stopping { kill_at } = work.session.state
                    && self.app.clock.now() > kill_at + STOP_PATIENCE
                {
                    self.kill(run);
                }
                tracing::warn!(session = %self.session, %error, "a run lives and does not answer; trying again");
                self.tick()
            }
            Err(error) => {
                // What it said until its end is in its journal.
                let stored = loop {
                    let stored = self.app.store.work_get(self.session).await?;
                    let stored = stored.and_then(|work| work.run);
                    let Some(stored) = stored.filter(|it| it.ended_at.is_none()) else {
                        return Ok(Look::Again);
                    };
                    let records = left_behind(&dir, stored.journal_seq).unwrap_or_default();
                    if records.is_empty() {
                        break stored;
                    }
                    self.store_records(&records).await?;
                };
                self.sweep(run).await;
                if self.is_stillborn(work, &stored) {
                    return self.start(work).await;
                }
                let ending = if self.home_is_gone(work).await {
                    "workspace_missing: the directory the agent works in is gone"
                } else if never_spoke(&stored) && matches!(error, LinkError::Ended) {
                    "the process that was to hold the agent ended before it said anything"
                } else {
                    "the process that held the agent is gone"
                };
                self.gone(work, Some(ending.to_owned()), None).await?;
                self.app.run_forget(run).await;
                Ok(Look::Again)
            }
        }
    }

    /// Tells whether an earlier life of the server ended while it was starting the run: its process never said anything, so
    /// nothing is lost by starting another.
    fn is_stillborn(&self, work: &SessionWork, run: &Run) -> bool {
        let is_waiting = matches!(
            work.session.state,
            SessionState::Creating | SessionState::Idle
        );
        is_waiting && never_spoke(run) && run.started_at < self.app.started_at
    }

    /// There is a process and we are connected to it.
    async fn tend(&mut self, work: &SessionWork, run: &Run) -> Result<Look> {
        let now = self.app.clock.now();
        let mut until = now + LOOK_EVERY;
        if let SessionState::Stopping { kill_at } = work.session.state {
            if now > kill_at + STOP_PATIENCE {
                self.kill(run);
            }
            self.tell(format!("stop-{}", run.epoch), Action::Stop)
                .await?;
            return Ok(Look::Rest(until));
        }
        if self
            .renewed_at
            .is_none_or(|at| now.duration_since(at) > RENEW_EVERY)
        {
            self.app.store.run_renew(run.key, now + TOKEN_LIFE).await?;
            self.renewed_at = Some(now);
        }
        if self.home_is_gone(work).await {
            // Nothing may run on in another directory.
            self.kill(run);
            self.link = None;
            return Ok(Look::Again);
        }
        if let Some(turn) = unwanted(work) {
            // An agent that has it says so in a moment, and is told to end it then.
            if self.may_have(turn, run).await {
                return Ok(Look::Rest(until));
            }
            self.withdraw(work, turn).await?;
            return Ok(Look::Again);
        }
        if run.ready_at.is_none() {
            return Ok(Look::Rest(until));
        }
        if self.settle_approvals(work, now, &mut until).await? {
            return Ok(Look::Again);
        }
        let is_free = matches!(
            work.session.state,
            SessionState::Idle | SessionState::Reviewing { .. }
        );
        if work.running.is_none()
            && is_free
            && self.given.is_none()
            && self.has_other_model(work, run)
        {
            // The next run is started with the model that is wanted now.
            self.tell(format!("rest-{}", run.epoch), Action::Stop)
                .await?;
            return Ok(Look::Rest(until));
        }
        // A prompt comes first: somebody waits for it.
        if let (None, Some(turn), true) = (&work.running, &work.next, is_free) {
            return self.hand_over(work, turn, until).await;
        }
        self.check_tools(work, run, now).await?;
        match (&work.running, &work.next, &work.session.state) {
            (Some(turn), ..) => self.tend_turn(work, turn, now, &mut until).await?,
            (None, None, SessionState::Idle) if work.has_news && self.tell_news().await? => {
                return Ok(Look::Again);
            }
            (None, None, SessionState::Idle) => {
                return self.rest_or_put_away(run, now, until).await;
            }
            _ => {}
        }
        Ok(Look::Rest(until))
    }

    /// Returns whether the run was started with another model than the one that is wanted now.
    fn has_other_model(&mut self, work: &SessionWork, run: &Run) -> bool {
        if self
            .run_model
            .as_ref()
            .is_none_or(|(epoch, _)| *epoch != run.epoch)
        {
            let Ok(spec) = self.app.run_dir(run).read_spec() else {
                return false;
            };
            self.run_model = Some((run.epoch, spec.quirks.initial_model));
        }
        let wanted = work.session.model.as_ref().map(ToString::to_string);
        self.run_model
            .as_ref()
            .is_some_and(|(_, model)| *model != wanted)
    }

    /// Nothing to do: after a while the process is put away. The next prompt brings it back.
    async fn rest_or_put_away(
        &mut self,
        run: &Run,
        now: Timestamp,
        until: Timestamp,
    ) -> Result<Look> {
        let since = *self.idle_since.get_or_insert(now);
        let put_away_at = since + self.seconds(SettingKey::SessionIdleSeconds).await?;
        if now >= put_away_at {
            self.tell(format!("rest-{}", run.epoch), Action::Stop)
                .await?;
            return Ok(Look::Rest(until));
        }
        Ok(Look::Rest(until.min(put_away_at)))
    }

    /// Notices when the agent has reached our tools, and when it should have and has not.
    async fn check_tools(&mut self, work: &SessionWork, run: &Run, now: Timestamp) -> Result<()> {
        if run.tools == ToolsLink::Connected {
            return Ok(());
        }
        let id = IdRef::Whole(newtype_uuid::GenericUuid::into_untyped_uuid(run.key));
        let key = self.app.store.key_find(Reach::All, &id).await?.pop();
        let is_used = key.is_some_and(|key| key.last_used_at.is_some());
        let is_due = run.ready_at.is_some_and(|at| now > at + TOOLS_WITHIN);
        let (link, text) = match (run.tools, is_used) {
            (ToolsLink::Broken, true) => (
                ToolsLink::Connected,
                Some("the agent has connected to Wheelhouse's tools after all"),
            ),
            (_, true) => (ToolsLink::Connected, None),
            (ToolsLink::Unused, false) if is_due && self.connects_at_start(work) => (
                ToolsLink::Broken,
                Some(
                    "the agent has not connected to Wheelhouse's tools: its MCP connection is broken",
                ),
            ),
            _ => return Ok(()),
        };
        let mut facts = vec![RunFact::Tools(link)];
        facts.extend(text.map(|text| self.note(work, text.to_owned())));
        self.say(&work.session, facts).await
    }

    fn connects_at_start(&self, work: &SessionWork) -> bool {
        let launch = self.app.agents.launch(&work.session.agent);
        launch.is_ok_and(|launch| launch.connects_at_start)
    }

    /// Ends whatever a run that does not answer any more has left.
    async fn sweep(&self, run: &Run) {
        let tag = process::tag_of(run.session, run.epoch);
        // The directory of the run, which names the cgroup, may be gone.
        let spec = self.app.run_dir(run).read_spec();
        let named = spec.ok().and_then(|spec| spec.resources.cgroup);
        let cgroups = self.app.runs.cgroups.as_ref();
        let cgroup = named.or_else(|| cgroups.map(|it| it.run_dir(&tag)));
        let swept =
            tokio::task::spawn_blocking(move || process::sweep(&tag, cgroup.as_deref())).await;
        tracing::info!(session = %self.session, ?swept, "a run's own process is gone");
    }

    async fn home_is_gone(&self, work: &SessionWork) -> bool {
        match self.app.session_place(&work.session).await {
            Ok(home) => !home.is_dir(),
            Err(_) => false,
        }
    }

    /// Ends the runner itself: the kernel takes the agent's tree with it.
    pub(super) fn kill(&self, run: &Run) {
        if let Some(runner) = link::read_runner(&self.app.run_dir(run)) {
            tracing::warn!(session = %self.session, "the runner is killed, and the agent with it");
            runner.kill();
        }
    }

    /// Tells whether the agent may have been given a turn of which nothing is stored yet.
    async fn may_have(&mut self, turn: &Turn, run: &Run) -> bool {
        if run.ready_at.is_none() {
            return false;
        }
        let Some(link) = self.link.as_mut().filter(|_| self.given.is_none()) else {
            return true;
        };
        // Another life of the server may have handed it over.
        let question = format!("status-{}", self.app.ids.next());
        match link.command(&question, Action::Status).await {
            Ok(Outcome::Status(status)) => {
                status.turn == Some(turn.id.to_string()) || status.newest > run.journal_seq
            }
            _ => true,
        }
    }

    /// Has the run do something once. Returns what came of it, or nothing if it was told before.
    pub(super) async fn tell(&mut self, id: String, action: Action) -> Result<Option<Outcome>> {
        let Some(link) = self.link.as_mut().filter(|_| !self.sent.contains(&id)) else {
            return Ok(None);
        };
        match link.command(&id, action).await {
            Ok(outcome) => {
                self.sent.push(id);
                Ok(Some(outcome))
            }
            Err(error) => {
                tracing::debug!(session = %self.session, %error, "a command did not reach the run");
                self.link = None;
                Ok(None)
            }
        }
    }

    pub(super) fn note(&self, work: &SessionWork, text: String) -> RunFact {
        self.note_of(work.running.as_ref().map(|turn| turn.id), text)
    }

    /// The same about this turn.
    pub(super) fn note_of(&self, turn: Option<TurnId>, text: String) -> RunFact {
        let now = self.app.clock.now();
        RunFact::Message {
            reference: None,
            message: new_message(self.app.ids.as_ref(), turn, MessageKind::System, text, now),
        }
    }

    /// Records that there is no process: because it was asked to end, or for the reason given.
    pub(super) async fn gone(
        &mut self,
        work: &SessionWork,
        why: Option<String>,
        failed: Option<String>,
    ) -> Result<()> {
        let mut facts = Vec::new();
        facts.extend(why.clone().map(|why| self.note(work, why)));
        let disabled = self.app.embedded_disable(&work.session).await;
        facts.extend(disabled.map(|text| self.note(work, text)));
        let ending = why.unwrap_or_else(|| STOPPED.to_owned());
        facts.push(RunFact::Gone { ending, failed });
        self.app.context_remove(&work.session).await;
        self.app.project_config_release(&work.session);
        self.link = None;
        self.say(&work.session, facts).await
    }

    fn tick(&self) -> Result<Look> {
        Ok(Look::Rest(self.app.clock.now() + LOOK_EVERY))
    }
}

/// Tells whether nothing was ever heard of a run's process.
fn never_spoke(run: &Run) -> bool {
    run.journal_seq == 0 && run.ready_at.is_none()
}

/// Returns the turn that is next, if it is to end before it begins.
fn unwanted(work: &SessionWork) -> Option<&Turn> {
    let next = work.next.as_ref().filter(|_| work.running.is_none());
    next.filter(|turn| turn.cancel_requested)
}
