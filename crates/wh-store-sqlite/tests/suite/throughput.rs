//! How fast it is, printed; and what must hold meanwhile.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::task::JoinSet;
use wh_domain::{Operation, PageLimit, PageRequest, Reach};
use wh_store::conformance::fixture;

use crate::support::{self, Place};

const WRITERS: usize = 64;
const READERS: usize = 4;

/// Runs for this long; `WHEELHOUSE_TEST_LOAD_SECONDS` sets another time.
fn duration() -> Duration {
    let seconds = std::env::var("WHEELHOUSE_TEST_LOAD_SECONDS").ok();
    Duration::from_secs(seconds.and_then(|text| text.parse().ok()).unwrap_or(3))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sixty_four_writers_under_reads_and_a_backup() {
    let place = Place::new();
    let store = place.open().await;
    let user = fixture::user(&store).await.unwrap().id;
    let stop = Arc::new(AtomicBool::new(false));
    let mut readers = JoinSet::new();
    for _ in 0..READERS {
        let (store, stop) = (Arc::clone(&store), Arc::clone(&stop));
        readers.spawn(async move {
            while !stop.load(Ordering::Relaxed) {
                let page = PageRequest::first(PageLimit::clamped(Some(5)));
                store
                    .board_list(Reach::User(user), Default::default(), page)
                    .await
                    .unwrap();
                store
                    .audit_note(fixture::audit(user, Operation::BoardList))
                    .await
                    .unwrap();
                tokio::time::sleep(Duration::from_millis(1)).await;
            }
        });
    }
    let began = Instant::now();
    let mut writers = JoinSet::new();
    for _ in 0..WRITERS {
        let store = Arc::clone(&store);
        writers.spawn(async move {
            let mut times = Vec::new();
            while began.elapsed() < duration() {
                let began = Instant::now();
                support::board(&store, user).await.unwrap();
                times.push(began.elapsed());
            }
            times
        });
    }
    tokio::time::sleep(duration() / 2).await;
    let path = place.directory().join("copy.db");
    let copying = Instant::now();
    store
        .backup(&path, fixture::commit(user, Operation::BackupCreate))
        .await
        .unwrap();
    let copied = copying.elapsed();
    let mut times: Vec<_> = writers.join_all().await.into_iter().flatten().collect();
    let took = began.elapsed();
    stop.store(true, Ordering::Relaxed);
    readers.join_all().await;
    let wal = place.directory().join("wheelhouse.db-wal");
    let wal_bytes = std::fs::metadata(wal).map_or(0, |m| m.len());
    times.sort_unstable();
    let at = |part: f64| times[((times.len() - 1) as f64 * part) as usize];
    println!(
        "{} boards, each with audit entry and event, by {WRITERS} writers in {took:.1?}: {:.0}/s, median {:?}, p99 {:?}, \
         longest {:?}; backup {copied:?}; log {} kB",
        times.len(),
        times.len() as f64 / took.as_secs_f64(),
        at(0.5),
        at(0.99),
        at(1.0),
        wal_bytes / 1024,
    );
    assert!(wal_bytes <= 64 << 20, "the log is {wal_bytes} bytes long");
    assert_eq!(support::feed(&store).await.len(), times.len());
    store.close().await;
}
