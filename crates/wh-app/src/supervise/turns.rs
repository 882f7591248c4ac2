//! Starts and ends turns of a session.

use jiff::{SignedDuration, Timestamp};
use newtype_uuid::GenericUuid;
use wh_domain::{
    SessionState, SettingKey, Turn, TurnId, TurnState, Usage, reasons_not_quoted, reasons_prompt,
};
use wh_runner::link::{Action, Outcome};
use wh_store::{RunFact, SessionWork};

use super::{
    files::Unlaid,
    keeper::{Keeper, Look},
};
use crate::Result;

/// What came of giving a prompt to a run.
enum Given {
    Now,
    /// It has it already, or cannot be reached at the moment.
    NotNow,
    Refused(String),
}

impl Keeper {
    /// Tells the session about its children: queues a prompt, which then goes the way of every prompt.
    pub(super) async fn tell_news(&self) -> Result<bool> {
        let turn = TurnId::from_untyped_uuid(self.app.ids.next());
        let now = self.app.clock.now();
        Ok(self.app.store.news_tell(self.session, turn, now).await?)
    }

    /// Hands the next prompt to the agent. That it has it is recorded when it says so; if we end in between, the next life
    /// hands it over again, and the run takes it once.
    pub(super) async fn hand_over(
        &mut self,
        work: &SessionWork,
        turn: &Turn,
        until: Timestamp,
    ) -> Result<Look> {
        self.idle_since = None;
        if let Some(reason) = self.app.spent(work).await? {
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
            Given::Refused(message) => {
                self.drop_turn(work, turn, message).await?;
                Ok(Look::Again)
            }
            Given::Now => {
                self.given = Some(turn.id);
                Ok(Look::Rest(until))
            }
            Given::NotNow => Ok(Look::Rest(until)),
        }
    }

    /// Gives a prompt to the run, which takes it once.
    async fn give(&mut self, work: &SessionWork, turn: &Turn) -> Result<Given> {
        let id = turn.id.to_string();
        if self.sent.contains(&id) {
            return Ok(Given::NotNow);
        }
        let mut text = self.app.text_for_agent(&work.session, turn).await?;
        let reasons = self.app.store.reasons_unread(self.session).await?;
        let reasons = reasons_not_quoted(reasons, &turn.prompt);
        if !reasons.is_empty() {
            text = format!("{}\n\n{text}", reasons_prompt(&reasons));
        }
        let files = match &work.run {
            Some(run) if !turn.files.is_empty() => match self.app.lay_out(run, turn).await? {
                Ok(files) => files,
                Err(Unlaid(why)) => return Ok(Given::Refused(why)),
            },
            _ => Vec::new(),
        };
        Ok(match self.tell(id, Action::Prompt { text, files }).await? {
            Some(Outcome::Refused { message, .. }) => Given::Refused(message),
            Some(_) => Given::Now,
            None => Given::NotNow,
        })
    }

    /// A turn runs: makes sure the agent has it, and ends it when that is wanted or due.
    pub(super) async fn tend_turn(
        &mut self,
        work: &SessionWork,
        turn: &Turn,
        now: Timestamp,
        until: &mut Timestamp,
    ) -> Result<()> {
        if let Given::Refused(message) = self.give(work, turn).await? {
            let ended = RunFact::TurnEnded {
                turn: turn.id,
                state: TurnState::Failed,
                reason: Some(message),
                commit_after: None,
                usage: Usage::default(),
                estimate_micros: 0,
            };
            return self.say(&work.session, vec![ended]).await;
        }
        self.notice_silence(work, turn, now).await?;
        let spent = match spent_meanwhile(work, now, until) {
            Some(reason) => Some(reason),
            None => {
                let spent = self.app.spent_today(work.session.owner.user).await?;
                spent.map(|reason| reason.to_string())
            }
        };
        let why = match spent {
            Some(reason) => format!("the turn is ended: {reason}"),
            None if is_overtaken(work, turn) => {
                "the turn was interrupted to run the next prompt".to_owned()
            }
            None if turn.cancel_requested => "the turn was interrupted".to_owned(),
            None => return Ok(()),
        };
        let told = self
            .tell(format!("cancel-{}", turn.id), Action::Cancel)
            .await?;
        if told.is_some_and(|outcome| !matches!(outcome, Outcome::Refused { .. })) {
            let note = self.note(work, why);
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

    /// Ends a prompt that nobody wants any more before it was handed over.
    pub(super) async fn withdraw(&mut self, work: &SessionWork, turn: &Turn) -> Result<()> {
        let ended = RunFact::TurnEnded {
            turn: turn.id,
            state: TurnState::Cancelled,
            reason: Some("it was withdrawn".to_owned()),
            commit_after: None,
            usage: Usage::default(),
            estimate_micros: 0,
        };
        self.say(&work.session, vec![ended]).await
    }

    /// Records that a prompt that waits will not be handed over.
    pub(super) async fn drop_turn(
        &mut self,
        work: &SessionWork,
        turn: &Turn,
        reason: String,
    ) -> Result<()> {
        let note = self.note(work, format!("the prompt was not run: {reason}"));
        let ended = RunFact::TurnEnded {
            turn: turn.id,
            state: TurnState::Failed,
            reason: Some(reason),
            commit_after: None,
            usage: Usage::default(),
            estimate_micros: 0,
        };
        self.say(&work.session, vec![note, ended]).await
    }
}

/// Tells whether a prompt waits that is to end this turn.
fn is_overtaken(work: &SessionWork, turn: &Turn) -> bool {
    let urgent = work.next.as_ref().is_some_and(|next| next.urgent);
    urgent && !turn.urgent
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
    left.spent_words()
}
