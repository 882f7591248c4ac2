//! What became of a session's processes, and what they wrote to stderr.

use std::time::Duration;

use wh_api::{RunListRequest, SessionCreateRequest};
use wh_testkit::server::TestServer;

use crate::harness::World;

fn of(session: &str) -> RunListRequest {
    RunListRequest {
        session: session.to_owned(),
        ..RunListRequest::default()
    }
}

fn logs(server: &TestServer, session: &str) -> String {
    let output = server.command().args(["logs", session, "--agent"]).output();
    String::from_utf8(output.unwrap().stdout).unwrap()
}

#[tokio::test]
async fn the_mode_is_told_that_the_agent_has_taken() {
    let world = World::with_scripted();
    let asked = |agent: &str, mode: Option<&str>| SessionCreateRequest {
        agent: agent.to_owned(),
        mode: mode.map(str::to_owned),
        ..SessionCreateRequest::default()
    };
    for (asked, mode) in [
        (asked("echo", None), "default"),
        (asked("scripted", None), "ask"),
        (asked("scripted", Some("auto")), "auto"),
    ] {
        let session = world.client.session_create(&asked).await.unwrap().id;
        // It is known before anything is said.
        world.until_state(&session, "idle").await;
        world
            .until(mode, async || {
                let told = world.client.run_list(&of(&session)).await.unwrap();
                told.runs[0].mode.as_deref() == Some(mode)
            })
            .await;
        world.prompt(&session, "say ready").await;
        let told = world.client.run_list(&of(&session)).await.unwrap();
        assert_eq!(told.runs[0].mode.as_deref(), Some(mode));
    }
}

/// Returns what the latest run has written to stderr so far.
async fn stderr(world: &World, session: &str) -> String {
    let told = world.client.run_list(&of(session)).await.unwrap();
    let latest = told.runs.into_iter().next();
    latest.and_then(|run| run.stderr).unwrap_or_default()
}

#[tokio::test]
async fn what_goes_to_stderr_is_told_while_the_agent_runs() {
    let mut world = World::new();
    let session = world.session().await;
    let key = format!("wh_full_{}", "0123456789abcdef".repeat(2));
    let prompt = format!("stderr with {key}\nquestion go on?\nstderr second\nquestion and on?");
    world.send(&session, &prompt).await;
    world
        .until("the first line", async || {
            stderr(&world, &session).await.contains("with ")
        })
        .await;
    assert!(!stderr(&world, &session).await.contains(&key));
    let shown = logs(&world.server, &session);
    assert!(
        shown.contains("it runs") && shown.contains("with "),
        "{shown}"
    );

    // The run goes on without the server, and so does its log.
    world.until_state(&session, "waiting").await;
    world.crash(Duration::ZERO).await;
    assert!(stderr(&world, &session).await.contains("with "));
    let question = world.pending(&session).await.remove(0);
    world.answer(&question.id, "allow", Some("yes")).await;
    world
        .until("the second line", async || {
            stderr(&world, &session).await.ends_with("second")
        })
        .await;

    // What a runner did not live to say is not all lost.
    world.server.runs()[0].alive.unwrap().kill();
    world.until_state(&session, "interrupted").await;
    let told = world.client.run_list(&of(&session)).await.unwrap();
    assert!(told.runs[0].ended_at.is_some());
    assert!(stderr(&world, &session).await.ends_with("second"));
}

#[tokio::test]
async fn a_process_that_never_speaks_is_noticed_at_once() {
    let world = World::new();
    let session = world.session().await;
    world.prompt(&session, "say ready").await;
    world.manage(&session, "stop").await;
    world.until_state(&session, "stopped").await;
    // The next process cannot take the run for itself, and ends before it listens.
    let place = world.server.data_dir().join("runs");
    std::fs::create_dir_all(place.join(format!("{session}-2/lock"))).unwrap();
    world.send(&session, "say again").await;
    world.until_state(&session, "interrupted").await;
    let told = world.client.run_list(&of(&session)).await.unwrap();
    let [second, _] = &told.runs[..] else {
        panic!("{told:?}");
    };
    // It was seen to end: nobody waited for as long as a process may take to speak.
    let ending = second.ending.as_deref().unwrap();
    assert!(
        ending.ends_with("ended before it said anything"),
        "{ending}"
    );
}

#[tokio::test]
async fn every_life_of_a_process_is_told_with_the_last_of_its_stderr() {
    let world = World::new();
    let session = world.session().await;
    let key = format!("wh_full_{}", "0123456789abcdef".repeat(2));
    let prompt = format!("stderr \u{1b}[31mfirst\u{1b}[0m {key}\nstderr and last\nsay ready");
    world.prompt(&session, &prompt).await;
    world.manage(&session, "stop").await;
    world.until_state(&session, "stopped").await;
    world.prompt(&session, "stderr before the end\ncrash").await;
    world.until_state(&session, "interrupted").await;
    world.prompt(&session, "say again").await;

    let told = world.client.run_list(&of(&session)).await.unwrap();
    let [third, second, first] = &told.runs[..] else {
        panic!("{told:?}");
    };
    assert_eq!((third.epoch, second.epoch, first.epoch), (3, 2, 1));
    assert_eq!(
        (third.resumed, second.resumed, first.resumed),
        (true, true, false)
    );
    assert_eq!((&third.ended_at, &third.stderr), (&None, &None));
    assert_eq!(first.ending.as_deref(), Some("stopped"));
    let ending = second.ending.as_deref().unwrap();
    assert!(ending.contains("signal"), "{ending}");
    assert_eq!(second.stderr.as_deref(), Some("before the end"));
    let stderr = first.stderr.as_deref().unwrap();
    assert!(
        stderr.contains("\u{1b}[31mfirst") && stderr.ends_with("and last"),
        "{stderr:?}"
    );
    assert!(!stderr.contains(&key), "{stderr:?}");

    let few = RunListRequest {
        limit: Some(1),
        cursor: Some("2".into()),
        max_bytes: Some(4),
        ..of(&session)
    };
    let few = world.client.run_list(&few).await.unwrap();
    assert_eq!(
        (few.runs[0].epoch, few.runs[0].stderr.as_deref()),
        (1, Some("last"))
    );
    assert_eq!(few.next_cursor, None);

    // A terminal is not obeyed what an agent wrote.
    let shown = logs(&world.server, &session);
    assert!(
        shown.contains("run 2") && shown.contains("before the end"),
        "{shown}"
    );
    assert!(!shown.contains('\u{1b}'), "{shown:?}");
    let client = world.server.client_with(&world.server.key("client"));
    assert!(client.run_list(&of(&session)).await.is_err());
}
