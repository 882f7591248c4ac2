//! Stores what happened in a run: all of a step or nothing, and each step once.

mod above;
mod answers;
mod turns;
mod written;

use jiff::Timestamp;
use sqlx::SqliteConnection;
use wh_domain::{
    Approval, ApprovalId, ApprovalState, EventKind, Facts, MessageKind, NewEvent, NewMessage,
    NewsKind, Session, SessionEvent, SessionState, Settlement, TurnState, Usage,
};
use wh_store::{Result, RunFact, RunStep, StoreError};

use crate::approval;
use crate::batch::{Batch, KEEP};
use crate::error::store_error;
use crate::message::last_words;
use crate::offers;
use crate::reach::Query;
use crate::row::{int, micros, uuid};
use crate::session_row::push_update;

pub(crate) use self::answers::unread_on_conn;
use self::turns::TurnEnd;
use self::written::{Known, Words};

/// A step being applied.
struct Applying<'a> {
    conn: &'a mut SqliteConnection,
    session: Session,
    /// What the session had used before the step.
    used_before: Usage,
    epoch: u64,
    at: Timestamp,
    events: Vec<NewEvent>,
    /// The first message that is new or changed.
    changed_from: Option<u64>,
    words: Words,
}

/// Stores a step and returns the session as it is then.
pub(crate) async fn apply_in_txn(batch: &mut Batch<'_>, step: RunStep) -> Result<Box<Session>> {
    let Known {
        session,
        moved,
        words,
    } = written::begin(batch.conn, &step).await?;
    let (epoch, current) = (step.epoch, session.epoch);
    if epoch != current {
        return Err(StoreError::Fenced { epoch, current });
    }
    if !moved {
        check_stored(batch.conn, &step).await?;
        return Ok(Box::new(session));
    }
    let before = session.state.name();
    let used_before = session.usage;
    let mut applying = Applying {
        conn: batch.conn,
        session,
        used_before,
        epoch,
        at: step.at,
        events: Vec::new(),
        changed_from: None,
        words,
    };
    for fact in step.facts {
        applying.fact(fact).await?;
    }
    applying.session.updated_at = applying.session.updated_at.max(step.at);
    applying.count_above(used_before).await?;
    applying.finish().await?;
    let Applying {
        session,
        events,
        changed_from,
        ..
    } = applying;
    batch.kept();
    if let Some(from) = changed_from {
        let facts = [("seq", session.last_seq), ("from", from)];
        let facts = facts.map(|(name, n)| (name.to_owned(), n.to_string()));
        let event = session_event(&session, EventKind::MessageAdded, Facts::from(facts));
        batch.announce(step.at, event);
    }
    let after = session.state.name();
    if after != before {
        let facts = Facts::from([("state".to_owned(), after.as_str().to_owned())]);
        batch.announce(
            step.at,
            session_event(&session, EventKind::StateChanged, facts),
        );
    }
    for event in events {
        batch.announce(step.at, event);
    }
    Ok(Box::new(session))
}

/// Makes sure that a step which moved nothing was stored before.
async fn check_stored(conn: &mut SqliteConnection, step: &RunStep) -> Result<()> {
    let stored: i64 =
        sqlx::query_scalar("SELECT journal_seq FROM runs WHERE session_id = ? AND epoch = ?")
            .bind(uuid(step.session))
            .bind(int(step.epoch))
            .fetch_optional(conn)
            .await
            .map_err(store_error)?
            .ok_or(StoreError::NotFound { what: "run" })?;
    match stored >= int(step.through) {
        true => Ok(()),
        false => Err(StoreError::Stale { what: "the run" }),
    }
}

/// Makes an event about a session that nobody in particular caused.
pub(crate) fn session_event(session: &Session, kind: EventKind, facts: Facts) -> NewEvent {
    NewEvent {
        kind,
        subject: session.id.into(),
        owner: session.owner,
        session: Some(session.id),
        actor: None,
        facts,
    }
}

impl Applying<'_> {
    async fn fact(&mut self, fact: RunFact) -> Result<()> {
        match fact {
            RunFact::Introduced(abilities) => {
                let sql = "UPDATE runs SET can_load = ?, can_resume = ? WHERE session_id = ? AND epoch = ?";
                let query = sqlx::query(sql).bind(abilities.load).bind(abilities.resume);
                self.of_run(query).await
            }
            RunFact::Ready { conversation } => {
                let sql = "UPDATE runs SET conversation = ?, ready_at = coalesce(ready_at, ?)
                     WHERE session_id = ? AND epoch = ?";
                let query = sqlx::query(sql).bind(conversation).bind(micros(self.at));
                self.of_run(query).await?;
                self.happens(SessionEvent::ProcessReady);
                Ok(())
            }
            RunFact::Tools(link) => {
                let sql = "UPDATE runs SET tools = ? WHERE session_id = ? AND epoch = ?";
                self.of_run(sqlx::query(sql).bind(link.as_str())).await
            }
            RunFact::Message { reference, message } => {
                self.message(reference, message);
                Ok(())
            }
            RunFact::Asked(approval) => self.asked(approval).await,
            RunFact::Settled {
                request,
                settlement,
                said,
            } => self.settled(&request, &settlement, said).await,
            RunFact::Delivered(id) => self.delivered(id).await,
            RunFact::StillOpen { requests } => self.still_open(&requests).await,
            RunFact::Reopened(id) => self.reopened(id).await,
            RunFact::TurnStarted {
                turn,
                commit_before,
            } => self.turn_started(turn, commit_before).await,
            RunFact::TurnEnded {
                turn,
                state,
                reason,
                commit_after,
                usage,
                estimate_micros,
            } => {
                let ended = TurnEnd {
                    state,
                    reason,
                    commit_after,
                    usage,
                    estimate_micros,
                };
                self.turn_ended(turn, ended).await
            }
            RunFact::Cost { micros } => {
                self.costs(micros);
                Ok(())
            }
            RunFact::RunCost { micros } => {
                let before = self.cost_before_run().await?;
                self.costs(before.saturating_add(micros));
                Ok(())
            }
            RunFact::Mode { mode } => {
                let sql = "UPDATE runs SET mode = ? WHERE session_id = ? AND epoch = ?";
                self.of_run(sqlx::query(sql).bind(mode)).await
            }
            RunFact::Model { model } => {
                self.session.current_model = Some(model);
                Ok(())
            }
            RunFact::Models { models } => {
                offers::keep_models(self.conn, &self.session.agent, &models, self.at).await
            }
            RunFact::Commands { commands } => {
                let sql = "UPDATE runs SET commands = ? WHERE session_id = ? AND epoch = ?";
                let text = offers::commands_text(&commands);
                self.of_run(sqlx::query(sql).bind(text)).await
            }
            RunFact::Stderr { text } => {
                let sql = "UPDATE runs SET stderr = ? WHERE session_id = ? AND epoch = ?";
                self.of_run(sqlx::query(sql).bind(text)).await
            }
            RunFact::Gone { ending, failed } => self.gone(ending, failed).await,
        }
    }

    /// Moves the state on where that is a legal step. What a run reports is a fact, and may be late: a session that is
    /// being stopped does not care that its turn is over.
    fn happens(&mut self, event: SessionEvent) {
        match self.session.state.next(event) {
            Ok(next) => self.session.state = next,
            Err(late) => {
                tracing::debug!(session = %self.session.id, %late, "not a step of the session any more");
            }
        }
    }

    async fn of_run(
        &mut self,
        query: sqlx::query::Query<'_, sqlx::Sqlite, sqlx::sqlite::SqliteArguments>,
    ) -> Result<()> {
        let query = query.bind(uuid(self.session.id)).bind(int(self.epoch));
        let done = query.execute(&mut *self.conn).await;
        done.map(drop).map_err(store_error)
    }

    fn message(&mut self, reference: Option<String>, message: NewMessage) {
        if message.kind == MessageKind::Agent {
            self.session.last_words = Some(last_words(&message.text));
        }
        let seq = self.words.say(self.session.last_seq, reference, message);
        self.session.last_seq = self.session.last_seq.max(seq);
        self.changed_from = Some(self.changed_from.map_or(seq, |from| from.min(seq)));
    }

    /// Writes what waits, and the session itself, and keeps it all.
    async fn finish(&mut self) -> Result<()> {
        let mut query = Query::new("");
        self.words.push_few(&mut query, self.session.id);
        self.write_words().await?;
        push_update(&mut query, &self.session);
        query.push(KEEP);
        let written = query.build().execute(&mut *self.conn).await;
        written.map(drop).map_err(store_error)
    }

    /// Writes the words that wait, for whoever reads the transcript next.
    async fn write_words(&mut self) -> Result<()> {
        self.words.write(self.conn, self.session.id).await
    }

    async fn asked(&mut self, approval: Approval) -> Result<()> {
        approval::insert_in_txn(self.conn, &approval).await?;
        if approval.state == ApprovalState::Pending {
            self.happens(SessionEvent::ApprovalRequested);
            self.news(NewsKind::NeedsAnswer, &approval.text, Some(approval.id))
                .await?;
        }
        self.announce_approval(approval.id, EventKind::Created, approval.state);
        Ok(())
    }

    fn announce_approval(&mut self, id: ApprovalId, kind: EventKind, state: ApprovalState) {
        self.events.push(NewEvent {
            kind,
            subject: id.into(),
            owner: self.session.owner,
            session: Some(self.session.id),
            actor: None,
            facts: Facts::from([("state".to_owned(), state.as_str().to_owned())]),
        });
    }

    async fn settled(
        &mut self,
        request: &str,
        settlement: &Settlement,
        said: Option<NewMessage>,
    ) -> Result<()> {
        let found = approval::by_request_in_txn(self.conn, &self.session, request).await?;
        if let Some(mut said) = said {
            said.approval = found.as_ref().map(|approval| approval.id);
            self.message(None, said);
        }
        let Some(approval) = found else { return Ok(()) };
        if approval.state == ApprovalState::Pending {
            approval::settle_in_txn(self.conn, approval.id, settlement, self.at).await?;
            self.happens(SessionEvent::ApprovalSettled);
            self.announce_approval(approval.id, EventKind::StateChanged, settlement.state);
            if settlement.state == ApprovalState::Withdrawn {
                self.delivered(approval.id).await?;
            }
        }
        Ok(())
    }

    /// Settles what nobody waits for any more.
    async fn withdraw(&mut self) -> Result<()> {
        for id in approval::pending_in_txn(self.conn, self.session.id).await? {
            let settlement = Settlement {
                state: ApprovalState::Withdrawn,
                answer: None,
                always: false,
                by: None,
            };
            approval::settle_in_txn(self.conn, id, &settlement, self.at).await?;
            self.delivered(id).await?;
            self.announce_approval(id, EventKind::StateChanged, settlement.state);
        }
        Ok(())
    }

    async fn gone(&mut self, ending: String, failed: Option<String>) -> Result<()> {
        let turn = match self.session.state.turn() {
            None => self.running_turn().await?,
            turn => turn,
        };
        let before = self.session.state.clone();
        if let Some(turn) = turn {
            let end = TurnEnd {
                state: match before {
                    SessionState::Stopping { .. } => TurnState::Cancelled,
                    _ => TurnState::Failed,
                },
                reason: Some(ending.clone()),
                commit_after: None,
                usage: Usage::default(),
                estimate_micros: 0,
            };
            self.turn_ended(turn, end).await?;
            // The turn did not finish: the process went away in the middle of it.
            self.session.state = before;
        }
        self.withdraw().await?;
        let sql = "UPDATE runs SET ended_at = coalesce(ended_at, ?), ending = coalesce(ending, ?)
             WHERE session_id = ? AND epoch = ?";
        let query = sqlx::query(sql).bind(micros(self.at)).bind(&ending);
        self.of_run(query).await?;
        let sql = "UPDATE keys SET revoked_at = coalesce(revoked_at, ?) WHERE session_id = ? AND session_epoch = ?";
        self.of_run(sqlx::query(sql).bind(micros(self.at))).await?;
        crate::task_change::release_in_txn(self.conn, self.session.id, Some(self.at)).await?;
        self.happens(SessionEvent::ProcessGone);
        if let Some(reason) = failed {
            if turn.is_none() {
                self.news(NewsKind::Failed, &reason, None).await?;
            }
            self.happens(SessionEvent::WorkFailed { reason });
            self.cancel_queue(&ending).await?;
        }
        Ok(())
    }
}
