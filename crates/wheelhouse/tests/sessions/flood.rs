//! An agent prints as fast as it can: the server and the runner stay small, and others are served.

use std::time::{Duration, Instant};

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
