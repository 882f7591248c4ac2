//! Checks of boards.

use std::sync::Arc;

use tokio::task::JoinSet;
use wh_domain::{
    Board, BoardFilter, BoardItem, Color, Description, KeyScope, Name, Operation, Owner, Placement,
    Position, PromptTemplate, Reach, Rect, Zone,
};

use super::Outcome;
use super::fixture::{self, Made, commit, commit_with_event, done, now, owned_by, pages, whole};
use crate::{Store, StoreError};

/// Returns a board with everything a board can have.
fn full_board(owner: Owner) -> Made<Board> {
    let mut board = fixture::board_value(owner)?;
    board.description = Some(Description::parse("two\nlines \u{1f980}")?);
    board.zones = (0..3)
        .map(|n| {
            Ok(Zone {
                id: fixture::id(),
                name: Name::parse(&format!("zone {n}"))?,
                color: (n != 1).then(|| Color::parse("#00ff7f")).transpose()?,
                rect: Rect {
                    x: -0.1 * f64::from(n),
                    y: 1e7,
                    width: f64::MIN_POSITIVE,
                    height: 0.1 + 0.2,
                },
                prompt_template: Some(PromptTemplate::parse("do {{ title }}")?),
                agent: None,
            })
        })
        .collect::<Made<_>>()?;
    let zone = board.zones[1].id;
    board.placements = (0..40)
        .map(|n: u32| Placement {
            item: if n.is_multiple_of(2) {
                BoardItem::Session(fixture::id())
            } else {
                BoardItem::Worktree(fixture::id())
            },
            position: Position {
                x: f64::from(n) / 3.0,
                y: -f64::from(n),
            },
            zone: n.is_multiple_of(3).then_some(zone),
        })
        .collect();
    Ok(board)
}

/// A board is found exactly as it was inserted, with its zones and placements in their order.
pub async fn is_found_as_it_was_inserted(store: Arc<dyn Store>) -> Outcome {
    let owner = owned_by(fixture::user(&store).await?.id);
    let plain = fixture::board(&store, owner).await?;
    let full = full_board(owner)?;
    done(
        store
            .board_insert(&full, commit(owner.user, Operation::BoardCreate))
            .await?,
    );
    for board in [plain, full] {
        for _ in 0..2 {
            let found = store.board_find(Reach::All, &whole(board.id)).await?;
            assert_eq!(found, [Arc::new(board.clone())]);
        }
    }
    assert_eq!(
        store
            .board_find(Reach::All, &whole(fixture::id::<wh_domain::BoardKind>()))
            .await?,
        []
    );
    Ok(())
}

/// A save replaces the zones and placements, too; one against an older revision, or of no board, changes nothing.
pub async fn is_saved_with_everything_on_it(store: Arc<dyn Store>) -> Outcome {
    let owner = owned_by(fixture::user(&store).await?.id);
    let first = full_board(owner)?;
    done(
        store
            .board_insert(&first, commit(owner.user, Operation::BoardCreate))
            .await?,
    );
    let mut second = first.clone();
    second.revision += 1;
    second.updated_at = now();
    second.name = Name::parse("renamed")?;
    second.description = None;
    second.zones.remove(0);
    second.placements.reverse();
    second.placements.truncate(5);
    done(
        store
            .board_save(&second, commit(owner.user, Operation::BoardUpdate))
            .await?,
    );
    let id = whole(first.id);
    let find = || store.board_find(Reach::All, &id);
    assert_eq!(find().await?, [Arc::new(second.clone())]);
    for stale in [&first, &second] {
        let refused = store
            .board_save(stale, commit(owner.user, Operation::BoardUpdate))
            .await;
        assert!(
            matches!(refused, Err(StoreError::Stale { .. })),
            "{refused:?}"
        );
    }
    let mut absent = full_board(owner)?;
    absent.revision = 2;
    let refused = store
        .board_save(&absent, commit(owner.user, Operation::BoardUpdate))
        .await;
    assert!(
        matches!(refused, Err(StoreError::NotFound { .. })),
        "{refused:?}"
    );
    assert_eq!(find().await?, [Arc::new(second)]);
    Ok(())
}

/// Of many saves against one revision exactly one wins; the others are told, and the revisions have no gap.
pub async fn one_of_many_saves_of_a_revision_wins(store: Arc<dyn Store>) -> Outcome {
    const WRITERS: u64 = 16;
    const ROUNDS: u64 = 5;
    let owner = owned_by(fixture::user(&store).await?.id);
    let mut board = fixture::board(&store, owner).await?;
    for _ in 0..ROUNDS {
        let mut saves = JoinSet::new();
        for writer in 0..WRITERS {
            let (store, mut next) = (Arc::clone(&store), board.clone());
            saves.spawn(async move {
                next.revision += 1;
                next.name = Name::parse(&format!("by {writer}"))?;
                let commit = commit(next.owner.user, Operation::BoardUpdate);
                Made::Ok((store.board_save(&next, commit).await, next))
            });
        }
        let mut winners = Vec::new();
        while let Some(saved) = saves.join_next().await {
            match saved?? {
                (Ok(_), next) => winners.push(next),
                (Err(StoreError::Stale { .. }), _) => {}
                (Err(other), _) => return Err(other.into()),
            }
        }
        assert_eq!(winners.len(), 1);
        board = winners.remove(0);
        let found = store.board_find(Reach::All, &whole(board.id)).await?;
        assert_eq!(found, [Arc::new(board.clone())]);
    }
    Ok(())
}

/// Whoever was told that a save is done sees it, or a later one, in every read that begins afterwards.
pub async fn a_save_is_seen_by_every_later_read(store: Arc<dyn Store>) -> Outcome {
    const TASKS: usize = 8;
    const SAVES: u64 = 40;
    let owner = owned_by(fixture::user(&store).await?.id);
    let first = fixture::board(&store, owner).await?;
    let (seen, _) = tokio::sync::watch::channel(first.revision);
    let seen = Arc::new(seen);
    let mut tasks = JoinSet::new();
    for task in 0..TASKS {
        let (store, seen, id) = (Arc::clone(&store), Arc::clone(&seen), first.id);
        tasks.spawn(async move {
            let writes = task == 0;
            while *seen.borrow() < SAVES {
                let known = *seen.borrow();
                let found = store
                    .board_find(Reach::User(owner.user), &whole(id))
                    .await?;
                let [board] = found.as_slice() else {
                    return Err("the board is not there".into());
                };
                assert!(
                    board.revision >= known,
                    "read {} after {known}",
                    board.revision
                );
                // What one reader saw, no later one may miss.
                seen.send_if_modified(|n| {
                    board.revision > std::mem::replace(n, board.revision.max(*n))
                });
                if writes {
                    let mut next = Board::clone(board);
                    next.revision += 1;
                    let commit = commit(owner.user, Operation::BoardUpdate);
                    done(store.board_save(&next, commit).await?);
                    seen.send_if_modified(|n| {
                        next.revision > std::mem::replace(n, next.revision.max(*n))
                    });
                } else {
                    tokio::task::yield_now().await;
                }
            }
            Made::Ok(())
        });
    }
    while let Some(ended) = tasks.join_next().await {
        ended??;
    }
    Ok(())
}

/// Paging finds every board once, newest first, with what is on it.
pub async fn lists_page_to_the_end(store: Arc<dyn Store>) -> Outcome {
    let owner = owned_by(fixture::user(&store).await?.id);
    let mut made = Vec::new();
    for n in 0..7 {
        let board = if n % 2 == 0 {
            full_board(owner)?
        } else {
            fixture::board_value(owner)?
        };
        let commit = commit_with_event(owner.user, Operation::BoardCreate, board.id);
        assert!(done(store.board_insert(&board, commit).await?).is_some());
        made.push(board);
    }
    made.reverse();
    let reach = Reach::User(owner.user);
    for size in [1, 3, 7, 50] {
        assert_eq!(
            pages(size, |page| store.board_list(
                reach,
                BoardFilter::default(),
                page
            ))
            .await?,
            made
        );
    }
    let count = async |filter| store.board_count(Reach::All, filter).await;
    let (own, other) = (owner.user, fixture::user(&store).await?.id);
    for (owner, expected) in [(own, made.len()), (other, 0)] {
        let filter = BoardFilter { owner: Some(owner) };
        assert_eq!(count(filter).await?, expected as u64);
        let listed = pages(3, |page| store.board_list(Reach::All, filter, page));
        assert_eq!(listed.await?.len(), expected);
    }
    Ok(())
}

/// A board of a user or key that is not there is refused.
pub async fn of_an_unknown_owner_is_refused(store: Arc<dyn Store>) -> Outcome {
    let user = fixture::user(&store).await?.id;
    let key = fixture::key(&store, user, KeyScope::Client).await?.id;
    let known = Owner {
        user,
        key: Some(key),
    };
    fixture::board(&store, known).await?;
    let unknown_key = Owner {
        user,
        key: Some(fixture::id()),
    };
    for owner in [owned_by(fixture::id()), unknown_key] {
        let board = fixture::board_value(owner)?;
        let refused = store
            .board_insert(&board, commit(user, Operation::BoardCreate))
            .await;
        assert!(
            matches!(refused, Err(StoreError::NotFound { .. })),
            "{refused:?}"
        );
    }
    Ok(())
}
