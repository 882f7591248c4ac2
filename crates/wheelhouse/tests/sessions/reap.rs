//! However a session ends, nothing its agent started outlives it.

use std::time::{Duration, Instant};

use wh_testkit::dice::count;

use crate::harness::World;

const KINDS: [&str; 6] = ["plain", "setsid", "double", "nohup", "env", "escape"];

#[derive(Clone, Copy, Debug)]
enum End {
    Stop,
    Delete,
    AgentExit,
    RunnerKilled,
    /// `wheelhouse serve --kill-all`, with the server at work.
    KillAll,
    /// The same when the server has crashed.
    KillAllAlone,
}

const ENDS: [End; 6] = [
    End::Stop,
    End::Delete,
    End::AgentExit,
    End::RunnerKilled,
    End::KillAll,
    End::KillAllAlone,
];

/// Returns the processes that sleep for `mark` seconds.
pub(crate) fn sleepers(mark: &str) -> Vec<u32> {
    let sleeps = |entry: std::io::Result<std::fs::DirEntry>| {
        let pid: u32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let words: Vec<_> = line.split(|byte| *byte == 0).collect();
        words
            .starts_with(&[b"sleep", mark.as_bytes()])
            .then_some(pid)
    };
    std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(sleeps)
        .collect()
}

#[tokio::test]
async fn no_child_survives_its_session() {
    let rounds = count("WH_REAP_ROUNDS", 1);
    let mut world = World::with_scripted();
    let (mut ended, mut slowest) = (0, Duration::ZERO);
    for round in 0..rounds {
        for end in ENDS {
            let mark = format!(
                "97{:06}.{round}{}",
                std::process::id() % 1_000_000,
                end as u8
            );
            let session = world.scripted().await;
            let script = KINDS.map(|kind| format!("fork {kind} {mark}"));
            world.prompt(&session, &script.join("\n")).await;
            world
                .until("children", async || sleepers(&mark).len() >= KINDS.len())
                .await;
            let (children, since) = (sleepers(&mark).len(), Instant::now());
            finish(&mut world, &session, end).await;
            world
                .until("no children", async || sleepers(&mark).is_empty())
                .await;
            slowest = slowest.max(since.elapsed());
            ended += children;
        }
    }
    println!(
        "reap: {ended} children of {} kinds, {} ends, {rounds} rounds, 0 survivors; the slowest end took {slowest:?}",
        KINDS.len(),
        ENDS.len()
    );
}

async fn finish(world: &mut World, session: &str, end: End) {
    match end {
        End::Stop => {
            world.manage(session, "stop").await;
            world.until_state(session, "stopped").await;
        }
        End::Delete => {
            world.manage(session, "archive").await;
            world.until_state(session, "stopped").await;
            world.manage(session, "delete").await;
        }
        End::AgentExit => {
            world.send(session, "exit 3").await;
            world.until_state(session, "interrupted").await;
        }
        End::RunnerKilled => {
            let runs = world.server.runs();
            let run = runs
                .iter()
                .find(|run| run.spec.session.to_string() == session);
            run.unwrap().alive.unwrap().kill();
        }
        End::KillAll => kill_all(world, session).await,
        End::KillAllAlone => {
            world.server.kill9();
            kill_all(world, session).await;
        }
    }
}

/// Ends everything; then a new server finds the session stopped.
async fn kill_all(world: &mut World, session: &str) {
    let ended = world
        .server
        .command()
        .args(["serve", "--kill-all"])
        .output();
    let ended = ended.unwrap();
    assert!(ended.status.success(), "{ended:?}");
    assert_eq!(world.live_runners(), 0, "{ended:?}");
    world.server.restart();
    world.client = world.server.client();
    assert_eq!(world.get(session).await.state, "stopped");
}
