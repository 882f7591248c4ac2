use newtype_uuid::GenericUuid;
use proptest::prelude::*;
use uuid::Uuid;

use super::*;

fn at(second: i64) -> Timestamp {
    Timestamp::from_second(second).unwrap()
}

fn event() -> impl Strategy<Value = SessionEvent> {
    use SessionEvent as E;
    prop_oneof![
        Just(E::ProcessReady),
        (any::<u128>(), 0i64..1_000).prop_map(|(id, s)| E::TurnStarted {
            turn: TurnId::from_untyped_uuid(Uuid::from_u128(id)),
            at: at(s),
        }),
        Just(E::ApprovalRequested),
        Just(E::ApprovalSettled),
        Just(E::TurnFinished),
        any::<u128>().prop_map(|id| E::ReviewStarted {
            review: ReviewId::from_untyped_uuid(Uuid::from_u128(id)),
        }),
        Just(E::ReviewFinished),
        (0i64..1_000).prop_map(|s| E::StopRequested { kill_at: at(s) }),
        Just(E::ProcessGone),
        Just(E::ResumeRequested),
        Just(E::WorkCompleted),
        Just(E::WorkFailed {
            reason: "why".into()
        }),
        Just(E::ReviewerDone),
        Just(E::WorkAbandoned),
    ]
}

/// The moves the design declares, by name; a session may make no other.
fn is_declared(from: SessionStateName, to: SessionStateName) -> bool {
    use SessionStateName as N;
    if from == to {
        return matches!(from, N::Idle | N::Waiting | N::Reviewing | N::Stopping);
    }
    match (from, to) {
        (_, N::Failed | N::Abandoned) => !from.is_end(),
        (_, N::Stopping) => !from.is_end() && from != N::Stopped,
        (N::Creating, N::Idle | N::Interrupted)
        | (N::Idle, N::Running | N::Reviewing | N::Completed | N::Terminated)
        | (N::Running, N::Idle | N::Waiting | N::Interrupted | N::Completed | N::Terminated)
        | (N::Waiting, N::Running | N::Idle | N::Interrupted)
        | (N::Reviewing, N::Running | N::Idle | N::Completed)
        | (N::Stopping, N::Stopped)
        | (N::Stopped | N::Interrupted, N::Creating) => true,
        _ => false,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn random_events_never_panic_and_make_only_declared_moves(events in prop::collection::vec(event(), 0..60)) {
        let mut state = SessionState::Creating;
        for event in events {
            match state.next(event) {
                Ok(next) => {
                    prop_assert!(!state.name().is_end(), "left the end {state:?}");
                    prop_assert!(is_declared(state.name(), next.name()), "{state:?} -> {next:?}");
                    state = next;
                }
                Err(refused) => prop_assert_eq!(refused.state, state.name()),
            }
        }
    }

    #[test]
    fn replaying_the_accepted_events_gives_the_same_state(events in prop::collection::vec(event(), 0..60)) {
        let mut state = SessionState::Creating;
        let mut accepted = Vec::new();
        for event in events {
            if let Ok(next) = state.next(event.clone()) {
                accepted.push(event);
                state = next;
            }
        }
        let replayed = accepted
            .into_iter()
            .try_fold(SessionState::Creating, |state, event| state.next(event));
        prop_assert_eq!(replayed, Ok(state));
    }
}

#[test]
fn a_second_stop_cannot_postpone_the_kill() {
    let stopping = SessionState::Stopping { kill_at: at(10) };
    let later = stopping.next(SessionEvent::StopRequested { kill_at: at(99) });
    assert_eq!(later, Ok(SessionState::Stopping { kill_at: at(10) }));
}

#[test]
fn every_pending_approval_must_be_settled_before_work_goes_on() {
    let turn = TurnId::from_untyped_uuid(Uuid::from_u128(1));
    let mut state = SessionState::Running { turn, since: at(0) };
    for event in [
        SessionEvent::ApprovalRequested,
        SessionEvent::ApprovalRequested,
        SessionEvent::ApprovalSettled,
    ] {
        state = state.next(event).unwrap();
    }
    assert_eq!(state.name(), SessionStateName::Waiting);
    state = state.next(SessionEvent::ApprovalSettled).unwrap();
    assert_eq!(state, SessionState::Running { turn, since: at(0) });
}

#[test]
fn names_read_back() {
    for name in SessionStateName::ALL {
        assert_eq!(SessionStateName::parse(name.as_str()), Some(name));
    }
}
