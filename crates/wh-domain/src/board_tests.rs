use newtype_uuid::GenericUuid;
use uuid::Uuid;

use super::*;
use crate::UserId;

fn zone_id(n: u128) -> ZoneId {
    ZoneId::from_untyped_uuid(Uuid::from_u128(n))
}

fn item(n: u128) -> BoardItem {
    BoardItem::Worktree(WorktreeId::from_untyped_uuid(Uuid::from_u128(n)))
}

fn name(text: &str) -> Name {
    Name::parse(text).unwrap()
}

fn new_zone(n: u128, text: &str) -> ZoneChange {
    ZoneChange {
        id: zone_id(n),
        is_new: true,
        name: Some(name(text)),
        color: None,
        rect: None,
        prompt_template: None,
        no_prompt: false,
        agent: None,
    }
}

fn at(item: BoardItem, x: f64, zone: Option<ZoneId>) -> Placement {
    Placement {
        item,
        position: Position { x, y: 0.0 },
        zone,
    }
}

fn board() -> Board {
    let empty = Board {
        id: BoardId::from_untyped_uuid(Uuid::from_u128(1)),
        owner: Owner {
            user: UserId::from_untyped_uuid(Uuid::from_u128(2)),
            key: None,
        },
        name: name("board"),
        description: None,
        zones: vec![],
        placements: vec![],
        shares: vec![],
        revision: 1,
        created_at: Timestamp::UNIX_EPOCH,
        updated_at: Timestamp::UNIX_EPOCH,
    };
    let patch = BoardPatch {
        zones: vec![new_zone(10, "todo"), new_zone(11, "done")],
        placements: vec![at(item(20), 1.0, Some(zone_id(10)))],
        ..BoardPatch::default()
    };
    empty.apply(patch, Timestamp::UNIX_EPOCH).unwrap()
}

fn apply(patch: BoardPatch) -> Result<Board, BoardRefusal> {
    board().apply(patch, Timestamp::UNIX_EPOCH)
}

#[test]
fn new_zones_lie_beside_each_other() {
    let zones = board().zones;
    assert_eq!((zones[0].rect.x, zones[1].rect.x), (0.0, 440.0));
}

#[test]
fn placing_again_moves() {
    let board = apply(BoardPatch {
        placements: vec![at(item(20), 7.0, None)],
        ..BoardPatch::default()
    })
    .unwrap();
    assert_eq!(board.placements, vec![at(item(20), 7.0, None)]);
    assert_eq!(board.revision, 3);
}

#[test]
fn removing_a_zone_keeps_what_lay_in_it() {
    let board = apply(BoardPatch {
        zones_removed: vec![zone_id(10)],
        ..BoardPatch::default()
    })
    .unwrap();
    assert_eq!(board.zones.len(), 1);
    assert_eq!(board.placements, vec![at(item(20), 1.0, None)]);
}

#[test]
fn bad_changes_are_refused_whole() {
    let unknown = BoardPatch {
        name: Some(name("other")),
        placements: vec![at(item(21), 0.0, Some(zone_id(99)))],
        ..BoardPatch::default()
    };
    assert_eq!(
        apply(unknown),
        Err(BoardRefusal::NoZone { id: zone_id(99) })
    );
    let nowhere = BoardPatch {
        placements: vec![at(item(21), f64::NAN, None)],
        ..BoardPatch::default()
    };
    assert_eq!(apply(nowhere), Err(BoardRefusal::OutOfBounds));
    let twice = BoardPatch {
        zones: vec![new_zone(12, "todo")],
        ..BoardPatch::default()
    };
    assert!(matches!(
        apply(twice),
        Err(BoardRefusal::ZoneNameTaken { .. })
    ));
    let nameless = BoardPatch {
        zones: vec![ZoneChange {
            name: None,
            ..new_zone(12, "x")
        }],
        ..BoardPatch::default()
    };
    assert_eq!(apply(nameless), Err(BoardRefusal::ZoneWithoutName));
}

#[test]
fn a_duplicate_has_its_own_zones_and_worktrees_on_request() {
    let board = board();
    let copy = |with_worktrees| {
        let mut next = 100;
        let copy = BoardCopy {
            id: BoardId::from_untyped_uuid(Uuid::from_u128(50)),
            owner: board.owner,
            name: name("copy"),
            with_worktrees,
            now: Timestamp::UNIX_EPOCH,
        };
        board.duplicate(copy, || {
            next += 1;
            zone_id(next)
        })
    };
    assert_eq!(copy(false).placements, vec![]);
    let full = copy(true);
    assert_eq!(full.zones[0].id, zone_id(101));
    assert_eq!(full.placements, vec![at(item(20), 1.0, Some(zone_id(101)))]);
}

#[test]
fn colours_are_six_digits() {
    assert_eq!(Color::parse("#0aF09c").unwrap().to_string(), "#0af09c");
    for bad in ["0af09c", "#0af", "#gggggg", "#+1234a", "red"] {
        assert!(Color::parse(bad).is_err(), "{bad}");
    }
}

#[test]
fn what_comes_into_a_zone_has_entered_and_what_stays_or_leaves_has_not() {
    let board = board();
    let entered = |placements: Vec<Placement>| {
        let patch = BoardPatch {
            placements,
            ..BoardPatch::default()
        };
        let next = board.apply(patch, Timestamp::UNIX_EPOCH).unwrap();
        let found = next.entered(&board).into_iter();
        found
            .map(|(item, zone)| (item, zone.id))
            .collect::<Vec<_>>()
    };
    let (todo, done) = (Some(zone_id(10)), Some(zone_id(11)));
    // Moved within its zone, or out of it.
    assert_eq!(entered(vec![at(item(20), 9.0, todo)]), []);
    assert_eq!(entered(vec![at(item(20), 9.0, None)]), []);
    // From one zone into another, and from nowhere.
    let moved = entered(vec![at(item(20), 9.0, done), at(item(21), 1.0, todo)]);
    assert_eq!(moved, [(item(20), zone_id(11)), (item(21), zone_id(10))]);
    assert_eq!(entered(vec![at(item(22), 1.0, None)]), []);
}
