//! What a keeper does: compares what is recorded with the session's process, and takes the next step.

use std::time::Duration;

use jiff::{SignedDuration, Timestamp};
use newtype_uuid::GenericUuid;
use wh_domain::{
    Approval, ApprovalKind, ApprovalState, Budget, IdRef, MessageKind, Reach, Run, SessionState,
    SettingKey, Settlement, ToolsLink, Turn, TurnId, TurnState, Usage,
};
use wh_runner::{
    event::PermissionKind,
    link::{self, Action, Outcome},
    process,
};
use wh_store::{RunFact, SessionWork};

use super::{
    keeper::{Keeper, Look},
    launch::{Started, TOKEN_LIFE, in_words},
    link::{Link, left_behind},
    story::{Story, new_message},
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
        match (&session.state, &work.next) {
            (SessionState::Stopping { .. }, _) => {
                self.gone(work, "stopped".to_owned(), None).await?;
                Ok(Look::Again)
            }
            // No state may claim a process that is not there.
            (SessionState::Running { .. } | SessionState::Waiting { .. }, _) => {
                let ending = "the process that held the agent is gone".to_owned();
                self.gone(work, ending, None).await?;
                Ok(Look::Again)
            }
            (SessionState::Creating, _) => self.start(work).await,
            (SessionState::Idle | SessionState::Reviewing { .. }, Some(turn)) => {
                if let Some(reason) = spent(work) {
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
            Ok(Started::Yes { epoch }) => {
                self.story = Story::new(epoch, None);
                self.sent.clear();
                self.idle_since = None;
                self.renewed_at = Some(self.app.clock.now());
                Ok(Look::Again)
            }
            Ok(Started::NotBefore(at)) => Ok(Look::Rest(at)),
            Err(error) => {
                let reason = in_words(&error);
                let failed = work.conversation.is_none().then(|| reason.clone());
                if let Some(turn) = work.next.as_ref().filter(|_| failed.is_none()) {
                    self.drop_turn(work, turn, reason.clone()).await?;
                }
                // A run that was recorded and not started ends with this too.
                let now = self.app.store.work_get(self.session).await?;
                self.gone(now.as_ref().unwrap_or(work), reason, failed)
                    .await?;
                Ok(Look::Again)
            }
        }
    }

    /// Takes a run up that was started a moment ago, or by an earlier life of the server.
    async fn connect(&mut self, work: &SessionWork, run: &Run) -> Result<Look> {
        let dir = self.app.run_dir(run);
        let Ok(spec) = dir.read_spec() else {
            // The server ended between recording the run and starting it.
            return match work.session.state {
                SessionState::Creating | SessionState::Idle => self.start(work).await,
                _ => {
                    let ending = "it was never started".to_owned();
                    self.gone(work, ending, None).await?;
                    Ok(Look::Again)
                }
            };
        };
        let runner = link::read_runner(&dir);
        let is_dead = runner.is_some_and(|mark| !mark.is_alive());
        let patience = if is_dead {
            Duration::ZERO
        } else {
            ATTACH_WITHIN
        };
        match Link::open(&dir, run.epoch, run.journal_seq, patience).await {
            Ok(link) => {
                self.story = Story::new(run.epoch, work.running.as_ref().map(|turn| turn.id));
                self.sent.clear();
                self.given = None;
                self.link = Some(link);
                Ok(Look::Again)
            }
            Err(error) if link::read_runner(&dir).is_some_and(|mark| mark.is_alive()) => {
                tracing::warn!(session = %self.session, %error, "a run lives and does not answer; trying again");
                self.tick()
            }
            Err(_) => {
                // What it said until its end is in its journal.
                loop {
                    let stored = self.app.store.work_get(self.session).await?;
                    let stored = stored.and_then(|work| work.run);
                    let Some(stored) = stored.filter(|it| it.ended_at.is_none()) else {
                        return Ok(Look::Again);
                    };
                    let records = left_behind(&dir, stored.journal_seq).unwrap_or_default();
                    if records.is_empty() {
                        break;
                    }
                    self.store_records(&records).await?;
                }
                let tag = process::run_tag(&spec);
                let swept = tokio::task::spawn_blocking(move || process::sweep(&tag)).await;
                tracing::info!(session = %self.session, ?swept, "a run's own process is gone");
                let ending = match self.home_is_gone(work).await {
                    true => "workspace_missing: the directory the agent works in is gone",
                    false => "the process that held the agent is gone",
                };
                self.gone(work, ending.to_owned(), None).await?;
                self.app.run_forget(run).await;
                Ok(Look::Again)
            }
        }
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
        if run.ready_at.is_none() {
            return Ok(Look::Rest(until));
        }
        if self.settle_approvals(work, now, &mut until).await? {
            return Ok(Look::Again);
        }
        self.check_tools(work, run, now).await?;
        match (&work.running, &work.next, &work.session.state) {
            (Some(turn), ..) => self.tend_turn(work, turn, now, &mut until).await?,
            (None, Some(turn), SessionState::Idle | SessionState::Reviewing { .. }) => {
                return self.hand_over(work, turn, until).await;
            }
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

    /// Tells the session about its children: queues a prompt, which then goes the way of every prompt.
    async fn tell_news(&self) -> Result<bool> {
        let turn = TurnId::from_untyped_uuid(self.app.ids.next());
        let now = self.app.clock.now();
        Ok(self.app.store.news_tell(self.session, turn, now).await?)
    }

    /// Hands the next prompt to the agent. That it has it is recorded when it says so; if we end in between, the next life
    /// hands it over again, and the run takes it once.
    async fn hand_over(
        &mut self,
        work: &SessionWork,
        turn: &Turn,
        until: Timestamp,
    ) -> Result<Look> {
        self.idle_since = None;
        if let Some(reason) = spent(work) {
            self.drop_turn(work, turn, reason).await?;
            return Ok(Look::Again);
        }
        if self.given.is_some_and(|given| given != turn.id) {
            // One at a time: that one is about to be heard of.
            return Ok(Look::Rest(until));
        }
        if !self.sent.contains(&turn.id.to_string()) {
            self.sent.clear();
            self.commit_before = self.app.session_commit(&work.session).await;
        }
        match self.give(work, turn).await? {
            Some(Outcome::Refused { message, .. }) => {
                self.drop_turn(work, turn, message).await?;
                Ok(Look::Again)
            }
            Some(_) => {
                self.given = Some(turn.id);
                Ok(Look::Rest(until))
            }
            None => Ok(Look::Rest(until)),
        }
    }

    /// Gives a prompt to the run, which takes it once.
    async fn give(&mut self, work: &SessionWork, turn: &Turn) -> Result<Option<Outcome>> {
        let id = turn.id.to_string();
        if self.sent.contains(&id) {
            return Ok(None);
        }
        let text = self.app.text_for_agent(&work.session, turn).await?;
        self.tell(id, Action::Prompt { text }).await
    }

    /// A turn runs: makes sure the agent has it, and ends it when that is wanted or due.
    async fn tend_turn(
        &mut self,
        work: &SessionWork,
        turn: &Turn,
        now: Timestamp,
        until: &mut Timestamp,
    ) -> Result<()> {
        let handed = self.give(work, turn).await?;
        if let Some(Outcome::Refused { message, .. }) = handed {
            let ended = RunFact::TurnEnded {
                turn: turn.id,
                state: TurnState::Failed,
                reason: Some(message),
                commit_after: None,
                usage: Usage::default(),
            };
            return self.say(&work.session, vec![ended]).await;
        }
        self.notice_silence(work, turn, now).await?;
        let reason = match spent_meanwhile(work, now, until) {
            Some(reason) => Some(reason),
            None if turn.cancel_requested || is_overtaken(work, turn) => None,
            None => return Ok(()),
        };
        let told = self
            .tell(format!("cancel-{}", turn.id), Action::Cancel)
            .await?;
        if let (Some(_), Some(reason)) = (told, reason) {
            let note = self.note(work, format!("the turn is ended: {reason}"));
            self.say(&work.session, vec![note]).await?;
        }
        Ok(())
    }

    /// Reports an agent that is at work and has said nothing for long: being alive is not progress.
    async fn notice_silence(
        &mut self,
        work: &SessionWork,
        turn: &Turn,
        now: Timestamp,
    ) -> Result<()> {
        let id = format!("silent-{}", turn.id);
        if matches!(work.session.state, SessionState::Waiting { .. }) || self.sent.contains(&id) {
            return Ok(());
        }
        let limit = self.seconds(SettingKey::SessionSilentSeconds).await?;
        if now.duration_since(self.heard_at) < limit {
            return Ok(());
        }
        self.sent.push(id);
        let silent = limit.as_secs();
        let text = format!(
            "the agent has said nothing for {silent} s and may be stuck; interrupt it or wait"
        );
        let note = self.note(work, text);
        self.say(&work.session, vec![note]).await
    }

    /// Tells the agent what was decided, and decides what nobody did in time.
    async fn settle_approvals(
        &mut self,
        work: &SessionWork,
        now: Timestamp,
        until: &mut Timestamp,
    ) -> Result<bool> {
        let mut facts = Vec::new();
        for approval in &work.approvals {
            if approval.state != ApprovalState::Pending {
                let id = format!("answer-{}", approval.id);
                self.tell(id, answer_of(approval)).await?;
                facts.push(RunFact::Told(approval.id));
                continue;
            }
            match approval.expires_at {
                Some(at) if at <= now => {
                    let settlement = Settlement {
                        state: ApprovalState::TimedOut,
                        answer: Some("nobody answered in time".to_owned()),
                        always: false,
                        by: None,
                    };
                    let request = approval.request.clone();
                    let text = format!("nobody answered in time, which denies: {}", approval.text);
                    facts.push(self.note(work, text));
                    facts.push(RunFact::Settled {
                        request,
                        settlement,
                    });
                }
                Some(at) => *until = (*until).min(at),
                None => {}
            }
        }
        let settled = !facts.is_empty();
        if settled {
            self.say(&work.session, facts).await?;
        }
        Ok(settled)
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

    async fn home_is_gone(&self, work: &SessionWork) -> bool {
        match self.app.session_place(&work.session).await {
            Ok(home) => !home.is_dir(),
            Err(_) => false,
        }
    }

    /// Ends the runner itself: the kernel takes the agent's tree with it.
    fn kill(&self, run: &Run) {
        if let Some(runner) = link::read_runner(&self.app.run_dir(run)) {
            tracing::warn!(session = %self.session, "the runner is killed, and the agent with it");
            runner.kill();
        }
    }

    /// Has the run do something once. Returns what came of it, or nothing if it was told before.
    async fn tell(&mut self, id: String, action: Action) -> Result<Option<Outcome>> {
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

    fn note(&self, work: &SessionWork, text: String) -> RunFact {
        let turn = work.running.as_ref().map(|turn| turn.id);
        let now = self.app.clock.now();
        RunFact::Message {
            reference: None,
            message: new_message(self.app.ids.as_ref(), turn, MessageKind::System, text, now),
        }
    }

    async fn drop_turn(&mut self, work: &SessionWork, turn: &Turn, reason: String) -> Result<()> {
        let note = self.note(work, format!("the prompt was not run: {reason}"));
        let ended = RunFact::TurnEnded {
            turn: turn.id,
            state: TurnState::Failed,
            reason: Some(reason),
            commit_after: None,
            usage: Usage::default(),
        };
        self.say(&work.session, vec![note, ended]).await
    }

    /// Records that there is no process.
    async fn gone(
        &mut self,
        work: &SessionWork,
        ending: String,
        failed: Option<String>,
    ) -> Result<()> {
        let mut facts = Vec::new();
        if ending != "stopped" {
            facts.push(self.note(work, ending.clone()));
        }
        facts.push(RunFact::Gone { ending, failed });
        self.link = None;
        self.say(&work.session, facts).await
    }

    fn tick(&self) -> Result<Look> {
        Ok(Look::Rest(self.app.clock.now() + LOOK_EVERY))
    }
}

/// Tells whether a prompt waits that is to end this turn.
fn is_overtaken(work: &SessionWork, turn: &Turn) -> bool {
    let urgent = work.next.as_ref().is_some_and(|next| next.urgent);
    urgent && !turn.urgent
}

/// Turns a settlement into what the run is told.
fn answer_of(approval: &Approval) -> Action {
    let allowed = approval.state == ApprovalState::Allowed;
    if approval.kind == ApprovalKind::Question {
        return Action::AnswerQuestion {
            question: approval.request.clone(),
            answer: approval.answer.clone().filter(|_| allowed),
        };
    }
    let kind = match (allowed, approval.always) {
        (true, true) => PermissionKind::AllowAlways,
        (true, false) => PermissionKind::AllowOnce,
        (false, true) => PermissionKind::RejectAlways,
        (false, false) => PermissionKind::RejectOnce,
    };
    Action::AnswerPermission {
        permission: approval.request.clone(),
        kind,
    }
}

/// Says which part of the budget is used up.
fn spent(work: &SessionWork) -> Option<String> {
    budget_words(work.budget_left)
}

fn budget_words(left: Budget) -> Option<String> {
    let spent = left.used_up()?;
    Some(format!("the session's budget of {spent} is used up"))
}

/// Says which part of the budget was used up during the turn; the count of turns is looked at between them.
fn spent_meanwhile(work: &SessionWork, now: Timestamp, until: &mut Timestamp) -> Option<String> {
    let mut left = work.budget_left;
    left.turns = None;
    if let (
        Some(seconds),
        SessionState::Running { since, .. } | SessionState::Waiting { since, .. },
    ) = (left.wall_seconds, &work.session.state)
    {
        let seconds = i64::try_from(seconds).unwrap_or(i64::MAX / 2_000_000);
        let end = since.checked_add(SignedDuration::from_secs(seconds));
        let end = end.unwrap_or(Timestamp::MAX);
        *until = (*until).min(end);
        left.wall_seconds = (end <= now).then_some(0);
    }
    budget_words(left)
}
