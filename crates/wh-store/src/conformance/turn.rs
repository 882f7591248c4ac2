//! Checks of turns.

use std::sync::Arc;

use jiff::SignedDuration;
use wh_domain::{
    FileName, NewTurn, Operation, PromptFile, Reach, Sender, Session, SessionEvent, SessionState,
};

use super::Outcome;
use super::fixture::{self, Made, commit, done, pages, whole};
use super::run::{begin, fixture_session, idle_session, started, step};
use crate::{Applied, QueueRules, Store, StoreError};

const RULES: QueueRules = QueueRules {
    waiting_max: 3,
    only_if_free: false,
    per_minute_max: u32::MAX,
};

pub(super) fn turn_value(session: &Session, prompt: &str) -> NewTurn {
    NewTurn {
        id: fixture::id(),
        session: session.id,
        prompt: prompt.to_owned(),
        files: Vec::new(),
        sender: Sender {
            user: session.owner.user,
            session: None,
        },
        urgent: false,
        created_at: fixture::now(),
    }
}

/// Puts a prompt into a queue with room.
pub(super) async fn queue(store: &Arc<dyn Store>, session: &Session, turn: &NewTurn) -> Made<()> {
    let commit = commit(session.owner.user, Operation::SessionPrompt);
    done(store.turn_queue(turn, RULES, commit).await?);
    Ok(())
}

/// Tries to put a prompt into a queue.
async fn try_queue(
    store: &Arc<dyn Store>,
    session: &Session,
    prompt: &str,
    rules: QueueRules,
) -> crate::Result<Applied> {
    let commit = commit(session.owner.user, Operation::SessionPrompt);
    let turn = turn_value(session, prompt);
    store.turn_queue(&turn, rules, commit).await
}

/// What comes with a prompt is kept with it, in order, and goes with its session.
pub async fn files_stay_with_their_prompt(store: Arc<dyn Store>) -> Outcome {
    let session = idle_session(&store).await?;
    let file = |name: &str, data: &[u8]| -> Result<PromptFile, &'static str> {
        Ok(PromptFile {
            name: FileName::parse(name)?,
            data: data.to_vec(),
        })
    };
    let files = vec![file("a.txt", b"alpha")?, file("b.bin", &[0, 1, 0xff])?];
    let turn = NewTurn {
        files: files.clone(),
        ..turn_value(&session, "look")
    };
    queue(&store, &session, &turn).await?;
    let plain = turn_value(&session, "no files");
    queue(&store, &session, &plain).await?;

    let kept = store.turn_by_id(turn.id).await?.ok_or("no turn")?;
    let about: Vec<_> = files.iter().map(PromptFile::about).collect();
    assert_eq!(kept.files, about);
    assert_eq!(store.turn_file(turn.id, 1).await?.as_ref(), files.first());
    assert_eq!(store.turn_file(turn.id, 2).await?.as_ref(), files.get(1));
    for (turn, number) in [(turn.id, 0), (turn.id, 3), (plain.id, 1)] {
        assert_eq!(store.turn_file(turn, number).await?, None);
    }
    let commit = commit(session.owner.user, Operation::SessionManage);
    done(store.session_delete(session.id, commit).await?);
    assert_eq!(store.turn_file(turn.id, 1).await?, None);
    Ok(())
}

/// Prompts wait in order, urgent ones first, and no more than may; an urgent one asks the running turn to end.
pub async fn queues_hold_their_order_and_their_limit(store: Arc<dyn Store>) -> Outcome {
    let session = idle_session(&store).await?;
    let turns: Vec<_> = (1..=3)
        .map(|n| turn_value(&session, &format!("{n}")))
        .collect();
    queue(&store, &session, &turns[0]).await?;
    let (run, _) = begin(&store, &session).await?;
    store
        .run_apply(step(&run, vec![started(&turns[0])]))
        .await?;
    queue(&store, &session, &turns[1]).await?;
    let mut urgent = turn_value(&session, "urgent");
    urgent.urgent = true;
    queue(&store, &session, &urgent).await?;
    let work = store.work_get(session.id).await?.ok_or("no work")?;
    assert_eq!(work.next.map(|it| (it.id, it.number)), Some((urgent.id, 3)));
    let running = work.running.ok_or("nothing runs")?;
    assert!(running.cancel_requested);
    queue(&store, &session, &turns[2]).await?;
    let user = session.owner.user;
    let refused = try_queue(&store, &session, "too many", RULES);
    assert!(matches!(
        refused.await,
        Err(StoreError::Limit { max: 3, .. })
    ));
    let rules = QueueRules {
        waiting_max: 100,
        only_if_free: true,
        ..RULES
    };
    let busy = try_queue(&store, &session, "only if free", rules);
    assert!(matches!(busy.await, Err(StoreError::Busy)));
    let stop = SessionEvent::StopRequested {
        kill_at: fixture::now(),
    };
    let stopped = store.session_move(session.id, &stop, commit(user, Operation::SessionManage));
    done(stopped.await?);
    let work = store.work_get(session.id).await?.ok_or("no work")?;
    assert_eq!(work.next, None, "a stop empties the queue");
    Ok(())
}

/// An interrupt ends the turn that runs, or the one that comes next when none does, and no other.
pub async fn an_interrupt_ends_one_turn(store: Arc<dyn Store>) -> Outcome {
    let session = idle_session(&store).await?;
    let turns = ["first", "second"].map(|prompt| turn_value(&session, prompt));
    let cancelled = async || -> Made<[bool; 2]> {
        let mut cancelled = [false; 2];
        for (turn, cancelled) in turns.iter().zip(&mut cancelled) {
            let stored = store.turn_by_id(turn.id).await?.ok_or("no turn")?;
            *cancelled = stored.cancel_requested;
        }
        Ok(cancelled)
    };
    let user = session.owner.user;
    let cancel = async || -> Made<()> {
        let commit = commit(user, Operation::SessionInterrupt);
        done(store.turn_cancel(session.id, commit).await?);
        Ok(())
    };
    // Nothing to do is no error.
    cancel().await?;
    for turn in &turns {
        queue(&store, &session, turn).await?;
    }
    cancel().await?;
    assert_eq!(cancelled().await?, [true, false]);
    let (run, _) = begin(&store, &session).await?;
    store
        .run_apply(step(&run, vec![started(&turns[1])]))
        .await?;
    cancel().await?;
    assert_eq!(cancelled().await?, [true, true]);
    Ok(())
}

/// A session that prompts another one is refused beyond its rate; people and other sessions are not.
pub async fn prompts_between_two_sessions_are_limited(store: Arc<dyn Store>) -> Outcome {
    let session = idle_session(&store).await?;
    let (flooding, other) = (idle_session(&store).await?, idle_session(&store).await?);
    let rules = QueueRules {
        waiting_max: 100,
        only_if_free: false,
        per_minute_max: 2,
    };
    let send = async |sender: Option<&Session>, age: SignedDuration| {
        let mut turn = turn_value(&session, "x");
        turn.sender.session = sender.map(|it| it.id);
        turn.created_at -= age;
        let commit = commit(session.owner.user, Operation::SessionPrompt);
        store.turn_queue(&turn, rules, commit).await
    };
    let now = SignedDuration::ZERO;
    done(send(Some(&flooding), SignedDuration::from_secs(61)).await?);
    done(send(Some(&flooding), now).await?);
    done(send(Some(&flooding), now).await?);
    let refused = send(Some(&flooding), now).await;
    assert!(matches!(refused, Err(StoreError::Limit { max: 2, .. })));
    done(send(Some(&other), now).await?);
    done(send(None, now).await?);
    Ok(())
}

/// A prompt wakes a session that was stopped; one that has ended or is being stopped takes none.
pub async fn a_prompt_resumes_what_was_stopped_and_no_end(store: Arc<dyn Store>) -> Outcome {
    let session = idle_session(&store).await?;
    let user = session.owner.user;
    let event = |event: SessionEvent| {
        let store = Arc::clone(&store);
        let commit = commit(user, Operation::SessionManage);
        async move { store.session_move(session.id, &event, commit).await }
    };
    done(
        event(SessionEvent::StopRequested {
            kill_at: fixture::now(),
        })
        .await?,
    );
    let refused = try_queue(&store, &session, "x", RULES);
    assert!(matches!(refused.await, Err(StoreError::Illegal(_))));
    done(event(SessionEvent::ProcessGone).await?);
    queue(&store, &session, &turn_value(&session, "go on")).await?;
    let found = fixture_session(&store, &session).await?;
    assert_eq!(found.state, SessionState::Creating);
    done(event(SessionEvent::WorkAbandoned).await?);
    let refused = try_queue(&store, &session, "x", RULES);
    assert!(matches!(refused.await, Err(StoreError::Illegal(_))));
    Ok(())
}

/// Turns are found by those who reach their session, and listed latest first.
pub async fn are_found_within_reach_and_page_to_the_end(store: Arc<dyn Store>) -> Outcome {
    let session = idle_session(&store).await?;
    let other = idle_session(&store).await?;
    let turns: Vec<_> = (1..=3)
        .map(|n| turn_value(&session, &format!("{n}")))
        .collect();
    for turn in &turns {
        queue(&store, &session, turn).await?;
    }
    let reach = Reach::User(session.owner.user);
    let listed = pages(2, |page| store.turn_list(reach, session.id, page)).await?;
    let numbers: Vec<_> = listed.iter().map(|it| it.number).collect();
    assert_eq!(numbers, [3, 2, 1]);
    assert_eq!(store.turn_count(reach, session.id).await?, 3);
    let elsewhere = Reach::User(other.owner.user);
    for (reach, count) in [(reach, 1), (elsewhere, 0), (Reach::Tree(session.id), 1)] {
        let found = store.turn_find(reach, &whole(turns[0].id)).await?;
        assert_eq!(found.len(), count, "{reach:?}");
    }
    let listed = pages(2, |page| store.turn_list(elsewhere, session.id, page)).await?;
    assert_eq!(listed, []);
    assert_eq!(store.turn_count(elsewhere, session.id).await?, 0);
    Ok(())
}
