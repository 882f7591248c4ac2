//! Whatever an agent prints, the runner stays small.

use wh_runner::{
    AgentEvent,
    event::Notice,
    link::{Action, LinkEvent},
};

use crate::harness::Run;

/// The most the runner may ever have held.
const RESIDENT_KB_MAX: u64 = 150 << 10;

/// Returns the highest resident size so far, in KB.
fn peak(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status
        .lines()
        .find(|line| line.starts_with("VmHWM:"))
        .unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[tokio::test]
async fn two_hundred_megabytes_pass_through_bounded() {
    let run = Run::start("scripted");
    let mut client = run.follow(0).await;
    client.ready().await;
    client.prompt("1", "flood 200000000").await;
    let (mut bytes, mut ended, mut last) = (0_usize, false, 0);
    let mut count = |event: &AgentEvent| match event {
        AgentEvent::Text { text } => bytes += text.len(),
        AgentEvent::TurnEnded { .. } => ended = true,
        _ => {}
    };
    for record in client.take_seen() {
        count(&record.event);
    }
    loop {
        let LinkEvent::Record(record) = client.events.next().await.unwrap() else {
            continue;
        };
        count(&record.event);
        if record.seq - last >= 100 {
            last = record.seq;
            client.commands.ack(last).await.unwrap();
        }
        if matches!(record.event, AgentEvent::TurnEnded { .. }) {
            break;
        }
    }
    assert!(ended && bytes >= 200_000_000, "{bytes}");
    let peak = peak(run.runner.pid);
    println!("200 MB passed; the runner's peak was {peak} KB");
    assert!(peak < RESIDENT_KB_MAX);
}

#[tokio::test]
async fn a_huge_line_is_skipped_and_told() {
    let run = Run::start("scripted");
    let mut client = run.follow(0).await;
    client.ready().await;
    client
        .prompt("1", "line 100000000\nline 15000000\nsay after")
        .await;
    client.turn_end().await;
    assert!(client.seen.iter().any(|record| matches!(
        record.event,
        AgentEvent::Notice { notice: Notice::LineSkipped { bytes } } if bytes > 100_000_000
    )));
    let words = client.words();
    assert_eq!(words.len(), 15_000_000 + "after".len());
    let peak = peak(run.runner.pid);
    println!("a line of 100 MB skipped, one of 15 MB taken; the runner's peak was {peak} KB");
    assert!(peak < RESIDENT_KB_MAX);
}

#[tokio::test]
async fn an_agent_waits_when_nobody_takes_what_it_says() {
    let run = Run::start_with("scripted", |spec| spec.limits.journal_bytes_max = 3 << 20);
    let mut client = run.follow(0).await;
    client.ready().await;
    client.prompt("1", "flood 50000000").await;
    client
        .until(|event| {
            matches!(
                event,
                AgentEvent::Notice {
                    notice: Notice::JournalFull
                }
            )
        })
        .await;
    // It still hears: a stop gets through, and ends the flood.
    client.command("2", Action::Stop).await;
    client.exit().await;
    let journal: u64 = std::fs::read_dir(run.dir.journal())
        .unwrap()
        .map(|entry| entry.unwrap().metadata().unwrap().len())
        .sum();
    assert!(journal < 4 << 20, "{journal}");
}
