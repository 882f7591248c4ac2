//! Sessions begin, stop, go on and end; and leave nothing behind.

use wh_api::{ConfigSetRequest, SessionCreateRequest};
use wh_runner::link::RunState;

use crate::harness::{World, manage_of};

/// Gives a session something to do for a minute, waits until it does, and returns its run.
async fn busy(world: &World, session: &str) -> RunState {
    world.send(session, "say begun\nsleep 60").await;
    world
        .until("words", async || {
            world.said(session).await.contains("begun")
        })
        .await;
    world.server.runs().remove(0)
}

#[tokio::test]
async fn a_stop_ends_the_process_and_a_prompt_brings_it_back_with_its_memory() {
    let world = World::new();
    let session = world.session().await;
    world.prompt(&session, "say remembered").await;
    world.manage(&session, "stop").await;
    let view = world.rest(&session).await;
    assert_eq!(view.state, "stopped");
    world
        .until("no process", async || world.live_runners() == 0)
        .await;
    let next = world.prompt(&session, "say again").await;
    assert_eq!(next.turn.state, "completed");
    let view = world.get(&session).await;
    assert_eq!((view.state.as_str(), view.runs), ("idle", 2));
    let transcript = world.transcript(&session).await;
    let remembered = transcript
        .iter()
        .filter(|it| it.text.contains("remembered"));
    assert_eq!(
        remembered.count(),
        2,
        "the prompt and the answer, once each"
    );
}

#[tokio::test]
async fn an_agent_that_dies_interrupts_its_session_and_can_be_resumed() {
    let world = World::new();
    let session = world.session().await;
    let turn = world.prompt(&session, "say begun\ncrash").await;
    assert_eq!(turn.turn.state, "failed");
    world.until_state(&session, "interrupted").await;
    world.manage(&session, "start").await;
    world.until_state(&session, "idle").await;
    let next = world.prompt(&session, "say alive").await;
    assert_eq!(next.turn.state, "completed");
}

#[tokio::test]
async fn a_runner_that_is_killed_interrupts_its_session_within_seconds() {
    let world = World::new();
    let session = world.session().await;
    let run = busy(&world, &session).await;
    run.alive.unwrap().kill();
    world.until_state(&session, "interrupted").await;
    assert!(world.said(&session).await.contains("begun"));
    let next = world.prompt(&session, "say alive").await;
    assert_eq!(next.turn.state, "completed");
}

#[tokio::test]
async fn an_idle_process_is_put_away_and_brought_back() {
    let world = World::new();
    let session = world.session().await;
    world.prompt(&session, "say one").await;
    assert_eq!(world.live_runners(), 1);
    let set = ConfigSetRequest {
        key: "session.idle_seconds".to_owned(),
        value: Some(1.into()),
        ..Default::default()
    };
    world.client.config_set(&set).await.unwrap();
    world
        .until("no process", async || world.live_runners() == 0)
        .await;
    assert_eq!(world.get(&session).await.state, "idle");
    let next = world.prompt(&session, "say two").await;
    assert_eq!(next.turn.state, "completed");
    assert_eq!(world.get(&session).await.runs, 2);
}

#[tokio::test]
async fn an_agent_that_falls_silent_is_reported_once() {
    let world = World::new();
    let set = ConfigSetRequest {
        key: "session.silent_seconds".to_owned(),
        value: Some(1.into()),
        ..Default::default()
    };
    world.client.config_set(&set).await.unwrap();
    let session = world.session().await;
    world.send(&session, "say begun\nsleep 60").await;
    world
        .until("a note", async || {
            world.notes(&session).await.contains("may be stuck")
        })
        .await;
    assert_eq!(world.get(&session).await.state, "running");
    assert_eq!(
        world.notes(&session).await.matches("may be stuck").count(),
        1
    );
}

#[tokio::test]
async fn an_agent_that_cannot_be_started_says_why() {
    let world = World::new();
    let request = SessionCreateRequest {
        agent: "nobody".to_owned(),
        ..SessionCreateRequest::default()
    };
    let refused = world.client.session_create(&request).await.unwrap_err();
    assert!(refused.to_string().contains("no agent called"), "{refused}");
    let request = SessionCreateRequest {
        path: Some("/nowhere/at/all".to_owned()),
        agent: "echo".to_owned(),
        ..SessionCreateRequest::default()
    };
    let refused = world.client.session_create(&request).await.unwrap_err();
    assert!(refused.to_string().contains("not a directory"), "{refused}");
}

#[tokio::test]
async fn a_directory_that_vanishes_ends_the_run_and_nothing_runs_elsewhere() {
    let world = World::new();
    let place = world.server.home().join("project");
    std::fs::create_dir(&place).unwrap();
    let session = world
        .session_with(SessionCreateRequest {
            path: Some(place.display().to_string()),
            ..SessionCreateRequest::default()
        })
        .await;
    world.send(&session, "sleep 60\nwrite a.txt x").await;
    world.until_state(&session, "running").await;
    std::fs::remove_dir_all(&place).unwrap();
    world.until_state(&session, "interrupted").await;
    assert_eq!(world.live_runners(), 0);
    assert!(world.notes(&session).await.contains("workspace_missing"));
    let next = world.prompt(&session, "say hello").await;
    assert_eq!(next.turn.state, "failed");
    assert!(next.turn.reason.unwrap().contains("no longer exists"));
}

#[tokio::test]
async fn a_run_whose_directory_is_deleted_ends_and_can_be_resumed() {
    let world = World::new();
    let session = world.session().await;
    let run = busy(&world, &session).await;
    std::fs::remove_dir_all(run.dir.path()).unwrap();
    let runner = run.alive.unwrap();
    world.until("no process", async || !runner.is_alive()).await;
    world.until_state(&session, "interrupted").await;
    let next = world.prompt(&session, "say alive").await;
    assert_eq!(next.turn.state, "completed");
}

#[tokio::test]
async fn archiving_a_live_session_with_an_idempotency_key_stops_and_archives_it_once() {
    let world = World::new();
    let session = world.session().await;
    busy(&world, &session).await;
    let archive = wh_api::SessionManageRequest {
        idempotency_key: Some("archive-1".to_owned()),
        ..manage_of(&session, "archive")
    };
    for _ in 0..2 {
        let archived = world.client.session_manage(&archive).await.unwrap();
        assert!(archived.archived, "{archived:?}");
    }
    world.until_state(&session, "stopped").await;
    world.manage(&session, "restore").await;
    // A retry of the first request changes nothing.
    let retried = world.client.session_manage(&archive).await.unwrap();
    assert!(!retried.archived);
}

#[tokio::test]
async fn deleting_a_live_session_stops_it_first() {
    let world = World::new();
    let (idle, working) = (world.session().await, world.session().await);
    world.prompt(&idle, "say one").await;
    let run = busy(&world, &working).await;
    for (number, session) in [&idle, &working].into_iter().enumerate() {
        let delete = wh_api::SessionManageRequest {
            idempotency_key: Some(format!("delete-{number}")),
            ..manage_of(session, "delete")
        };
        world.client.session_manage(&delete).await.unwrap();
        let gone = world.client.session_get(session).await.unwrap_err();
        assert!(gone.to_string().contains("session not found"), "{gone}");
    }
    assert!(!run.alive.unwrap().is_alive());
    // One with children is refused before it is stopped.
    let parent = world.session().await;
    world.prompt(&parent, "spawn say child").await;
    let delete = manage_of(&parent, "delete");
    let refused = world.client.session_manage(&delete).await.unwrap_err();
    assert!(refused.to_string().contains("children"), "{refused}");
    let state = world.client.session_get(&parent).await.unwrap().state;
    assert!(!matches!(state.as_str(), "stopping" | "stopped"), "{state}");
}

#[tokio::test]
async fn archived_sessions_are_out_of_sight_and_deleted_ones_are_gone() {
    let world = World::new();
    let session = world.session().await;
    world.prompt(&session, "say one").await;
    world.manage(&session, "archive").await;
    world.until_state(&session, "stopped").await;
    let listed = world
        .client
        .session_list(&Default::default())
        .await
        .unwrap();
    assert!(listed.sessions.is_empty());
    let prompt = crate::harness::prompt_of(&session, "say two");
    let refused = world.client.session_prompt(&prompt).await.unwrap_err();
    assert!(refused.to_string().contains("archived"));
    world.manage(&session, "restore").await;
    world.manage(&session, "delete").await;
    let gone = world.client.session_get(&session).await.unwrap_err();
    assert!(gone.to_string().contains("session not found"));
    let known = wh_api::SessionManageRequest {
        action: "explode".to_owned(),
        session,
        ..Default::default()
    };
    let refused = world.client.session_manage(&known).await.unwrap_err();
    assert!(refused.to_string().contains("start, stop"), "{refused}");
}

#[tokio::test]
async fn a_session_that_was_stopped_before_its_first_prompt_can_be_prompted() {
    let world = World::new();
    let session = world.session().await;
    world.rest(&session).await;
    world.manage(&session, "stop").await;
    world.until_state(&session, "stopped").await;
    world.manage(&session, "start").await;
    let done = world.prompt(&session, "say at last").await;
    assert_eq!(done.turn.state, "completed", "{done:?}");
    assert_eq!(world.said(&session).await.trim(), "at last");
}
