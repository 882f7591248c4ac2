//! Many callers take tasks from one list while the server is killed and callers vanish with a task in their hands: nobody
//! is given what somebody else has, and nothing is left undone.

use std::{
    collections::HashMap,
    sync::{
        Mutex,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use futures::future::join_all;
use jiff::{SignedDuration, Timestamp};
use wh_api::{TaskAddRequest, TaskItem, TaskListRequest, TaskNextRequest, TaskUpdateRequest};
use wh_client::Client;
use wh_testkit::{
    dice::{Dice, count},
    server::TestServer,
};

/// The full experiment is 32 callers, 2000 tasks and 10 kills.
const CALLERS: u64 = 8;
const TASKS: u64 = 200;
const KILLS: u64 = 3;

/// How long a caller has a task. Long enough for a restart of the server, short enough to wait for.
const LEASE_SECONDS: u32 = 8;

const LIST: &str = "claims";

/// What callers were told.
#[derive(Default)]
struct Ledger {
    /// For each task the times from which and until which somebody had it.
    held: Mutex<HashMap<u64, Vec<(Timestamp, Timestamp)>>>,
    completed: Mutex<HashMap<u64, u64>>,
    abandoned: AtomicU64,
    marks: AtomicU64,
}

impl Ledger {
    fn hold(&self, task: u64, times: (Timestamp, Timestamp)) {
        let mut held = self.held.lock().unwrap();
        held.entry(task).or_default().push(times);
    }

    fn complete(&self, task: u64) {
        let mut completed = self.completed.lock().unwrap();
        *completed.entry(task).or_default() += 1;
    }
}

#[tokio::test]
async fn no_task_is_done_twice_at_once_and_none_is_lost() {
    let callers = count("WH_CLAIM_CALLERS", CALLERS);
    let tasks = count("WH_CLAIM_TASKS", TASKS);
    let kills = count("WH_CLAIM_KILLS", KILLS);
    let mut dice = Dice::roll_out("claims");
    let mut server = TestServer::start();
    add(&server.client(), tasks).await;
    let ledger = Ledger::default();
    let data_dir = server.data_dir();
    let working = (0..callers).map(|caller| {
        let client = Client::local(&data_dir).unwrap();
        let dice = Dice::from_seed(dice.below(u64::MAX) ^ caller);
        work(client, &ledger, dice)
    });
    let working = join_all(working.collect::<Vec<_>>());
    // In a thread of its own: starting a server waits for it.
    let killer = std::thread::spawn(move || {
        for _ in 0..kills {
            // The time of the kill is the experiment, not a wait for something to happen.
            std::thread::sleep(Duration::from_millis(100 + dice.below(400)));
            server.kill9();
            server.restart();
        }
        server
    });
    let worked = tokio::time::timeout(Duration::from_secs(300), working);
    worked.await.expect("the callers never ended");
    let server = killer.join().unwrap();
    check(&server.client(), &ledger, callers, tasks, kills).await;
}

async fn add(client: &Client, tasks: u64) {
    let numbers: Vec<_> = (0..tasks).collect();
    for chunk in numbers.chunks(200) {
        let item = |n: &u64| TaskItem {
            content: format!("task {n}"),
            priority: Some((n % 5) as u8),
            ..TaskItem::default()
        };
        let request = TaskAddRequest {
            tasks: chunk.iter().map(item).collect(),
            list: Some(LIST.to_owned()),
            ..TaskAddRequest::default()
        };
        client.task_add(&request).await.unwrap();
    }
}

/// Takes tasks and completes them until nothing is left, now and then vanishing with one.
async fn work(client: Client, ledger: &Ledger, mut dice: Dice) {
    loop {
        let mark = ledger.marks.fetch_add(1, Ordering::SeqCst);
        let request = TaskNextRequest {
            claim: Some(true),
            lease_seconds: Some(LEASE_SECONDS),
            list: Some(LIST.to_owned()),
            idempotency_key: Some(format!("claim {mark}")),
            ..TaskNextRequest::default()
        };
        let next = retried(async || client.task_next(&request).await).await;
        let Some(task) = next.task else {
            if next.remaining + next.in_progress == 0 {
                return;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
            continue;
        };
        let until: Timestamp = task.claimed_until.unwrap().parse().unwrap();
        let from = until - SignedDuration::from_secs(LEASE_SECONDS.into());
        ledger.hold(task.number, (from, until));
        if dice.below(20) == 0 {
            ledger.abandoned.fetch_add(1, Ordering::SeqCst);
            continue;
        }
        let done = TaskUpdateRequest {
            task: task.number.into(),
            status: Some("completed".to_owned()),
            list: Some(LIST.to_owned()),
            ..TaskUpdateRequest::default()
        };
        retried(async || client.task_update(&done).await).await;
        ledger.complete(task.number);
    }
}

/// Calls until the server answers: it is being killed.
async fn retried<T>(call: impl AsyncFn() -> Result<T, wh_client::ClientError>) -> T {
    loop {
        match call().await {
            Ok(answer) => return answer,
            Err(wh_client::ClientError::Refused { .. }) => panic!("the call was refused"),
            Err(_) => tokio::time::sleep(Duration::from_millis(20)).await,
        }
    }
}

async fn check(client: &Client, ledger: &Ledger, callers: u64, tasks: u64, kills: u64) {
    let list = TaskListRequest {
        list: Some(LIST.to_owned()),
        ..TaskListRequest::default()
    };
    let list = client.task_list(&list).await.unwrap();
    let mut held = std::mem::take(&mut *ledger.held.lock().unwrap());
    let mut overlaps = 0;
    for times in held.values_mut() {
        times.sort_unstable();
        // A repeat of a marked call is told the same task with the same times.
        times.dedup();
        overlaps += times.windows(2).filter(|two| two[1].0 < two[0].1).count();
    }
    let claims: usize = held.values().map(Vec::len).sum();
    let completed = ledger.completed.lock().unwrap();
    let twice = completed.values().filter(|times| **times > 1).count();
    let abandoned = ledger.abandoned.load(Ordering::SeqCst);
    println!(
        "claims: {callers} callers, {tasks} tasks, {kills} kills, {claims} claims, {abandoned} abandoned, \
         {overlaps} held by two, {twice} completed twice, {} lost",
        tasks - completed.len() as u64
    );
    assert_eq!((overlaps, twice), (0, 0));
    assert_eq!(completed.len() as u64, tasks);
    let totals: Vec<_> = list
        .groups
        .iter()
        .map(|it| (it.status.as_str(), it.total))
        .collect();
    assert_eq!(totals, [("completed", tasks)]);
}
