//! Prompts: said to a session, waited for, and taken back.

use std::time::Duration;

use newtype_uuid::GenericUuid;
use wh_domain::{
    Approval, EventKind, Facts, IdRef, MessageKind, NewEvent, NewTurn, Operation, PageLimit,
    PageRequest, Prompt, PromptFile, Reach, Reference, Session, SessionId, SessionState,
    SessionStateName, SettingKey, Turn, TurnId, TurnState, WhenBusy,
};
use wh_store::{Applied, QueueRules};

use crate::{
    App, AppError, OpContext, Resource, Result, SessionReason,
    board_share::refuse_steering,
    context::facts,
    lookup::{id_of, only_one},
    session_wait::{WAIT_MAX, Watch},
};

/// The most prompts that wait for one session.
pub(crate) const WAITING_MAX: u32 = 100;

/// What is said to a session.
#[derive(Clone, Debug)]
pub struct PromptInput {
    pub text: Prompt,
    pub files: Vec<PromptFile>,
    pub when_busy: WhenBusy,
}

/// What a prompt has come to so far.
#[derive(Clone, Debug)]
pub struct Prompted {
    pub session: Session,
    pub turn: Turn,
    /// The latest words of the agent in this turn.
    pub words: Option<String>,
    /// What the agent waits for.
    pub approvals: Vec<Approval>,
}

impl App {
    /// Sends a prompt to a session and, if asked to, waits until the turn is over or needs an answer.
    pub async fn session_prompt(
        &self,
        cx: &OpContext,
        session: &Reference,
        prompt: PromptInput,
        wait: Option<Duration>,
    ) -> Result<Prompted> {
        let when_busy = prompt.when_busy;
        let operation = Operation::SessionPrompt;
        let facts = facts([("session", session.as_str())]);
        // From before the prompt is there, so that nothing that comes of it is missed.
        let watch = wait.map(|wait| self.watch(wait.min(WAIT_MAX)));
        let turn = self
            .change(cx, operation, facts.clone(), async {
                let reach = cx.authorize(operation)?;
                let found = self.session_lookup(reach, session).await?;
                self.check_directs(cx, &found).await?;
                if when_busy == WhenBusy::Steer {
                    refuse_steering(cx, &found)?;
                }
                if let SessionState::Failed { reason } = &found.state {
                    let reason = reason.to_string();
                    return Err(SessionReason::Failed { reason }.into());
                }
                if found.archived {
                    return Err(SessionReason::Archived.into());
                }
                self.refuse_disabled_owner(cx, found.owner).await?;
                if found.budget_left().is_spent() {
                    let by_agent = cx.principal.credential.session().is_some();
                    return Err(SessionReason::BudgetSpent { by_agent }.into());
                }
                self.refuse_spent_day(found.owner.user).await?;
                let urgent = when_busy == WhenBusy::Steer;
                let turn = NewTurn {
                    files: prompt.files,
                    ..self.new_turn(cx, found.id, &prompt.text, urgent)
                };
                let rules = QueueRules {
                    waiting_max: WAITING_MAX,
                    only_if_free: when_busy == WhenBusy::Reject,
                    per_minute_max: self.limit(SettingKey::SessionPromptsPerMinuteMax).await?,
                };
                let events = vec![turn_event(cx, &found, turn.id)];
                let commit = cx.commit(operation, turn.id.into(), facts, events);
                let id = match self.store.turn_queue(&turn, rules, commit).await? {
                    Applied::Done { .. } => turn.id,
                    Applied::Replayed { subject } => TurnId::from_untyped_uuid(subject.id),
                };
                self.wake(found.id);
                Ok(id)
            })
            .await?;
        self.outcome_of(turn, watch).await
    }

    /// Waits for a turn, if there is time for it, and returns what it has come to.
    pub(crate) async fn outcome_of(&self, turn: TurnId, watch: Option<Watch>) -> Result<Prompted> {
        if let Some(mut watch) = watch {
            while watch.next().await {
                let Some(found) = self.store.turn_by_id(turn).await? else {
                    break;
                };
                if self.is_at_rest(&found).await? {
                    return self.prompted(found).await;
                }
                watch.about(&[found.session]);
            }
        }
        let found = self.store.turn_by_id(turn).await?;
        self.prompted(found.ok_or_else(|| AppError::not_found(Resource::Turn))?)
            .await
    }

    /// Returns the turn that a session was begun with.
    pub(crate) async fn first_turn(&self, session: SessionId) -> Result<TurnId> {
        let page = PageRequest {
            after: Some(2),
            ..PageRequest::first(PageLimit::MAX)
        };
        let first = self.store.turn_list(Reach::All, session, page).await?;
        let first = first.items.first().map(|turn| turn.id);
        first.ok_or_else(|| AppError::not_found(Resource::Turn))
    }

    /// Ends the turn of a session that runs, or that is about to; the session stays.
    pub async fn session_interrupt(&self, cx: &OpContext, session: &Reference) -> Result<Session> {
        let operation = Operation::SessionInterrupt;
        let facts = facts([("session", session.as_str())]);
        self.change(cx, operation, facts.clone(), async {
            let reach = cx.authorize(operation)?;
            let found = self.session_lookup(reach, session).await?;
            self.check_directs(cx, &found).await?;
            let commit = cx.commit(operation, found.id.into(), facts, vec![]);
            let _applied = self.store.turn_cancel(found.id, commit).await?;
            self.wake(found.id);
            self.session_lookup(reach, &Reference::from(found.id)).await
        })
        .await
    }

    /// Returns what a turn has come to so far.
    pub async fn turn_outcome(&self, cx: &OpContext, turn: &Reference) -> Result<Prompted> {
        let operation = Operation::TurnGet;
        self.read(cx, operation, facts([("turn", turn.as_str())]), async {
            let reach = cx.authorize(operation)?;
            let found = self.store.turn_find(reach, &id_of(turn)?).await?;
            let turn = only_one(Resource::Turn, found, |turn| turn.id.to_string())?;
            self.prompted(turn).await
        })
        .await
    }

    /// Ends a turn: takes it out of the queue, or has the agent end it. One that is over stays as it is.
    pub async fn turn_cancel(&self, cx: &OpContext, turn: &Reference) -> Result<()> {
        let operation = Operation::SessionInterrupt;
        let facts = facts([("turn", turn.as_str())]);
        self.change(cx, operation, facts.clone(), async {
            let reach = cx.authorize(operation)?;
            let found = self.store.turn_find(reach, &id_of(turn)?).await?;
            let turn = only_one(Resource::Turn, found, |turn| turn.id.to_string())?;
            let session = Reference::from(turn.session);
            let session = self.session_lookup(reach, &session).await?;
            self.withdraw(cx, facts, &session, &turn).await
        })
        .await
    }

    /// Ends one turn of a session as [`Self::turn_cancel`] does, and returns the session.
    pub async fn session_turn_cancel(
        &self,
        cx: &OpContext,
        session: &Reference,
        turn: &Reference,
    ) -> Result<Session> {
        let operation = Operation::SessionInterrupt;
        let facts = facts([("session", session.as_str()), ("turn", turn.as_str())]);
        self.change(cx, operation, facts.clone(), async {
            let reach = cx.authorize(operation)?;
            let session = self.session_lookup(reach, session).await?;
            let turn = self.turn_of(reach, session.id, turn).await?;
            self.withdraw(cx, facts, &session, &turn).await?;
            self.session_lookup(reach, &Reference::from(session.id))
                .await
        })
        .await
    }

    async fn withdraw(
        &self,
        cx: &OpContext,
        facts: Facts,
        session: &Session,
        turn: &Turn,
    ) -> Result<()> {
        self.check_directs(cx, session).await?;
        let event = NewEvent {
            kind: EventKind::Updated,
            ..turn_event(cx, session, turn.id)
        };
        let commit = cx.commit(
            Operation::SessionInterrupt,
            turn.id.into(),
            facts,
            vec![event],
        );
        let _applied = self.store.turn_withdraw(turn.id, commit).await?;
        self.wake(session.id);
        Ok(())
    }

    /// Tells whether a turn is over or needs an answer.
    async fn is_at_rest(&self, turn: &Turn) -> Result<bool> {
        if turn.state != TurnState::Running {
            return Ok(turn.state.is_end());
        }
        let session = self.session_of(turn).await?;
        Ok(session.is_none_or(|it| it.state.name() == SessionStateName::Waiting))
    }

    async fn session_of(&self, turn: &Turn) -> Result<Option<Session>> {
        let whole = IdRef::Whole(turn.session.into_untyped_uuid());
        Ok(self.store.session_find(Reach::All, &whole).await?.pop())
    }

    /// Returns what a turn has come to so far.
    async fn prompted(&self, turn: Turn) -> Result<Prompted> {
        let latest = async {
            let words = MessageKind::Agent;
            let latest = self
                .store
                .message_latest(Reach::All, turn.session, words)
                .await;
            Ok(latest?)
        };
        let (session, latest) = tokio::try_join!(self.session_of(&turn), latest)?;
        let session = session.ok_or_else(|| AppError::not_found(Resource::Session))?;
        let approvals = match session.state {
            SessionState::Waiting { .. } => self.approvals_of(turn.session).await?,
            _ => Vec::new(),
        };
        let words = latest.filter(|message| message.turn == Some(turn.id));
        Ok(Prompted {
            words: words.map(|message| message.text),
            approvals,
            session,
            turn,
        })
    }

    /// Returns what a session waits for.
    async fn approvals_of(&self, session: SessionId) -> Result<Vec<Approval>> {
        let work = self.store.work_get(session).await?;
        let approvals = work.map(|work| work.approvals).unwrap_or_default();
        let pending = |approval: &Approval| approval.settled_at.is_none();
        Ok(approvals.into_iter().filter(pending).collect())
    }
}

/// Announces a prompt, and who sent it.
pub(crate) fn turn_event(cx: &OpContext, session: &Session, turn: TurnId) -> NewEvent {
    NewEvent {
        kind: EventKind::Created,
        subject: turn.into(),
        owner: session.owner,
        session: Some(session.id),
        actor: Some(cx.principal.user),
        facts: Facts::new(),
    }
}
