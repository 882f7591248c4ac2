//! Nothing an agent started outlives it, however it hides and however the run ends.

use std::time::{Duration, Instant};

use wh_runner::{AgentEvent, link::Action};

use crate::harness::Run;

const KINDS: &[&str] = &["plain", "setsid", "double", "nohup", "env", "escape"];

#[derive(Clone, Copy, Debug)]
enum End {
    Stop,
    AgentExit,
    RunnerKilled,
}

/// Returns the processes that sleep for `mark` seconds.
pub(crate) fn sleepers(mark: &str) -> Vec<u32> {
    let pids = std::fs::read_dir("/proc").unwrap().filter_map(|entry| {
        let pid: u32 = entry.ok()?.file_name().to_str()?.parse().ok()?;
        let line = std::fs::read(format!("/proc/{pid}/cmdline")).ok()?;
        let words: Vec<_> = line.split(|byte| *byte == 0).collect();
        (words.starts_with(&[b"sleep", mark.as_bytes()])).then_some(pid)
    });
    pids.collect()
}

#[tokio::test]
async fn no_child_survives_any_end() {
    let rounds = std::env::var("WH_REAP_ROUNDS")
        .ok()
        .and_then(|rounds| rounds.parse().ok());
    let rounds: u64 = rounds.unwrap_or(1);
    let (mut ended, mut slowest) = (0, Duration::ZERO);
    for round in 0..rounds {
        for end in [End::Stop, End::AgentExit, End::RunnerKilled] {
            let (children, took) = one_round(round, end).await;
            ended += children;
            slowest = slowest.max(took);
        }
    }
    println!(
        "reaped {ended} children in {rounds} rounds of {} kinds and 3 ends; slowest {slowest:?}",
        KINDS.len()
    );
}

async fn one_round(round: u64, end: End) -> (usize, Duration) {
    let run = Run::start("scripted");
    let mut client = run.follow(0).await;
    client.ready().await;
    let mark = format!(
        "98{:07}.{round}",
        std::process::id() % 1_000_000 * 10 + end as u32
    );
    let script: Vec<_> = KINDS
        .iter()
        .map(|kind| format!("fork {kind} {mark}"))
        .collect();
    client.prompt("fork", &script.join("\n")).await;
    client.turn_end().await;
    crate::harness::wait_until(|| sleepers(&mark).len() >= KINDS.len()).await;
    let children = sleepers(&mark).len();
    let since = Instant::now();
    match end {
        End::Stop => {
            client.command("stop", Action::Stop).await;
            client
                .until(|event| matches!(event, AgentEvent::Exited { .. }))
                .await;
            // It said that the tree is gone: no waiting here.
            assert!(sleepers(&mark).is_empty(), "after {end:?}");
        }
        End::AgentExit => {
            client.prompt("exit", "exit 3").await;
            client
                .until(|event| matches!(event, AgentEvent::Exited { .. }))
                .await;
            assert!(sleepers(&mark).is_empty(), "after {end:?}");
        }
        End::RunnerKilled => {
            run.kill_runner();
            crate::harness::wait_until(|| sleepers(&mark).is_empty()).await;
        }
    }
    (children, since.elapsed())
}

#[tokio::test]
async fn a_cancelled_turn_takes_along_what_it_started_and_nothing_else() {
    let run = Run::start_with("scripted", |spec| spec.quirks.kill_after_cancel = true);
    let mut client = run.follow(0).await;
    client.ready().await;
    let mark = |turn: u32| format!("97{:07}.{turn}", std::process::id() % 10_000_000);
    client.prompt("1", &format!("fork plain {}", mark(1))).await;
    client.turn_end().await;
    let script: Vec<_> = KINDS
        .iter()
        .map(|kind| format!("fork {kind} {}", mark(2)))
        .collect();
    let script = format!("{}\ncount 10000 50", script.join("\n"));
    client.prompt("2", &script).await;
    crate::harness::wait_until(|| sleepers(&mark(2)).len() >= KINDS.len()).await;
    client.command("3", Action::Cancel).await;
    client.turn_end().await;
    crate::harness::wait_until(|| sleepers(&mark(2)).is_empty()).await;
    assert_eq!(sleepers(&mark(1)).len(), 1);
    client.prompt("4", "say still here").await;
    client.turn_end().await;
    assert!(client.words().ends_with("still here"));
}

/// Returns the proportional sizes of a process and all below it, in KB.
pub(crate) fn pss(root: u32) -> Vec<u64> {
    let mut all = vec![root];
    let mut next = 0;
    while let Some(pid) = all.get(next).copied() {
        let children = std::fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"));
        all.extend(
            children
                .unwrap_or_default()
                .split_whitespace()
                .filter_map(|pid| pid.parse::<u32>().ok()),
        );
        next += 1;
    }
    let size = |pid: &u32| -> Option<u64> {
        let rollup = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).ok()?;
        let line = rollup.lines().find(|line| line.starts_with("Pss:"))?;
        line.split_whitespace().nth(1)?.parse().ok()
    };
    all.iter().filter_map(size).collect()
}
