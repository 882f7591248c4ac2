//! An agent prints as fast as it can: the server and the runner stay small, and others are served.

use std::time::{Duration, Instant};

use wh_api::{EventListRequest, RunListRequest};
use wh_testkit::dice::count;

use crate::harness::World;

/// The most that server and runner may ever have held.
const RESIDENT_KB_MAX: u64 = 150 << 10;

/// What is printed by default; `WH_FLOOD_BYTES=2000000000` asks for the full 2 GB.
const FLOOD_BYTES: u64 = 60_000_000;

/// Returns the highest resident size of a process so far, in KB.
fn peak(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:"));
    let number = line.and_then(|line| line.split_whitespace().nth(1));
    number.unwrap().parse().unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_flood_stays_its_own_sessions_trouble() {
    let bytes = count("WH_FLOOD_BYTES", FLOOD_BYTES);
    let world = World::with_scripted();
    let loud = world.scripted().await;
    let quiet = world.session().await;
    world.prompt(&quiet, "say ready").await;
    let flood = format!("line 200000000\nflood {bytes}\nsay the end");
    let flood = world.send(&loud, &flood).await.turn.id;
    let (mut answered, mut slowest) = (0, Duration::ZERO);
    loop {
        let begun = Instant::now();
        let done = world.prompt(&quiet, "say still here").await;
        slowest = slowest.max(begun.elapsed());
        assert_eq!(done.turn.state, "completed");
        answered += 1;
        let state = world.client.turn_get(&flood).await.unwrap().turn.state;
        if state == "completed" {
            break;
        }
        assert!(state == "running" || state == "queued", "{state}");
    }
    let runs = world.server.runs();
    let runner = runs.iter().find(|run| run.spec.session.to_string() == loud);
    let runner = peak(runner.unwrap().alive.unwrap().pid);
    let server = peak(world.server.about().pid);
    let notes = world.notes(&loud).await;
    println!(
        "flood: {bytes} bytes and a line of 200 MB; peaks: server {server} KB, runner {runner} KB; \
         meanwhile {answered} prompts of another session, the slowest in {slowest:?}"
    );
    assert!(notes.contains("too long and was left out"), "{notes}");
    assert!(notes.contains("is not kept"), "{notes}");
    assert!(server < RESIDENT_KB_MAX, "server {server} KB");
    assert!(runner < RESIDENT_KB_MAX, "runner {runner} KB");
}

/// What is written to stderr by default; `WH_STDERR_BYTES` asks for more.
const STDERR_BYTES: u64 = 50_000_000;

/// The most that may be in the journal of a run which has said three words.
const JOURNAL_BYTES_MAX: u64 = 64 << 10;

#[tokio::test]
async fn a_flood_of_stderr_is_told_in_few_steps() {
    let bytes = count("WH_STDERR_BYTES", STDERR_BYTES);
    let world = World::with_scripted();
    let session = world.scripted().await;
    let begun = Instant::now();
    let done = world
        .prompt(&session, &format!("errors {bytes}\nsay the end"))
        .await;
    assert_eq!(done.turn.state, "completed");
    let request = RunListRequest {
        session: session.clone(),
        max_bytes: Some(u32::MAX),
        ..RunListRequest::default()
    };
    world
        .until("the last line", async || {
            let told = world.client.run_list(&request).await.unwrap();
            let stderr = told.runs[0].stderr.clone().unwrap_or_default();
            assert!(stderr.len() <= 16 << 10, "{}", stderr.len());
            stderr.ends_with("no more errors")
        })
        .await;
    let seconds = begun.elapsed().as_secs();
    let request = EventListRequest {
        limit: Some(200),
        ..EventListRequest::default()
    };
    let events = world.client.event_list(&request).await.unwrap().events;
    let told = events.iter().filter(|it| it.kind == "log_changed").count() as u64;
    let run = world.server.runs().remove(0);
    let journal: u64 = std::fs::read_dir(run.dir.journal())
        .unwrap()
        .map(|entry| entry.unwrap().metadata().unwrap().len())
        .sum();
    let runner = peak(run.alive.unwrap().pid);
    let server = peak(world.server.about().pid);
    println!(
        "{bytes} bytes to stderr in {seconds} s: {told} updates, {} events in all, {journal} bytes of journal; \
         peaks: server {server} KB, runner {runner} KB",
        events.len()
    );
    // One at once, and one for each second after it.
    assert!((1..=seconds + 2).contains(&told), "{told} in {seconds} s");
    assert!(events.len() < 100, "the feed is told of little else");
    assert!(journal < JOURNAL_BYTES_MAX, "{journal}");
    assert!(server < RESIDENT_KB_MAX, "server {server} KB");
    assert!(runner < RESIDENT_KB_MAX, "runner {runner} KB");
}
