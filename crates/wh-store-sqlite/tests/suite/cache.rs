//! Boards come from memory, and are never older than what was acknowledged.

use std::sync::Arc;
use std::time::Instant;

use tokio::task::JoinSet;
use wh_domain::{Board, IdRef, Operation, Reach};
use wh_store::conformance::fixture;
use wh_store::{Store, StoreError};

use crate::support::Place;

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn everyone_reads_their_own_writes() {
    const BOARDS: usize = 4;
    const TASKS: usize = 8;
    const SAVES: usize = 25;
    let place = Place::new();
    let store = place.open().await;
    let owner = fixture::owned_by(fixture::user(&store).await.unwrap().id);
    let mut tasks = JoinSet::new();
    for _ in 0..BOARDS {
        let id = fixture::board(&store, owner).await.unwrap().id;
        for _ in 0..TASKS {
            let store = Arc::clone(&store);
            tasks.spawn(async move {
                let (mut saved, mut known) = (0, 0);
                while saved < SAVES {
                    let board = read(&store, owner.user, fixture::whole(id)).await;
                    assert!(board.revision >= known, "{} after {known}", board.revision);
                    let mut next = Board::clone(&board);
                    next.revision += 1;
                    let commit = fixture::commit(owner.user, Operation::BoardUpdate);
                    match store.board_save(&next, commit).await {
                        Ok(_) => (saved, known) = (saved + 1, next.revision),
                        Err(StoreError::Stale { .. }) => known = board.revision,
                        Err(other) => panic!("{other}"),
                    }
                }
                id
            });
        }
    }
    for id in tasks.join_all().await {
        let board = read(&store, owner.user, fixture::whole(id)).await;
        assert_eq!(
            board.revision as usize,
            1 + TASKS * SAVES,
            "no save is lost or doubled"
        );
    }
    store.close().await;
}

async fn read(store: &Arc<dyn Store>, user: wh_domain::UserId, id: IdRef) -> Arc<Board> {
    let mut found = store.board_find(Reach::User(user), &id).await.unwrap();
    assert_eq!(found.len(), 1);
    found.remove(0)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_cost_of_a_read_is_printed() {
    let place = Place::new();
    let store = place.open().await;
    let owner = fixture::owned_by(fixture::user(&store).await.unwrap().id);
    let mut ids = Vec::new();
    for _ in 0..200 {
        ids.push(fixture::whole(
            fixture::board(&store, owner).await.unwrap().id,
        ));
    }
    for (what, rounds) in [("miss", 1), ("hit", 50)] {
        let began = Instant::now();
        for _ in 0..rounds {
            for id in &ids {
                assert_eq!(store.board_find(Reach::All, id).await.unwrap().len(), 1);
            }
        }
        let each = began.elapsed() / (rounds * ids.len() as u32);
        println!("board_find, {what}: {each:?}");
    }
    store.close().await;
}
