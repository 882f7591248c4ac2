use newtype_uuid::GenericUuid;
use proptest::prelude::*;
use uuid::Uuid;

use super::*;
use crate::UserId;

pub(crate) fn at_work(iteration: u32) -> Loop {
    let id = Uuid::from_u128(1);
    Loop {
        id: LoopId::from_untyped_uuid(id),
        owner: Owner {
            user: UserId::from_untyped_uuid(id),
            key: None,
        },
        title: Title::parse("work").unwrap(),
        repo: RepoId::from_untyped_uuid(id),
        worktree: WorktreeId::from_untyped_uuid(id),
        board: None,
        agent: AgentName::parse("echo").unwrap(),
        mode: None,
        model: None,
        mcp_dialect: McpDialect::Native,
        policy: Policy::default(),
        spec: LoopSpec::parse("do it").unwrap(),
        template: None,
        iterations_max: 5,
        budget: Budget {
            tokens: Some(100),
            ..Budget::default()
        },
        started_by: None,
        tier: None,
        hosts: None,
        usage: Usage::default(),
        state: LoopState::Running {
            iteration,
            session: SessionId::from_untyped_uuid(id),
        },
        wish: LoopWish::Run,
        idle: 0,
        revision: 1,
        created_at: Timestamp::UNIX_EPOCH,
        updated_at: Timestamp::UNIX_EPOCH,
    }
}

fn facts(end: IterationEnd, changed: bool) -> LoopFacts {
    LoopFacts {
        ended: Some((end, changed)),
        is_complete: false,
        usage: Usage::default(),
    }
}

fn failed() -> IterationEnd {
    IterationEnd::Failed {
        reason: "no".to_owned(),
    }
}

fn outcome(it: &Loop) -> Option<&'static str> {
    match &it.state {
        LoopState::Ended { outcome, .. } => Some(outcome.as_str()),
        _ => None,
    }
}

#[test]
fn an_iteration_that_changed_something_is_followed_by_another() {
    let after = at_work(2).step(&facts(IterationEnd::Done, true));
    assert_eq!(after.state, LoopState::Beginning { iteration: 3 });
    // One that failed too: the next may do better.
    let after = at_work(2).step(&facts(failed(), true));
    assert_eq!((after.idle, after.state.iteration()), (0, 3));
}

#[test]
fn two_that_change_nothing_end_it_and_say_so() {
    let once = at_work(1).step(&facts(IterationEnd::Done, false));
    assert_eq!((once.idle, once.state.name()), (1, "beginning"));
    let again = Loop {
        state: at_work(2).state,
        ..once.clone()
    };
    let twice = again.step(&facts(IterationEnd::Done, false));
    assert_eq!(outcome(&twice), Some("stalled"));
    let twice = again.step(&facts(failed(), false));
    assert_eq!(outcome(&twice), Some("failed"));
    // One that changes something in between begins the count anew.
    let better = again.step(&facts(IterationEnd::Done, true));
    assert_eq!((better.idle, outcome(&better)), (0, None));
}

#[test]
fn what_was_wished_for_and_what_is_done_come_before_limits() {
    let mut last = at_work(5);
    assert_eq!(
        outcome(&last.step(&facts(IterationEnd::Done, true))),
        Some("limit")
    );
    let complete = LoopFacts {
        is_complete: true,
        ..facts(IterationEnd::Done, true)
    };
    assert_eq!(outcome(&last.step(&complete)), Some("completed"));
    last.wish = LoopWish::Stop;
    assert_eq!(outcome(&last.step(&complete)), Some("stopped"));
    let mut paused = at_work(2);
    paused.wish = LoopWish::Pause;
    let rests = paused.step(&facts(IterationEnd::Done, true));
    assert_eq!(rests.state, LoopState::Paused { after: 2 });
    // Somebody who ends an iteration by hand wants to look at it.
    let rests = at_work(2).step(&facts(IterationEnd::Cancelled, false));
    assert_eq!(rests.state, LoopState::Paused { after: 2 });
}

#[test]
fn a_budget_that_is_used_up_ends_it() {
    let spent = LoopFacts {
        usage: Usage {
            output_tokens: 100,
            ..Usage::default()
        },
        ..facts(IterationEnd::Cancelled, true)
    };
    let after = at_work(2).step(&spent);
    assert_eq!(outcome(&after), Some("budget"));
    assert_eq!(after.budget_left().tokens, Some(0));
}

#[test]
fn before_an_iteration_only_what_holds_then_counts() {
    let mut next = at_work(1);
    next.state = LoopState::Beginning { iteration: 1 };
    let now = LoopFacts {
        ended: None,
        is_complete: false,
        usage: Usage::default(),
    };
    assert_eq!(next.step(&now), next);
    next.wish = LoopWish::Pause;
    assert_eq!(next.step(&now).state, LoopState::Paused { after: 0 });
    next.wish = LoopWish::Stop;
    assert_eq!(outcome(&next.step(&now)), Some("stopped"));
}

fn any_facts() -> impl Strategy<Value = LoopFacts> {
    let end = prop_oneof![
        Just(IterationEnd::Done),
        Just(IterationEnd::Cancelled),
        Just(failed())
    ];
    (end, any::<bool>(), prop::bool::weighted(0.1), 0u64..120).prop_map(
        |(end, changed, is_complete, output_tokens)| LoopFacts {
            ended: Some((end, changed)),
            is_complete,
            usage: Usage {
                output_tokens,
                ..Usage::default()
            },
        },
    )
}

proptest! {
    /// Whatever happens, a loop that is resumed each time it pauses ends, and has no more iterations than it may.
    #[test]
    fn every_loop_ends(story in prop::collection::vec(any_facts(), 8)) {
        let mut it = at_work(1);
        for facts in story {
            let session = at_work(1).state.session().unwrap();
            it = it.step(&facts);
            prop_assert!(it.state.iteration() <= it.iterations_max);
            let iteration = match it.state {
                LoopState::Ended { .. } => break,
                LoopState::Paused { after } => after + 1,
                _ => it.state.iteration(),
            };
            it.state = LoopState::Running { iteration, session };
        }
        prop_assert!(it.state.is_end());
    }
}
