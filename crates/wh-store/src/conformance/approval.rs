//! Checks of approvals.

use std::sync::Arc;

use wh_domain::{
    Approval, ApprovalFilter, ApprovalKind, ApprovalState, Author, MessageKind, NewMessage,
    NewTurn, Operation, PageLimit, Reach, Run, Sender, Session, SessionStateName, Settlement,
    TurnState, Usage,
};

use super::Outcome;
use super::fixture::{self, Made, commit, done, message, pages, whole};
use super::run::{begin, fixture_session, idle_session, started, step};
use super::turn::{queue, turn_value};
use crate::{RunFact, Store, StoreError};

pub(super) fn approval_value(run: &Run, turn: &NewTurn, request: &str) -> Approval {
    Approval {
        id: fixture::id(),
        session: run.session,
        turn: Some(turn.id),
        epoch: run.epoch,
        request: request.to_owned(),
        kind: ApprovalKind::Permission,
        state: ApprovalState::Pending,
        text: "may I?".to_owned(),
        detail: Some("{\"a\": 1}".to_owned()),
        answer: None,
        always: false,
        answered_by: None,
        expires_at: Some(fixture::now()),
        created_at: fixture::now(),
        settled_at: None,
        delivered_at: None,
    }
}

fn settlement(state: ApprovalState) -> Settlement {
    Settlement {
        state,
        answer: Some("because".to_owned()),
        always: true,
        by: None,
    }
}

/// Makes a session that waits for two approvals.
async fn waiting(store: &Arc<dyn Store>) -> Made<(Session, Run, [Approval; 2])> {
    let (session, run, asked, _) = waiting_in(store).await?;
    Ok((session, run, asked))
}

/// As [`waiting`], with the turn that asks.
async fn waiting_in(store: &Arc<dyn Store>) -> Made<(Session, Run, [Approval; 2], NewTurn)> {
    let session = idle_session(store).await?;
    let turn = turn_value(&session, "ask");
    queue(store, &session, &turn).await?;
    let (run, _) = begin(store, &session).await?;
    let asked = ["1", "2"].map(|request| approval_value(&run, &turn, request));
    let mut facts = vec![started(&turn)];
    facts.extend(asked.iter().cloned().map(RunFact::Asked));
    store.run_apply(step(&run, facts)).await?;
    Ok((session, run, asked, turn))
}

/// A session waits until the last of its approvals is settled, and the agent is told of each.
pub async fn makes_its_session_wait_until_it_is_settled(store: Arc<dyn Store>) -> Outcome {
    let (session, run, asked) = waiting(&store).await?;
    let state = async || -> Made<_> { Ok(fixture_session(&store, &session).await?.state.name()) };
    assert_eq!(state().await?, SessionStateName::Waiting);
    let commit = commit(session.owner.user, Operation::ApprovalAnswer);
    let allowed = settlement(ApprovalState::Allowed);
    done(store.approval_settle(asked[0].id, &allowed, commit).await?);
    assert_eq!(state().await?, SessionStateName::Waiting);
    let settled = RunFact::Settled {
        request: "2".to_owned(),
        settlement: settlement(ApprovalState::TimedOut),
        said: None,
    };
    store.run_apply(step(&run, vec![settled])).await?;
    assert_eq!(state().await?, SessionStateName::Running);
    let undelivered = store
        .work_get(session.id)
        .await?
        .ok_or("no work")?
        .approvals;
    let states: Vec<_> = undelivered
        .iter()
        .map(|it| (it.id, it.state, it.always))
        .collect();
    assert_eq!(
        states,
        [
            (asked[0].id, ApprovalState::Allowed, true),
            (asked[1].id, ApprovalState::TimedOut, true)
        ]
    );
    let delivered = asked.iter().map(|it| RunFact::Delivered(it.id)).collect();
    store.run_apply(step(&run, delivered)).await?;
    let undelivered = store
        .work_get(session.id)
        .await?
        .ok_or("no work")?
        .approvals;
    assert_eq!(undelivered, []);
    Ok(())
}

/// An answer is undelivered again when the runner still waits for it, and pending again when it cannot be sent.
pub async fn is_sent_until_the_runner_has_it(store: Arc<dyn Store>) -> Outcome {
    let (session, run, asked) = waiting(&store).await?;
    let states = async || -> Made<Vec<_>> {
        let work = store.work_get(session.id).await?.ok_or("no work")?;
        let approvals = work.approvals.into_iter();
        Ok(approvals.map(|it| (it.request, it.state)).collect())
    };
    let commit = commit(session.owner.user, Operation::ApprovalAnswer);
    let allowed = settlement(ApprovalState::Allowed);
    done(store.approval_settle(asked[0].id, &allowed, commit).await?);
    let delivered = asked.iter().map(|it| RunFact::Delivered(it.id)).collect();
    store.run_apply(step(&run, delivered)).await?;
    let pending = ("2".to_owned(), ApprovalState::Pending);
    // What nobody settled is not delivered, whatever a runner says.
    assert_eq!(states().await?, std::slice::from_ref(&pending));
    let requests = ["1", "2", "3"].map(str::to_owned).to_vec();
    let still_open = RunFact::StillOpen { requests };
    store.run_apply(step(&run, vec![still_open])).await?;
    let first = ("1".to_owned(), ApprovalState::Allowed);
    assert_eq!(states().await?, [first, pending.clone()]);
    let reopened = vec![RunFact::Reopened(asked[0].id)];
    let after = store.run_apply(step(&run, reopened)).await?;
    assert_eq!(after.state.name(), SessionStateName::Waiting);
    let first = ("1".to_owned(), ApprovalState::Pending);
    assert_eq!(states().await?, [first, pending]);
    Ok(())
}

fn ended(turn: &NewTurn, state: TurnState) -> RunFact {
    RunFact::TurnEnded {
        turn: turn.id,
        state,
        reason: None,
        commit_after: None,
        usage: Usage::default(),
        estimate_micros: 0,
    }
}

/// Denies everything that a session asks, for a reason.
async fn deny(store: &Arc<dyn Store>, session: &Session, asked: &[Approval]) -> Outcome {
    let user = session.owner.user;
    for approval in asked {
        let denied = Settlement {
            by: Some(Sender {
                user,
                session: None,
            }),
            ..settlement(ApprovalState::Denied)
        };
        let commit = commit(user, Operation::ApprovalAnswer);
        done(store.approval_settle(approval.id, &denied, commit).await?);
    }
    Ok(())
}

/// The reasons of denials become one turn when the turn that asked has ended by itself.
pub async fn reasons_become_a_turn(store: Arc<dyn Store>) -> Outcome {
    let (session, run, asked, turn) = waiting_in(&store).await?;
    deny(&store, &session, &asked).await?;
    assert_eq!(store.reasons_unread(session.id).await?.len(), 2);
    let ended = ended(&turn, TurnState::Completed);
    for _ in 0..2 {
        // A turn that ends again has ended already.
        store.run_apply(step(&run, vec![ended.clone()])).await?;
    }
    let work = store.work_get(session.id).await?.ok_or("no work")?;
    let next = work.next.ok_or("no turn with the reasons")?;
    assert_eq!(next.prompt.matches("> because").count(), 2);
    assert_eq!(next.sender.user, session.owner.user);
    let turns = store.turn_count(Reach::All, session.id).await?;
    assert_eq!(turns, 2);
    // They are read when the agent has the turn, not before.
    assert_eq!(store.reasons_unread(session.id).await?.len(), 2);
    let begun = RunFact::TurnStarted {
        turn: next.id,
        commit_before: None,
    };
    store.run_apply(step(&run, vec![begun])).await?;
    assert_eq!(store.reasons_unread(session.id).await?, []);
    Ok(())
}

/// Reasons outlive a turn of their own that is cancelled or not handed over, and no other one is queued for them.
pub async fn reasons_outlive_their_turn(store: Arc<dyn Store>) -> Outcome {
    for state in [TurnState::Cancelled, TurnState::Failed] {
        let (session, run, asked, turn) = waiting_in(&store).await?;
        deny(&store, &session, &asked).await?;
        let completed = ended(&turn, TurnState::Completed);
        store.run_apply(step(&run, vec![completed])).await?;
        let work = store.work_get(session.id).await?.ok_or("no work")?;
        let own = work.next.ok_or("no turn with the reasons")?;
        if state == TurnState::Cancelled {
            let cancel = commit(session.owner.user, Operation::SessionInterrupt);
            done(store.turn_cancel(session.id, cancel).await?);
        }
        let over = RunFact::TurnEnded {
            turn: own.id,
            state,
            reason: None,
            commit_after: None,
            usage: Usage::default(),
            estimate_micros: 0,
        };
        store.run_apply(step(&run, vec![over])).await?;
        assert_eq!(store.reasons_unread(session.id).await?.len(), 2);
        let work = store.work_get(session.id).await?.ok_or("no work")?;
        assert_eq!(work.next, None);
    }
    Ok(())
}

/// Reasons wait for the next prompt when somebody interrupted the turn, and are read once.
pub async fn reasons_wait_for_the_next_turn(store: Arc<dyn Store>) -> Outcome {
    let (session, run, asked, turn) = waiting_in(&store).await?;
    deny(&store, &session, &asked).await?;
    let cancel = commit(session.owner.user, Operation::SessionInterrupt);
    done(store.turn_cancel(session.id, cancel).await?);
    let ended = ended(&turn, TurnState::Cancelled);
    store.run_apply(step(&run, vec![ended])).await?;
    let work = store.work_get(session.id).await?.ok_or("no work")?;
    assert_eq!(work.next, None);
    assert_eq!(store.reasons_unread(session.id).await?.len(), 2);
    let next = turn_value(&session, "go on");
    queue(&store, &session, &next).await?;
    store.run_apply(step(&run, vec![started(&next)])).await?;
    assert_eq!(store.reasons_unread(session.id).await?, []);
    Ok(())
}

/// Of several answers the first counts.
pub async fn is_settled_once(store: Arc<dyn Store>) -> Outcome {
    let (session, run, asked) = waiting(&store).await?;
    let user = session.owner.user;
    let denied = settlement(ApprovalState::Denied);
    let first = store.approval_settle(
        asked[0].id,
        &denied,
        commit(user, Operation::ApprovalAnswer),
    );
    done(first.await?);
    let allowed = settlement(ApprovalState::Allowed);
    let second = store.approval_settle(
        asked[0].id,
        &allowed,
        commit(user, Operation::ApprovalAnswer),
    );
    assert!(matches!(second.await, Err(StoreError::Settled)));
    let late = RunFact::Settled {
        request: "1".to_owned(),
        settlement: allowed,
        said: None,
    };
    store.run_apply(step(&run, vec![late])).await?;
    let found = store.approval_find(Reach::All, &whole(asked[0].id)).await?;
    assert_eq!(found[0].state, ApprovalState::Denied);
    assert_eq!(found[0].answer.as_deref(), Some("because"));
    assert_eq!(found[0].detail, asked[0].detail);
    Ok(())
}

/// A question and its answer name what they belong to, and so who answered.
pub async fn an_answer_says_who_gave_it(store: Arc<dyn Store>) -> Outcome {
    let (session, run, asked) = waiting(&store).await?;
    let user = fixture::user(&store).await?;
    let question = NewMessage {
        approval: Some(asked[0].id),
        ..message(MessageKind::Question, "which?")
    };
    let reference = None;
    let question = RunFact::Message {
        reference,
        message: question,
    };
    store.run_apply(step(&run, vec![question])).await?;
    let by = Sender {
        user: user.id,
        session: Some(fixture::id()),
    };
    let allowed = Settlement {
        by: Some(by),
        ..settlement(ApprovalState::Allowed)
    };
    let commit = commit(session.owner.user, Operation::ApprovalAnswer);
    done(store.approval_settle(asked[0].id, &allowed, commit).await?);
    let author = Some(Author {
        name: user.name,
        session: by.session,
    });
    let found = store.approval_find(Reach::All, &whole(asked[0].id)).await?;
    assert_eq!(found[0].answered_by, author);
    let settled = |request: &str, text| RunFact::Settled {
        request: request.to_owned(),
        settlement: settlement(ApprovalState::TimedOut),
        said: Some(message(MessageKind::Answer, text)),
    };
    let facts = vec![settled("1", "this"), settled("2", "that")];
    store.run_apply(step(&run, facts)).await?;
    let told = store.message_list(Reach::All, session.id, 0, PageLimit::MAX);
    let told: Vec<_> = told.await?.into_iter().rev().take(3).collect();
    let seen = told.iter().map(|it| (it.approval, it.author.as_ref()));
    let [first, second] = asked.map(|it| Some(it.id));
    // Nobody settled the second: the clock did.
    let expected = [(second, None), (first, author.as_ref()), (first, None)];
    assert!(seen.eq(expected), "{told:?}");
    Ok(())
}

/// Approvals are seen by those who reach their session; settled ones only when asked for.
pub async fn is_found_within_reach(store: Arc<dyn Store>) -> Outcome {
    let (session, _, asked) = waiting(&store).await?;
    let (other, ..) = waiting(&store).await?;
    let user = session.owner.user;
    let denied = settlement(ApprovalState::Denied);
    let settled = store.approval_settle(
        asked[0].id,
        &denied,
        commit(user, Operation::ApprovalAnswer),
    );
    done(settled.await?);
    let mut filter = ApprovalFilter::default();
    let pending = pages(1, |page| {
        store.approval_list(Reach::User(user), &filter, page)
    });
    let pending: Vec<_> = pending.await?.iter().map(|it| it.id).collect();
    assert_eq!(pending, [asked[1].id]);
    filter.include_settled = true;
    filter.session = Some(session.id);
    let everyone = pages(1, |page| {
        store.approval_list(Reach::Tree(session.id), &filter, page)
    });
    assert_eq!(everyone.await?.len(), 2);
    let elsewhere = Reach::User(other.owner.user);
    let found = store.approval_find(elsewhere, &whole(asked[1].id)).await?;
    assert_eq!(found, []);
    Ok(())
}
