//! Checks of runs and of what they report.

use std::sync::Arc;

use jiff::SignedDuration;
use wh_domain::{
    Abilities, AgentCommand, AgentName, ApprovalState, EffectiveTier, EventKind, Key, KeyBinding,
    KeyScope, MessageKind, NewMessage, NewTurn, OfferedModel, PageLimit, PageRequest, Reach, Run,
    Session, SessionState, SessionStateName, ToolsLink, TurnState, Usage,
};

use super::Outcome;
use super::fixture::{self, Made, message, owned_by, whole};
use super::turn::{queue, turn_value};
use crate::{RunFact, RunStep, Store, StoreError};

/// Adds a session that nobody has run yet.
pub(super) async fn idle_session(store: &Arc<dyn Store>) -> Made<Session> {
    let owner = owned_by(fixture::user(store).await?.id);
    let mut session = fixture::session_value(owner, None)?;
    session.epoch = 0;
    fixture::insert_session(store, &session).await?;
    Ok(session)
}

pub(super) fn run_value(session: &Session, epoch: u64) -> Made<(Run, Key)> {
    let mut key = fixture::key_value(session.owner.user, KeyScope::Session)?;
    key.session = Some(KeyBinding::Run {
        session: session.id,
        epoch,
    });
    let run = Run {
        session: session.id,
        epoch,
        key: key.id,
        journal_seq: 0,
        conversation: None,
        abilities: Abilities::default(),
        tools: ToolsLink::Unused,
        tier: EffectiveTier::parse("guarded/namespaces"),
        started_at: fixture::now(),
        ready_at: None,
        ended_at: None,
        ending: None,
    };
    Ok((run, key))
}

/// Begins the run after the session's current one.
pub(super) async fn begin(store: &Arc<dyn Store>, session: &Session) -> Made<(Run, Key)> {
    let current = fixture_session(store, session).await?.epoch;
    let (run, key) = run_value(session, current + 1)?;
    store.run_begin(&run, &key).await?;
    Ok((run, key))
}

pub(super) async fn fixture_session(store: &Arc<dyn Store>, session: &Session) -> Made<Session> {
    let found = store.session_find(Reach::All, &whole(session.id)).await?;
    found.into_iter().next().ok_or("no such session".into())
}

/// Returns a step of the server's own.
pub(super) fn step(run: &Run, facts: Vec<RunFact>) -> RunStep {
    RunStep {
        session: run.session,
        epoch: run.epoch,
        after: 0,
        through: 0,
        at: fixture::now(),
        facts,
    }
}

fn said(text: &str) -> RunFact {
    RunFact::Message {
        reference: None,
        message: message(MessageKind::Agent, text),
    }
}

pub(super) fn started(turn: &NewTurn) -> RunFact {
    RunFact::TurnStarted {
        turn: turn.id,
        commit_before: Some("abc".to_owned()),
    }
}

/// A run takes the next epoch and no other; from then on the one before is over.
pub async fn begins_once_and_fences_the_one_before(store: Arc<dyn Store>) -> Outcome {
    let session = idle_session(&store).await?;
    let (first, key) = begin(&store, &session).await?;
    assert_eq!(store.key_by_hash(&key.hash).await?, Some(key));
    let again = store.run_begin(&first, &run_value(&session, 1)?.1).await;
    assert!(matches!(
        again,
        Err(StoreError::Fenced {
            epoch: 1,
            current: 1
        })
    ));
    let work = store.work_get(session.id).await?.ok_or("no work")?;
    assert_eq!(work.run, Some(first.clone()));
    assert_eq!(store.run_get(session.id, 1).await?, Some(first.clone()));
    assert_eq!(store.run_get(session.id, 2).await?, None);
    begin(&store, &session).await?;
    let late = store.run_apply(step(&first, vec![said("too late")])).await;
    assert!(matches!(
        late,
        Err(StoreError::Fenced {
            epoch: 1,
            current: 2
        })
    ));
    let stored = store
        .message_list(Reach::All, session.id, 0, PageLimit::MAX)
        .await?;
    assert_eq!(stored, []);
    Ok(())
}

/// A step that moves the journal is stored once, and only behind the one before it.
pub async fn steps_are_stored_once(store: Arc<dyn Store>) -> Outcome {
    let session = idle_session(&store).await?;
    let (run, _) = begin(&store, &session).await?;
    let moving = |after, through, text: &str| RunStep {
        after,
        through,
        ..step(&run, vec![said(text)])
    };
    let one = moving(0, 3, "one");
    assert_eq!(store.run_apply(one.clone()).await?.last_seq, 1);
    assert_eq!(store.run_apply(one).await?.last_seq, 1);
    let ahead = store.run_apply(moving(7, 8, "ahead")).await;
    assert!(matches!(ahead, Err(StoreError::Stale { .. })));
    assert_eq!(store.run_apply(moving(3, 4, "two")).await?.last_seq, 2);
    let stored = store
        .message_list(Reach::All, session.id, 0, PageLimit::MAX)
        .await?;
    let texts: Vec<_> = stored.iter().map(|it| it.text.as_str()).collect();
    assert_eq!(texts, ["one", "two"]);
    let work = store.work_get(session.id).await?.ok_or("no work")?;
    assert_eq!(work.run.map(|run| run.journal_seq), Some(4));
    assert_eq!(work.session.last_words.as_deref(), Some("two"));
    Ok(())
}

/// Each turn is told its own part of what the agent says everything has cost, also when a run counts from nothing again.
pub async fn turns_share_what_a_session_has_cost(store: Arc<dyn Store>) -> Outcome {
    let session = idle_session(&store).await?;
    let mut costs = Vec::new();
    for told in [&[4, 9][..], &[3], &[2, 5]] {
        let turn = turn_value(&session, "do it");
        queue(&store, &session, &turn).await?;
        let (mut run, key) = run_value(&session, costs.len() as u64 + 1)?;
        run.started_at = fixture::now() + SignedDuration::from_mins(costs.len() as i64);
        store.run_begin(&run, &key).await?;
        let conversation = "c-1".to_owned();
        let mut facts = vec![RunFact::Ready { conversation }, started(&turn)];
        facts.extend(told.iter().map(|&micros| RunFact::RunCost { micros }));
        let ending = "killed".to_owned();
        let failed = None;
        facts.push(RunFact::Gone { ending, failed });
        let mut step = step(&run, facts);
        step.at = run.started_at + SignedDuration::from_secs(30);
        let session = store.run_apply(step).await?;
        let turn = store.turn_by_id(turn.id).await?.ok_or("no turn")?;
        costs.push((turn.usage.cost_micros, session.usage.cost_micros));
    }
    assert_eq!(costs, [(9, 9), (3, 12), (5, 17)]);
    Ok(())
}

/// A turn waits, runs and ends, and the session's state, usage and row follow.
pub async fn a_turn_goes_from_the_queue_to_its_end(store: Arc<dyn Store>) -> Outcome {
    let session = idle_session(&store).await?;
    let turn = turn_value(&session, "do it");
    queue(&store, &session, &turn).await?;
    let (run, _) = begin(&store, &session).await?;
    let ready = RunFact::Ready {
        conversation: "c-1".to_owned(),
    };
    let abilities = Abilities {
        load: true,
        resume: false,
    };
    let introduced = RunFact::Introduced(abilities);
    let facts = vec![introduced, ready, started(&turn)];
    let running = store.run_apply(step(&run, facts)).await?;
    assert!(matches!(running.state, SessionState::Running { turn: at, .. } if at == turn.id));
    let work = store.work_get(session.id).await?.ok_or("no work")?;
    assert_eq!(work.running.map(|it| it.id), Some(turn.id));
    assert_eq!(work.next, None);
    let conversation = work.conversation.ok_or("no conversation")?;
    assert_eq!(
        (conversation.name.as_str(), conversation.abilities),
        ("c-1", abilities)
    );
    let usage = Usage {
        input_tokens: 5,
        cached_tokens: 6,
        output_tokens: 7,
        ..Usage::default()
    };
    let ended = RunFact::TurnEnded {
        turn: turn.id,
        state: TurnState::Completed,
        reason: None,
        commit_after: Some("def".to_owned()),
        usage,
        estimate_micros: 0,
    };
    let cost = RunFact::Cost { micros: 9 };
    let idle = store
        .run_apply(step(&run, vec![cost, ended.clone()]))
        .await?;
    assert_eq!(idle.state, SessionState::Idle);
    assert_eq!(
        (
            idle.usage.tokens(),
            idle.usage.turns,
            idle.usage.cost_micros
        ),
        (18, 1, 9)
    );
    let again = store.run_apply(step(&run, vec![ended])).await?;
    assert_eq!(again.usage, idle.usage, "a turn ends once");
    let stored = store.turn_by_id(turn.id).await?.ok_or("no turn")?;
    assert_eq!(stored.state, TurnState::Completed);
    assert_eq!(stored.commit_before.as_deref(), Some("abc"));
    assert_eq!(stored.commit_after.as_deref(), Some("def"));
    assert_eq!(stored.usage.input_tokens, 5);
    assert_eq!(stored.usage.cost_micros, 9);
    assert!(stored.finished_at.is_some());
    Ok(())
}

/// What grows keeps its number: a tool call is one message from its beginning to its end.
pub async fn a_message_with_a_known_reference_is_replaced(store: Arc<dyn Store>) -> Outcome {
    let session = idle_session(&store).await?;
    let (run, _) = begin(&store, &session).await?;
    let call = |text: &str, detail: &str| RunFact::Message {
        reference: Some("call-1".to_owned()),
        message: NewMessage {
            detail: Some(detail.to_owned()),
            ..message(MessageKind::ToolCall, text)
        },
    };
    let facts = vec![call("begun", "{}"), said("between")];
    store.run_apply(step(&run, facts)).await?;
    let after = store
        .run_apply(step(&run, vec![call("done", "[1]")]))
        .await?;
    assert_eq!(after.last_seq, 2);
    let stored = store
        .message_list(Reach::All, session.id, 0, PageLimit::MAX)
        .await?;
    let seen: Vec<_> = stored
        .iter()
        .map(|it| (it.seq, it.text.as_str(), it.detail.as_deref()))
        .collect();
    assert_eq!(seen, [(1, "done", Some("[1]")), (2, "between", None)]);
    let found = store
        .message_search(Reach::All, "begun", PageRequest::first(PageLimit::MAX))
        .await?;
    let mut found = found.items.iter();
    assert!(found.all(|hit| hit.message.session != session.id));
    Ok(())
}

/// When a process is gone, its turn has failed, its token is dead, and the session says what happened.
pub async fn a_process_that_is_gone_takes_its_turn_with_it(store: Arc<dyn Store>) -> Outcome {
    let session = idle_session(&store).await?;
    let turn = turn_value(&session, "never ends");
    queue(&store, &session, &turn).await?;
    let (run, key) = begin(&store, &session).await?;
    let asked = super::approval::approval_value(&run, &turn, "1");
    let facts = vec![started(&turn), RunFact::Asked(asked.clone())];
    let waiting = store.run_apply(step(&run, facts)).await?;
    assert_eq!(waiting.state.name(), SessionStateName::Waiting);
    let gone = RunFact::Gone {
        ending: "killed".to_owned(),
        failed: None,
    };
    let after = store.run_apply(step(&run, vec![gone])).await?;
    assert_eq!(after.state, SessionState::Interrupted);
    let stored = store.turn_by_id(turn.id).await?.ok_or("no turn")?;
    assert_eq!(
        (stored.state, stored.reason.as_deref()),
        (TurnState::Failed, Some("killed"))
    );
    let approval = store.approval_find(Reach::All, &whole(asked.id)).await?;
    assert_eq!(approval[0].state, ApprovalState::Withdrawn);
    let key = store.key_by_hash(&key.hash).await?.ok_or("no key")?;
    assert!(key.revoked_at.is_some());
    let work = store.work_get(session.id).await?.ok_or("no work")?;
    assert_eq!(
        work.run.and_then(|run| run.ending).as_deref(),
        Some("killed")
    );
    assert_eq!(work.approvals, []);
    Ok(())
}

/// A session is listed while a run is open or a prompt waits, and not when nothing is to be done.
pub async fn work_is_listed_until_it_is_done(store: Arc<dyn Store>) -> Outcome {
    let session = idle_session(&store).await?;
    let is_listed = async || -> Made<bool> { Ok(store.work_list().await?.contains(&session.id)) };
    assert!(!is_listed().await?);
    let turn = turn_value(&session, "hello");
    queue(&store, &session, &turn).await?;
    assert!(is_listed().await?);
    let (run, _) = begin(&store, &session).await?;
    let ended = RunFact::TurnEnded {
        turn: turn.id,
        state: TurnState::Completed,
        reason: None,
        commit_after: None,
        usage: Usage::default(),
        estimate_micros: 0,
    };
    store
        .run_apply(step(&run, vec![started(&turn), ended]))
        .await?;
    assert!(is_listed().await?, "its process is there");
    let gone = RunFact::Gone {
        ending: "put away".to_owned(),
        failed: None,
    };
    let after = store.run_apply(step(&run, vec![gone])).await?;
    assert_eq!(after.state, SessionState::Idle);
    assert!(!is_listed().await?);
    Ok(())
}

/// Runs are listed latest first, with what their agents wrote to stderr and whether they went on with a conversation.
pub async fn are_listed_latest_first_with_their_stderr(store: Arc<dyn Store>) -> Outcome {
    let session = idle_session(&store).await?;
    for (conversation, text) in [("c-1", "one"), ("c-2", ""), ("c-1", "three")] {
        let (run, _) = begin(&store, &session).await?;
        let conversation = conversation.to_owned();
        let mode = format!("mode {text}");
        let mut facts = vec![RunFact::Ready { conversation }, RunFact::Mode { mode }];
        if !text.is_empty() {
            let text = text.to_owned();
            facts.push(RunFact::Stderr { text });
        }
        let (ending, failed) = ("stopped".to_owned(), None);
        facts.push(RunFact::Gone { ending, failed });
        store.run_apply(step(&run, facts)).await?;
    }
    let listed = fixture::pages(2, |page| store.run_list(session.id, page)).await?;
    let told: Vec<_> = listed
        .iter()
        .map(|entry| (entry.run.epoch, entry.resumed, entry.stderr.as_deref()))
        .collect();
    let expected = [
        (3, true, Some("three")),
        (2, false, None),
        (1, false, Some("one")),
    ];
    assert_eq!(told, expected);
    let modes: Vec<_> = listed.iter().map(|it| it.mode.as_deref()).collect();
    assert_eq!(modes, ["mode three", "mode ", "mode one"].map(Some));
    let other = idle_session(&store).await?;
    assert_eq!(
        fixture::pages(2, |page| store.run_list(other.id, page)).await?,
        []
    );
    Ok(())
}

/// The model that an agent uses is kept with its session, what it offers with the agent, and its commands with the run.
pub async fn keep_models_and_commands(store: Arc<dyn Store>) -> Outcome {
    let session = idle_session(&store).await?;
    let agent = &session.agent;
    let (run, _) = begin(&store, &session).await?;
    let model = |id: &str| OfferedModel {
        id: id.to_owned(),
        name: format!("Model {id}"),
    };
    let offered = vec![model("small"), model("large \"quoted\"")];
    let command = AgentCommand {
        name: "init".to_owned(),
        about: "does it".to_owned(),
    };
    let facts = vec![
        RunFact::Models {
            models: offered.clone(),
        },
        RunFact::Model {
            model: "small".to_owned(),
        },
        RunFact::Commands {
            commands: vec![command.clone()],
        },
    ];
    let after = store.run_apply(step(&run, facts)).await?;
    assert_eq!(after.current_model.as_deref(), Some("small"));
    let found = store
        .session_find(Reach::All, &fixture::whole(session.id))
        .await?;
    assert_eq!(found[0].current_model.as_deref(), Some("small"));
    assert_eq!(store.agent_models(agent).await?, offered);
    assert_eq!(
        store
            .agent_models(&AgentName::parse("no-such-agent")?)
            .await?,
        []
    );
    assert_eq!(store.run_commands(session.id, run.epoch).await?, [command]);
    assert_eq!(store.run_commands(session.id, run.epoch + 1).await?, []);
    let fewer = vec![RunFact::Models {
        models: vec![model("other")],
    }];
    store.run_apply(step(&run, fewer)).await?;
    assert_eq!(store.agent_models(agent).await?, [model("other")]);
    Ok(())
}

/// What a program writes to stderr is stored while its run lives, and said only when it is another.
pub async fn a_log_is_told_while_it_lives_and_when_it_changes(store: Arc<dyn Store>) -> Outcome {
    let session = idle_session(&store).await?;
    let (run, _) = begin(&store, &session).await?;
    let before = *store.event_watch().borrow();
    let log = async |epoch: u64, text: &str| {
        let text = text.to_owned();
        store.run_log(session.id, epoch, text, run.started_at).await
    };
    for text in ["one", "one", "two"] {
        log(run.epoch, text).await?;
    }
    log(run.epoch + 1, "of no run").await?;
    let (ending, failed) = ("stopped".to_owned(), None);
    let gone = RunFact::Gone { ending, failed };
    store.run_apply(step(&run, vec![gone])).await?;
    log(run.epoch, "too late").await?;

    let listed = fixture::pages(2, |page| store.run_list(session.id, page)).await?;
    let told: Vec<_> = listed.iter().map(|it| it.stderr.as_deref()).collect();
    assert_eq!(told, [Some("two")]);
    let reach = Reach::Tree(session.id);
    let events = store
        .event_list(reach, before, PageLimit::MAX)
        .await?
        .events;
    let said = events
        .iter()
        .filter(|it| it.body.kind == EventKind::LogChanged);
    assert_eq!(said.count(), 2);
    Ok(())
}
