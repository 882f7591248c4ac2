//! The server is killed while agents work: they go on, and nothing they say or do is lost or doubled.

use std::time::Duration;

use wh_api::SessionCreateRequest;
use wh_testkit::dice::count;

use crate::harness::World;

/// Kills of the server; `WH_RESTARTS` asks for more.
const KILLS: u64 = 5;
/// Sessions that stream meanwhile; `WH_RESTART_SESSIONS` asks for more.
const SESSIONS: u64 = 4;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn sessions_outlive_the_server() {
    let (kills, sessions) = (
        count("WH_RESTARTS", KILLS),
        count("WH_RESTART_SESSIONS", SESSIONS),
    );
    // Each session counts and calls one of our tools again and again, for longer than the kills take.
    let rounds = kills * 4;
    let mut prompt = String::new();
    for round in 0..rounds {
        prompt.push_str(&format!(
            "count 10 20\nsay round {round}.\ncall repo_list {{}}\n"
        ));
    }
    prompt.push_str("say the end.");
    let mut world = World::new();
    let mut ids = Vec::new();
    for _ in 0..sessions {
        let session = world.session().await;
        world.send(&session, &prompt).await;
        ids.push(session);
    }
    for session in &ids {
        world
            .until("words", async || {
                world.said(session).await.contains("round 0.")
            })
            .await;
    }
    for kill in 0..kills {
        // The time of the kill is the experiment, not a wait for something to happen.
        tokio::time::sleep(Duration::from_millis(150 + kill * 53 % 400)).await;
        world.crash(Duration::ZERO).await;
        for session in &ids {
            let state = world.get(session).await.state;
            assert!(
                state == "running" || state == "idle",
                "{state} after kill {kill}"
            );
        }
        assert_eq!(world.live_runners(), ids.len(), "each has its process");
    }
    let (mut messages, mut calls) = (0, 0);
    for session in &ids {
        let view = world.rest(session).await;
        assert_eq!(
            (view.state.as_str(), view.runs),
            ("idle", 1),
            "the same process all along"
        );
        let said = world.said(session).await;
        for round in 0..rounds {
            let word = format!("round {round}.");
            assert_eq!(said.matches(&word).count(), 1, "{word} in {said}");
        }
        assert!(said.ends_with("the end.\n"), "{said}");
        let counted = "1 2 3 4 5 6 7 8 9 10 round";
        assert_eq!(said.matches(counted).count() as u64, rounds, "{said}");
        calls += said.matches("\"repos\":[]").count();
        let numbers: Vec<_> = world
            .transcript(session)
            .await
            .iter()
            .map(|it| it.seq)
            .collect();
        let expected: Vec<_> = (1..=numbers.len() as u64).collect();
        assert_eq!(numbers, expected);
        messages += numbers.len();
    }
    assert_eq!(
        calls as u64,
        rounds * sessions,
        "every call of our tools succeeded"
    );
    println!(
        "restart: {kills} kills, {sessions} sessions, {messages} messages, {calls} tool calls, 0 lost, 0 doubled, 0 failed"
    );
}

/// A server that is killed while it starts processes has recorded runs whose processes may never come: nobody's prompt waits for
/// them.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_prompt_is_run_though_the_server_is_killed_as_its_agent_starts() {
    const SESSIONS: usize = 6;
    const ROUNDS: u64 = 5;
    let mut world = World::new();
    for round in 0..ROUNDS {
        let begin = || async {
            let request = SessionCreateRequest {
                agent: "echo".to_owned(),
                prompt: Some("say here".to_owned()),
                ..SessionCreateRequest::default()
            };
            world.client.session_create(&request).await.unwrap().id
        };
        let begun = futures::future::join_all((0..SESSIONS).map(|_| begin())).await;
        tokio::time::sleep(Duration::from_millis(round * 6)).await;
        world.crash(Duration::ZERO).await;
        for session in begun {
            let is_done = async || {
                let turns = world.turns(&session).await;
                turns.iter().all(|it| it.turn.state == "completed")
            };
            world.until("the prompt to be run", is_done).await;
        }
    }
}
