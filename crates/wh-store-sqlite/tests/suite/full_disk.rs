//! A full disk is an error, not a corruption, and passes without a restart.

use std::sync::Arc;

use tokio::task::JoinSet;
use wh_domain::{Description, Operation, Reach, UserId};
use wh_store::conformance::fixture;
use wh_store::{Result, Store, StoreError};
use wh_store_sqlite::{OpenOptions, SqliteStore};

use crate::support::{self, Mount, Place};

/// Adds a board that takes some room.
async fn large_board(store: &Arc<dyn Store>, user: UserId) -> Result<u64> {
    let mut board = fixture::board_value(fixture::owned_by(user)).unwrap();
    board.description = Some(Description::parse(&"x".repeat(3_900)).unwrap());
    let commit = fixture::commit_with_event(user, Operation::BoardCreate, board.id);
    let applied = store.board_insert(&board, commit).await?;
    Ok(fixture::done(applied).unwrap())
}

/// Writes until there is no room, and returns the last number that was acknowledged.
async fn fill(store: &Arc<dyn Store>, user: UserId) -> u64 {
    let mut last = 0;
    for _ in 0..20_000 {
        match large_board(store, user).await {
            Ok(seq) => last = seq,
            Err(StoreError::Full) => return last,
            Err(StoreError::Unavailable { message }) if message.contains("I/O") => return last,
            Err(other) => panic!("{other}"),
        }
    }
    panic!("the disk is not full yet");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_passes_without_a_restart() {
    let place = Place::new();
    let Some(mount) = Mount::new(place.directory(), "size=12m") else {
        eprintln!("SKIPPED: mounting a small file system is not allowed here");
        return;
    };
    let ballast = mount.at.join("ballast");
    std::fs::write(&ballast, vec![1; 4 << 20]).unwrap();
    let store = place.open().await;
    let user = fixture::user(&store).await.unwrap().id;
    let mut last = fill(&store, user).await;
    let mut unhealthy = store.health().await;
    for _ in 0..50 {
        if unhealthy.is_err() {
            break;
        }
        // The log was written back meanwhile, which makes a little room.
        last = last.max(fill(&store, user).await);
        unhealthy = store.health().await;
    }
    assert!(
        matches!(
            unhealthy,
            Err(StoreError::Full | StoreError::Unavailable { .. })
        ),
        "{unhealthy:?}"
    );
    assert_eq!(
        support::feed(&store).await.len() as u64,
        last,
        "reading goes on"
    );
    store
        .audit_note(fixture::audit(user, Operation::BoardGet))
        .await
        .unwrap();
    // Several failing attempts, some of them in one batch, leave no trace.
    let failing: Vec<_> = (0..10).map(|_| large_board(&store, user)).collect();
    assert!(
        futures::future::join_all(failing)
            .await
            .iter()
            .all(Result::is_err)
    );
    std::fs::remove_file(&ballast).unwrap();
    store.health().await.unwrap();
    let next = large_board(&store, user).await.unwrap();
    assert_eq!(next, last + 1, "no number is missing");
    support::feed(&store).await;
    let page = wh_domain::PageRequest::first(wh_domain::PageLimit::DEFAULT);
    let reads = wh_domain::AuditFilter {
        operation: Some(Operation::BoardGet),
        ..Default::default()
    };
    let noted = store.audit_list(Reach::User(user), &reads, page);
    let noted = noted.await.unwrap();
    assert_eq!(
        noted.items.len(),
        1,
        "the entry of the read waited for room"
    );
    store.close().await;
    let store = place.open().await;
    assert_eq!(support::feed(&store).await.len() as u64, next);
    store.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_file_keeps_what_was_acknowledged() {
    let place = Place::new();
    let mut options = OpenOptions::new(place.path());
    options.pages_max = Some(400);
    let store: Arc<dyn Store> = Arc::new(SqliteStore::open(options).await.unwrap());
    let user = fixture::user(&store).await.unwrap().id;
    let last = fill(&store, user).await;
    // Something small may still fit; what does not is refused again.
    assert!(fill(&store, user).await <= last + 50);
    let acknowledged = *store.event_watch().borrow();
    assert_eq!(support::feed(&store).await.len() as u64, acknowledged);
    store.close().await;
    let store = place.open().await;
    assert_eq!(support::feed(&store).await.len() as u64, acknowledged);
    assert_eq!(large_board(&store, user).await.unwrap(), acknowledged + 1);
    store.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn everyone_in_a_transaction_that_found_no_room_is_told_so() {
    let place = Place::new();
    let mut options = OpenOptions::new(place.path());
    options.pages_max = Some(400);
    let store: Arc<dyn Store> = Arc::new(SqliteStore::open(options).await.unwrap());
    let user = fixture::user(&store).await.unwrap().id;
    fill(&store, user).await;
    let mut calls = JoinSet::new();
    for _ in 0..64 {
        let store = Arc::clone(&store);
        calls.spawn(async move { large_board(&store, user).await });
    }
    for refused in calls.join_all().await {
        let refused = refused.expect_err("there is no room");
        assert!(matches!(refused, StoreError::Full), "{refused:?}");
    }
    store.close().await;
}
