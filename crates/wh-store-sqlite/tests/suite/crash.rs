//! What was acknowledged survives `kill -9`: a child process appends and prints what was acknowledged, and is killed.

use std::collections::HashSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, Stdio};
use std::sync::Arc;
use std::time::Duration;

use newtype_uuid::GenericUuid;
use tokio::task::JoinSet;
use uuid::Uuid;
use wh_domain::{MessageKind, PageLimit, Reach};
use wh_store::MessageAppend;
use wh_store::conformance::fixture;

use crate::support::{self, Place};

const PATH: &str = "WHEELHOUSE_TEST_CRASH_PATH";
const SEED: &str = "WHEELHOUSE_TEST_CRASH_SEED";
const ROUNDS: &str = "WHEELHOUSE_TEST_CRASH_ROUNDS";

/// Not a test: what the child does until it is killed.
#[test]
fn child() {
    let Ok(path) = std::env::var(PATH) else {
        return;
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build();
    runtime.unwrap().block_on(work(Path::new(&path)));
}

async fn work(path: &Path) {
    let store = support::open(path).await;
    let user = fixture::user(&store).await.unwrap().id;
    let mut tasks = JoinSet::new();
    for writer in 0..8 {
        let store = Arc::clone(&store);
        tasks.spawn(async move {
            let owner = fixture::owned_by(user);
            let session = fixture::session(&store, owner, None).await.unwrap().id;
            loop {
                if writer % 2 == 0 {
                    let seq = support::board(&store, user).await.unwrap();
                    say(&format!("event {seq}"));
                } else {
                    let message = fixture::message(MessageKind::Agent, "words of an agent");
                    let id = message.id;
                    let append = MessageAppend {
                        session,
                        epoch: 1,
                        messages: vec![message],
                    };
                    let seq = store.message_append(append).await.unwrap();
                    say(&format!("message {session} {seq} {id}"));
                }
            }
        });
    }
    tasks.join_all().await;
}

/// Prints a line at once.
fn say(line: &str) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "ACK {line}")
        .and_then(|()| out.flush())
        .unwrap();
}

#[expect(
    clippy::disallowed_methods,
    reason = "the test runs itself as the process to kill"
)]
fn spawn(path: &Path) -> Child {
    std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "crash::child", "--nocapture", "--test-threads=1"])
        .env(PATH, path)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Lets the child work for a while, kills it, and returns what it said was durable.
fn round(path: &Path, pause: Duration) -> Vec<String> {
    let mut child = spawn(path);
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut first = String::new();
    while !first.contains("ACK ") {
        first.clear();
        assert!(
            out.read_line(&mut first).unwrap() > 0,
            "the child ended by itself"
        );
    }
    let pid = rustix::process::Pid::from_child(&child);
    let killer = std::thread::spawn(move || {
        std::thread::sleep(pause);
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).unwrap();
    });
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    killer.join().unwrap();
    child.wait().unwrap();
    let text = first + &rest;
    // The last line may be cut off; what it said is not known to anybody.
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    let acks = whole.lines().filter_map(|line| line.split_once("ACK "));
    acks.map(|(_, ack)| ack.to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_acknowledged_is_lost() {
    let number = |name: &str| {
        std::env::var(name)
            .ok()
            .and_then(|text| text.parse::<u64>().ok())
    };
    let mut seed = number(SEED).unwrap_or_else(|| Uuid::new_v4().as_u128() as u64 | 1);
    let rounds = number(ROUNDS).unwrap_or(6);
    println!("{SEED}={seed} {ROUNDS}={rounds}");
    let place = Place::new();
    let (mut events, mut messages) = (HashSet::new(), HashSet::new());
    for _ in 0..rounds {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        let pause = Duration::from_millis(50 + (seed >> 33) % 250);
        let path = place.path();
        let acks = tokio::task::spawn_blocking(move || round(&path, pause))
            .await
            .unwrap();
        for ack in acks {
            match ack.split_once(' ').unwrap() {
                ("event", seq) => {
                    assert!(events.insert(seq.parse::<u64>().unwrap()), "given twice");
                }
                (_, rest) => assert!(messages.insert(rest.to_owned()), "given twice"),
            }
        }
        verify(&place, &events, &messages).await;
    }
    let (events, messages) = (events.len(), messages.len());
    println!("{rounds} kills: {events} events and {messages} messages acknowledged, 0 lost");
    assert!(events > 0 && messages > 0);
}

async fn verify(place: &Place, events: &HashSet<u64>, messages: &HashSet<String>) {
    let store = place.open().await;
    let stored: HashSet<u64> = support::feed(&store).await.iter().map(|e| e.seq).collect();
    assert_eq!(events.difference(&stored).count(), 0, "events were lost");
    let sessions: HashSet<&str> = messages
        .iter()
        .filter_map(|m| m.split(' ').next())
        .collect();
    let mut found = HashSet::new();
    for session in sessions {
        let id = wh_domain::SessionId::from_untyped_uuid(session.parse().unwrap());
        let mut after = 0;
        loop {
            let page = store
                .message_list(Reach::All, id, after, PageLimit::MAX)
                .await
                .unwrap();
            let Some(last) = page.last() else { break };
            assert!(
                page.iter().zip(after + 1..).all(|(m, n)| m.seq == n),
                "a gap"
            );
            after = last.seq;
            found.extend(page.iter().map(|m| format!("{session} {} {}", m.seq, m.id)));
        }
    }
    assert_eq!(messages.difference(&found).count(), 0, "messages were lost");
    store.close().await;
    let mut conn = support::raw(&place.path()).await;
    let check = sqlx::query_scalar::<_, String>("PRAGMA integrity_check")
        .fetch_one(&mut conn)
        .await;
    assert_eq!(check.unwrap(), "ok");
}
