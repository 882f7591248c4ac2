//! Turns, permissions, cancelling, stopping, crashing, and a server that comes and goes.

use std::time::{Duration, Instant};

use wh_runner::{
    AgentEvent, Begin,
    event::{Exit, Notice, PermissionKind, StopStep, TurnEnd},
    link::{self, Action, LinkEvent, Outcome, Refusal},
};

use crate::harness::{Run, host};

fn reason(event: &AgentEvent) -> &TurnEnd {
    match event {
        AgentEvent::TurnEnded { reason, .. } => reason,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn runs_to_completion_and_leaves() {
    let run = Run::start("scripted");
    let mut client = run.follow(0).await;
    client.ready().await;
    client
        .prompt(
            "1",
            "say hello\nupdate\nnewer\ngarbage\nfiles\nenv WHEELHOUSE_ECHO_DIR\nenv CARGO_PKG_NAME",
        )
        .await;
    assert_eq!(reason(&client.turn_end().await), &TurnEnd::Finished);
    let words = client.words();
    assert!(words.starts_with("hello"), "{words}");
    assert!(
        words.contains("use your own tools") && words.ends_with("/echounset"),
        "{words}"
    );
    let seen =
        |wanted: fn(&AgentEvent) -> bool| client.seen.iter().any(|record| wanted(&record.event));
    assert!(seen(
        |event| matches!(event, AgentEvent::ToolCall { call } if call.title == "Late")
    ));
    assert!(seen(|event| matches!(
        event,
        AgentEvent::Notice {
            notice: Notice::Unknown { .. }
        }
    )));
    assert!(seen(|event| matches!(
        event,
        AgentEvent::Notice {
            notice: Notice::NotProtocol { .. }
        }
    )));
    assert_eq!(client.command("2", Action::Stop).await, Outcome::Done);
    let AgentEvent::Exited { how, .. } = client.exit().await else {
        unreachable!()
    };
    assert_eq!(
        how,
        Exit::Stopped {
            step: StopStep::Terminate
        }
    );
    client.finish(run.runner).await;
}

#[tokio::test]
async fn a_permission_is_asked_and_answered_by_kind() {
    let run = Run::start("scripted");
    let mut client = run.follow(0).await;
    client.ready().await;
    client.prompt("1", "ask Edit the file").await;
    let asked = client
        .until(|event| matches!(event, AgentEvent::PermissionRequested { .. }))
        .await;
    let AgentEvent::PermissionRequested { request } = asked else {
        unreachable!()
    };
    assert_eq!(request.call.title, "Edit the file");

    // A server that comes later is told what waits, wherever it follows from.
    let mut late = run.follow(u64::MAX / 2).await;
    let LinkEvent::Pending { permissions, .. } = late.events.next().await.unwrap() else {
        panic!()
    };
    assert_eq!(permissions, std::slice::from_ref(&request));

    let answer = |permission: &str, kind| Action::AnswerPermission {
        permission: permission.to_owned(),
        kind,
    };
    let wrong = client
        .command("w", answer("99", PermissionKind::AllowOnce))
        .await;
    assert!(matches!(
        wrong,
        Outcome::Refused {
            code: Refusal::Unknown,
            ..
        }
    ));
    let done = client
        .command("2", answer(&request.id, PermissionKind::AllowAlways))
        .await;
    assert_eq!(done, Outcome::Done);
    // The same command again changes nothing and is answered the same.
    let again = client
        .command("2", answer(&request.id, PermissionKind::RejectOnce))
        .await;
    assert_eq!(again, Outcome::Done);
    client.turn_end().await;
    assert_eq!(client.words(), "yes-1");
}

#[tokio::test]
async fn a_turn_is_cancelled_and_the_next_one_works() {
    let run = Run::start("scripted");
    let mut client = run.follow(0).await;
    client.ready().await;
    client.prompt("1", "count 100000 5").await;
    client
        .until(|event| matches!(event, AgentEvent::Text { .. }))
        .await;
    let busy = client
        .command(
            "b",
            Action::Prompt {
                text: "say x".to_owned(),
                files: Vec::new(),
            },
        )
        .await;
    assert!(matches!(
        busy,
        Outcome::Refused {
            code: Refusal::Busy,
            ..
        }
    ));
    client.command("2", Action::Cancel).await;
    assert_eq!(reason(&client.turn_end().await), &TurnEnd::Cancelled);
    client.prompt("3", "say again").await;
    assert_eq!(reason(&client.turn_end().await), &TurnEnd::Finished);
}

#[tokio::test]
async fn a_cancelled_permission_is_settled() {
    let run = Run::start("scripted");
    let mut client = run.follow(0).await;
    client.ready().await;
    client.prompt("1", "ask May I").await;
    client
        .until(|event| matches!(event, AgentEvent::PermissionRequested { .. }))
        .await;
    client.command("2", Action::Cancel).await;
    client
        .until(|event| matches!(event, AgentEvent::PermissionSettled { chosen: None, .. }))
        .await;
    assert_eq!(reason(&client.turn_end().await), &TurnEnd::Cancelled);
}

#[tokio::test]
async fn a_crash_ends_the_turn_and_the_run() {
    let run = Run::start("scripted");
    let mut client = run.follow(0).await;
    client.ready().await;
    client.prompt("1", "say last words\ncrash").await;
    assert!(matches!(reason(&client.turn_end().await), TurnEnd::Lost(_)));
    let AgentEvent::Exited { how, .. } = client.exit().await else {
        unreachable!()
    };
    assert_eq!(how, Exit::Signal(6));
    assert_eq!(client.words(), "last words");
    client.finish(run.runner).await;
}

#[tokio::test]
async fn a_program_that_is_not_there_is_told() {
    let run = Run::start_with("x", |spec| spec.command = "/nonexistent/agent".into());
    let mut client = run.follow(0).await;
    let AgentEvent::Exited { how, stderr } = client.exit().await else {
        unreachable!()
    };
    assert!(matches!(how, Exit::NotStarted(_)), "{how:?}");
    assert!(
        stderr
            .iter()
            .any(|line| line.contains("/nonexistent/agent")),
        "{stderr:?}"
    );
    client.finish(run.runner).await;
}

#[tokio::test]
async fn an_agent_that_ignores_everything_is_stopped_within_the_ladder() {
    let run = Run::start_with("", |spec| {
        let script = format!("trap '' TERM INT HUP; exec {} scripted", host().display());
        spec.command = "/bin/sh".into();
        spec.args = vec!["-c".to_owned(), script];
    });
    let mut client = run.follow(0).await;
    client.ready().await;
    client.prompt("1", "hang").await;
    let asked = Instant::now();
    client.command("2", Action::Stop).await;
    assert!(asked.elapsed() < Duration::from_millis(200));
    let AgentEvent::Exited { how, .. } = client.exit().await else {
        unreachable!()
    };
    assert_eq!(
        how,
        Exit::Stopped {
            step: StopStep::Kill
        }
    );
    assert!(
        asked.elapsed() < Duration::from_secs(5),
        "{:?}",
        asked.elapsed()
    );
    client.finish(run.runner).await;
}

#[tokio::test]
async fn a_server_that_comes_and_goes_misses_and_doubles_nothing() {
    let run = Run::start_with("scripted", |spec| spec.limits.segment_bytes = 2_000);
    let mut client = run.follow(0).await;
    client.ready().await;
    client.prompt("1", "count 400 2").await;
    let mut all = client.take_seen();
    drop(client);
    let mut ended = false;
    while !ended {
        let mut client = run.follow(all.last().unwrap().seq).await;
        for _ in 0..3 {
            if ended {
                break;
            }
            let event = client.until(|_| true).await;
            ended = matches!(event, AgentEvent::TurnEnded { .. });
        }
        all.append(&mut client.take_seen());
        client.commands.ack(all.last().unwrap().seq).await.unwrap();
        // Lets the acknowledgement reach the runner before the connection goes.
        client.command("s", Action::Status).await;
        let extra = client.take_seen();
        ended |= extra
            .iter()
            .any(|record| matches!(record.event, AgentEvent::TurnEnded { .. }));
        all.extend(extra);
    }
    let seqs: Vec<_> = all.iter().map(|record| record.seq).collect();
    assert_eq!(seqs, (1..=all.len() as u64).collect::<Vec<_>>());
    let words: String = all
        .iter()
        .filter_map(|record| match &record.event {
            AgentEvent::Text { text } => Some(text.as_str()),
            _ => None,
        })
        .collect();
    let counted: Vec<u64> = words
        .split_whitespace()
        .map(|word| word.parse().unwrap())
        .collect();
    assert_eq!(counted, (1..=400).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_loaded_conversation_is_not_recorded_again() {
    let run = Run::start_with("scripted", |spec| {
        spec.begin = Begin::Load {
            agent_session: "scripted-1".to_owned(),
        };
    });
    let mut client = run.follow(0).await;
    client.ready().await;
    client.prompt("1", "say new").await;
    client.turn_end().await;
    assert_eq!(client.words(), "new");
}

#[tokio::test]
async fn a_run_is_started_once_and_found_alive_or_dead() {
    let run = Run::start("scripted");
    let mut client = run.follow(0).await;
    client.ready().await;
    let spec = run.dir.read_spec().unwrap();
    assert!(link::spawn(host(), &run.dir, &spec).is_err());
    let found = link::list_runs(run.temp.path()).unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].alive, Some(run.runner));
    #[expect(clippy::disallowed_methods, reason = "a second runner, by hand")]
    let second = std::process::Command::new(host());
    let mut second = tokio::process::Command::from(second);
    let second = second
        .arg("runner")
        .arg("--run-dir")
        .arg(run.dir.path())
        .output()
        .await
        .unwrap();
    assert!(!second.status.success());
    run.kill_runner();
    crate::harness::wait_until(|| link::list_runs(run.temp.path()).unwrap()[0].alive.is_none())
        .await;
}
