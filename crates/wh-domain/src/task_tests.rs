use newtype_uuid::GenericUuid;
use proptest::prelude::*;
use uuid::Uuid;

use super::*;

fn task(n: u8) -> TaskId {
    TaskId::from_untyped_uuid(Uuid::from_u128(u128::from(n) + 1))
}

#[test]
fn words_read_back() {
    for status in TaskStatus::ALL {
        assert_eq!(TaskStatus::parse(status.as_str()), Some(status));
    }
    for kind in NoteKind::ALL {
        assert_eq!(NoteKind::parse(kind.as_str()), Some(kind));
    }
    assert_eq!(TaskPriority::new(0).map(TaskPriority::get), Some(0));
    assert_eq!(TaskPriority::new(5), None);
}

#[test]
fn circles_are_refused_and_diamonds_are_not() {
    let others = HashMap::from([
        (task(1), vec![task(2), task(3)]),
        (task(2), vec![task(4)]),
        (task(3), vec![task(4)]),
    ]);
    let check = |n, wanted: &[TaskId]| check_dependencies(task(n), wanted, &others);
    assert_eq!(check(1, &[task(2), task(3), task(4)]), Ok(()));
    assert_eq!(check(5, &[task(1)]), Ok(()));
    assert_eq!(check(4, &[task(1)]), Err(DependencyRefusal::Cycle));
    assert_eq!(check(4, &[task(4)]), Err(DependencyRefusal::Itself));
    let many: Vec<_> = (10..70).map(task).collect();
    assert_eq!(check(1, &many), Err(DependencyRefusal::TooMany));
}

#[test]
fn what_an_agent_is_at_work_on_is_its_own_until_its_time_is_over() {
    let session = |n| Holder::Session(SessionId::from_untyped_uuid(Uuid::from_u128(n)));
    let at = Timestamp::UNIX_EPOCH;
    let mut held = Task {
        id: task(1),
        list: TaskListId::from_untyped_uuid(Uuid::from_u128(1)),
        number: 1,
        content: TaskText::parse("work").unwrap(),
        status: TaskStatus::InProgress,
        priority: TaskPriority::default(),
        depends_on: Vec::new(),
        claim: Some(TaskClaim {
            holder: session(1),
            until: None,
        }),
        created_at: at,
        updated_at: at,
    };
    assert!(held.may_be_changed(session(1), at));
    assert!(!held.may_be_changed(session(2), at));
    assert!(held.may_be_changed(Holder::Caller(None), at));
    held.claim = held.claim.map(|claim| TaskClaim {
        until: Some(at),
        ..claim
    });
    assert!(held.may_be_changed(session(2), at));
}

proptest! {
    /// However dependencies are added one by one, those that were let through never form a circle.
    #[test]
    fn there_is_always_an_order(wanted in prop::collection::vec((0u8..12, 0u8..12), 0..80)) {
        let mut others: HashMap<TaskId, Vec<TaskId>> = HashMap::new();
        for (from, to) in wanted {
            let mut next = others.get(&task(from)).cloned().unwrap_or_default();
            next.push(task(to));
            if check_dependencies(task(from), &next, &others).is_ok() {
                others.insert(task(from), next);
            }
        }
        let mut left: HashSet<TaskId> = (0..12).map(task).collect();
        while !left.is_empty() {
            let free = |id: &TaskId| others.get(id).into_iter().flatten().all(|it| !left.contains(it));
            let ready: Vec<_> = left.iter().copied().filter(|id| free(id)).collect();
            prop_assert!(!ready.is_empty(), "nothing can begin");
            for id in ready {
                left.remove(&id);
            }
        }
    }
}
