use newtype_uuid::GenericUuid;
use uuid::Uuid;

use super::*;
use crate::{Credential, KeyId, RoleSet, SessionId, SessionRole, UserId, loops::tests::at_work};

fn ended(outcome: LoopOutcome) -> Loop {
    Loop {
        state: LoopState::Ended { after: 3, outcome },
        usage: Usage {
            output_tokens: 100,
            cost_micros: 1_500_000,
            turns: 3,
            ..Usage::default()
        },
        idle: 1,
        ..at_work(3)
    }
}

fn spent() -> LoopOutcome {
    LoopOutcome::Budget {
        part: "tokens".to_owned(),
    }
}

fn tokens(limit: Option<u64>) -> LoopTerms {
    LoopTerms {
        budget: BudgetPatch {
            tokens: Some(limit),
            ..BudgetPatch::default()
        },
        iterations_max: None,
    }
}

fn iterations(max: u32) -> LoopTerms {
    LoopTerms {
        iterations_max: Some(max),
        ..LoopTerms::default()
    }
}

fn refusal(result: Result<Option<Loop>, LoopRefusal>) -> String {
    result.unwrap_err().to_string()
}

const NO_LIMIT: Budget = Budget {
    tokens: None,
    cost_micros: None,
    wall_seconds: None,
    turns: None,
};

#[test]
fn a_loop_that_reached_a_limit_continues_when_its_limits_leave_room() {
    let it = ended(spent());
    for terms in [tokens(Some(101)), tokens(None)] {
        let after = it.resumed(terms, NO_LIMIT).unwrap().unwrap();
        assert_eq!(after.state, LoopState::Beginning { iteration: 4 });
        assert_eq!((after.wish, after.idle), (LoopWish::Run, 0));
        assert_eq!(after.budget.tokens, terms.budget.limits().tokens);
        assert_eq!(after.changed_limits(&it), [LoopLimit::Tokens]);
    }
    let mut it = ended(LoopOutcome::Limit);
    (it.iterations_max, it.budget) = (3, NO_LIMIT);
    let after = it.resumed(iterations(4), NO_LIMIT).unwrap().unwrap();
    assert_eq!((after.iterations_max, after.state.iteration()), (4, 4));
}

#[test]
fn the_refusal_names_every_limit_that_is_too_low() {
    let mut it = ended(spent());
    (it.iterations_max, it.budget.cost_micros) = (3, Some(1_000_000));
    let too_little = LoopTerms {
        iterations_max: Some(2),
        ..tokens(Some(100))
    };
    assert_eq!(
        refusal(it.resumed(too_little, NO_LIMIT)),
        "the loop cannot continue: it has used 100 of at most 100 tokens, $1.50 of at most $1.00, \
         3 of at most 2 iterations"
    );
    let none = it.resumed(LoopTerms::default(), NO_LIMIT);
    assert!(matches!(none, Err(LoopRefusal::NoRoom { .. })));
    // What is left of the budget of the session that started it counts too.
    let above = Budget {
        turns: Some(0),
        ..NO_LIMIT
    };
    let it = ended(spent());
    let starter = refusal(it.resumed(tokens(Some(200)), above));
    assert!(starter.contains("turns"), "{starter}");
}

#[test]
fn a_loop_that_ended_for_another_reason_stays_ended() {
    let failed = LoopOutcome::Failed {
        reason: "no".to_owned(),
    };
    for outcome in [
        LoopOutcome::Completed,
        LoopOutcome::Stalled,
        LoopOutcome::Stopped,
        failed,
    ] {
        let resumed = ended(outcome.clone()).resumed(tokens(None), NO_LIMIT);
        assert_eq!(resumed, Err(LoopRefusal::Ended { outcome }));
    }
    let it = ended(spent());
    assert!(refusal(it.paused_or_stopped(LoopWish::Pause)).contains("has ended"));
    assert_eq!(it.paused_or_stopped(LoopWish::Stop), Ok(None));
}

#[test]
fn limits_are_changed_between_iterations_alone() {
    let it = at_work(2);
    assert_eq!(it.resumed(LoopTerms::default(), NO_LIMIT), Ok(None));
    // A repeat of the request finds what it asked for.
    assert_eq!(it.resumed(tokens(Some(100)), NO_LIMIT), Ok(None));
    assert_eq!(
        it.resumed(tokens(Some(200)), NO_LIMIT),
        Err(LoopRefusal::AtWork { state: "running" })
    );
    let asked = it.paused_or_stopped(LoopWish::Pause).unwrap().unwrap();
    let kept = asked.resumed(LoopTerms::default(), NO_LIMIT);
    assert_eq!(kept, Ok(Some(it)));
    let paused = Loop {
        state: LoopState::Paused { after: 2 },
        ..asked
    };
    assert_eq!(paused.paused_or_stopped(LoopWish::Pause), Ok(None));
    let resumed = paused.resumed(iterations(9), NO_LIMIT).unwrap().unwrap();
    assert_eq!((resumed.iterations_max, resumed.state.iteration()), (9, 3));
    assert!(paused.resumed(iterations(2), NO_LIMIT).is_err());
}

#[test]
fn people_set_limits_and_members_only_up_to_those_of_the_server() {
    let id = Uuid::from_u128(1);
    let key = KeyId::from_untyped_uuid(id);
    let caller = |role, credential| Principal {
        user: UserId::from_untyped_uuid(id),
        role,
        credential,
    };
    let full = Credential::Full { key };
    let agent = |role| Credential::Session {
        key,
        session: SessionId::from_untyped_uuid(id),
        role,
        lineage: RoleSet::default(),
        epoch: 1,
    };
    let server = Budget {
        tokens: Some(1_000),
        ..NO_LIMIT
    };
    let member = caller(UserRole::Member, full.clone());
    for (limit, expected) in [
        (Some(1_000), Ok(())),
        (Some(1_001), Err(LoopRefusal::AboveServer)),
        (None, Err(LoopRefusal::AboveServer)),
    ] {
        assert_eq!(tokens(limit).check_set_by(&member, server), expected);
        let admin = caller(UserRole::Admin, full.clone());
        assert_eq!(tokens(limit).check_set_by(&admin, server), Ok(()));
    }
    for role in [SessionRole::Lead, SessionRole::General] {
        let agent = caller(UserRole::Admin, agent(role));
        for terms in [tokens(Some(1)), iterations(2)] {
            let refused = terms.check_set_by(&agent, NO_LIMIT);
            assert_eq!(refused, Err(LoopRefusal::ByAgent));
        }
        let none = LoopTerms::default().check_set_by(&agent, NO_LIMIT);
        assert_eq!(none, Ok(()));
    }
}
