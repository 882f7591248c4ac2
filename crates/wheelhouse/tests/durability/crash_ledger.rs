//! Eight writers, a server that is killed at random, and a ledger of what it had acknowledged.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use futures::future::join_all;
use wh_api::{BoardCreateRequest, EventListRequest};
use wh_client::Client;
use wh_testkit::server::TestServer;

use wh_testkit::dice::{Dice, count};

const WRITERS: u64 = 8;
const ROUNDS: u64 = 50;

/// What the server acknowledged, and what its feed shows.
#[derive(Default)]
struct Ledger {
    acknowledged: Mutex<Vec<String>>,
    written: AtomicU64,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nothing_acknowledged_is_lost_doubled_or_out_of_order() {
    let rounds = count("WH_LEDGER_ROUNDS", ROUNDS);
    let mut dice = Dice::roll_out("crash_ledger");
    let mut server = TestServer::start();
    let key = server.key("full");
    let ledger = Arc::new(Ledger::default());
    let mut seen: HashMap<String, u64> = HashMap::new();
    let mut through = 0;
    for _ in 0..rounds {
        let stop = Arc::new(AtomicBool::new(false));
        let writers = (0..WRITERS).map(|writer| {
            tokio::spawn(write(
                server.client_with(&key),
                writer,
                Arc::clone(&ledger),
                Arc::clone(&stop),
            ))
        });
        let writers: Vec<_> = writers.collect();
        // The time of the kill is the experiment, not a wait for something to happen.
        tokio::time::sleep(Duration::from_millis(50 + dice.below(450))).await;
        server.kill9();
        stop.store(true, Ordering::SeqCst);
        for ended in join_all(writers).await {
            ended.unwrap();
        }
        server.restart();
        through = read_feed(&server.client(), through, &mut seen).await;
    }
    let acknowledged = ledger.acknowledged.lock().unwrap();
    let lost = acknowledged
        .iter()
        .filter(|id| !seen.contains_key(*id))
        .count();
    let doubled = seen.values().filter(|times| **times > 1).count();
    println!(
        "crash_ledger: {rounds} kills, {} acknowledged, {} stored, {through} events, {lost} lost, {doubled} doubled, 0 gaps",
        acknowledged.len(),
        seen.len(),
    );
    assert!(
        acknowledged.len() as u64 > rounds,
        "the writers got too little done to prove anything"
    );
    assert_eq!((lost, doubled), (0, 0));
}

/// Makes boards until the server is gone, and notes each one it acknowledged.
async fn write(client: Client, writer: u64, ledger: Arc<Ledger>, stop: Arc<AtomicBool>) {
    while !stop.load(Ordering::SeqCst) {
        let number = ledger.written.fetch_add(1, Ordering::SeqCst);
        let request = BoardCreateRequest {
            name: format!("writer {writer}, entry {number}"),
            description: None,
            zones: vec![],
            idempotency_key: None,
        };
        match client.board_create(&request).await {
            Ok(board) => ledger.acknowledged.lock().unwrap().push(board.id),
            Err(_) => return,
        }
    }
}

/// Reads the feed on from `after`; counts what was made, and fails on a gap.
async fn read_feed(client: &Client, after: u64, seen: &mut HashMap<String, u64>) -> u64 {
    let mut expected = after;
    loop {
        let request = EventListRequest {
            after: Some(expected.into()),
            limit: Some(200),
        };
        let page = client.event_list(&request).await.unwrap();
        assert!(!page.resync);
        for event in &page.events {
            expected += 1;
            assert_eq!(event.seq, expected, "a gap in the feed");
            if event.subject_kind == "board" {
                *seen.entry(event.subject_id.clone()).or_default() += 1;
            }
        }
        if !page.more {
            return expected;
        }
    }
}
