//! Sixty-four writers at once while backups run: nobody is ever told that the database is locked.

use std::time::{Duration, Instant};

use futures::future::join_all;
use tokio::time::timeout;
use wh_api::{BackupCreateRequest, BoardCreateRequest};
use wh_client::Client;
use wh_testkit::server::TestServer;

use wh_testkit::dice::count;

const WRITERS: usize = 64;
const SECONDS: u64 = 20;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nobody_waits_for_a_lock() {
    let seconds = count("WH_WRITERS_SECONDS", SECONDS);
    let server = TestServer::start();
    let key = server.key("full");
    let until = Instant::now() + Duration::from_secs(seconds);
    let backups = tokio::spawn(back_up(server.client(), server.home().to_owned(), until));
    let writers =
        (0..WRITERS).map(|writer| tokio::spawn(write(server.client_with(&key), writer, until)));
    let mut latencies = Vec::new();
    for ended in join_all(writers).await {
        latencies.extend(ended.unwrap());
    }
    let copies = timeout(Duration::from_secs(60), backups)
        .await
        .unwrap()
        .unwrap();
    latencies.sort();
    let at = |share: f64| latencies[((latencies.len() - 1) as f64 * share) as usize];
    println!(
        "writers: {WRITERS} for {seconds} s, {} writes, {copies} backups, 0 refused, median {:?}, p99 {:?}, longest {:?}",
        latencies.len(),
        at(0.5),
        at(0.99),
        at(1.0),
    );
    assert!(copies > 0, "no backup was made meanwhile");
    let log = std::fs::read_to_string(server.home().join("server.log")).unwrap();
    assert!(!log.contains("database is locked"), "{log}");
}

/// Makes boards and returns how long each took. A refusal of any kind fails the test.
async fn write(client: Client, writer: usize, until: Instant) -> Vec<Duration> {
    let mut latencies = Vec::new();
    while Instant::now() < until {
        let request = BoardCreateRequest {
            name: format!("writer {writer}, board {}", latencies.len()),
            description: None,
            zones: vec![],
            idempotency_key: None,
        };
        let started = Instant::now();
        client.board_create(&request).await.unwrap();
        latencies.push(started.elapsed());
    }
    latencies
}

async fn back_up(client: Client, dir: std::path::PathBuf, until: Instant) -> usize {
    let mut copies = 0;
    let mut every_second = tokio::time::interval(Duration::from_secs(1));
    while Instant::now() < until {
        every_second.tick().await;
        let file = dir.join(format!("copy-{copies}.db"));
        let request = BackupCreateRequest {
            file: file.display().to_string(),
        };
        client.backup_create(&request).await.unwrap();
        std::fs::remove_file(&file).unwrap();
        copies += 1;
    }
    copies
}
