//! The model of a session is chosen, shown and inherited, and an agent's offers are kept.

use serde_json::json;
use wh_api::{SessionCreateRequest, SessionSpawnRequest, SessionUpdateRequest, SessionView};
use wh_testkit::server::{TestServer, built};

use crate::harness::World;

async fn begin(world: &World, agent: &str, model: &str, prompt: Option<&str>) -> SessionView {
    let request = SessionCreateRequest {
        agent: agent.to_owned(),
        model: Some(model.to_owned()),
        prompt: prompt.map(str::to_owned),
        ..SessionCreateRequest::default()
    };
    let session = world.client.session_create(&request).await.unwrap();
    world.rest(&session.id).await
}

#[tokio::test]
async fn the_requested_model_is_chosen_before_the_first_prompt_and_inherited() {
    let world = World::new();
    let session = begin(&world, "echo", "ECHO-2", Some("say hi")).await;
    assert_eq!(session.state, "idle", "{session:?}");
    assert_eq!(session.model.as_deref(), Some("echo-2"));
    assert_eq!(session.model_requested.as_deref(), Some("ECHO-2"));
    let offered: Vec<_> = session.models.iter().map(|it| it.id.as_str()).collect();
    assert_eq!(offered, ["echo-1", "echo-2"]);
    let agent = world.client.agent_get("echo").await.unwrap();
    assert_eq!(agent.models, session.models);

    let usual = world.session().await;
    world.prompt(&usual, "say hi").await;
    let usual = world.get(&usual).await;
    assert_eq!(
        (usual.model.as_deref(), usual.model_requested),
        (Some("echo-1"), None)
    );

    let spawn = SessionSpawnRequest {
        parent: Some(session.id.clone()),
        prompt: "say child".to_owned(),
        ..SessionSpawnRequest::default()
    };
    let child = world.client.session_spawn(&spawn).await.unwrap();
    assert_eq!(child.terms.unwrap().model.as_deref(), Some("ECHO-2"));
    let child = world.rest(&child.session).await;
    assert_eq!(child.model.as_deref(), Some("echo-2"));

    let shown = world
        .server
        .command()
        .args(["agents", "show", "echo"])
        .output()
        .unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains("echo-1, echo-2"), "{shown}");
}

#[tokio::test]
async fn a_model_that_is_not_offered_or_refused_runs_no_prompt_and_says_why() {
    let world = World::with_scripted();
    for (model, why) in [
        ("m-huge", "it offers m-small, m-large, m-closed"),
        ("m-closed", "your plan does not include it"),
    ] {
        let session = begin(&world, "scripted", model, Some("say never")).await;
        assert_eq!(session.state, "failed");
        let failure = session.failure.unwrap();
        assert!(
            failure.contains(model) && failure.contains(why),
            "{failure}"
        );
        assert!(!world.said(&session.id).await.contains("never"));
    }
    let session = begin(&world, "scripted", "Large", Some("say works")).await;
    assert_eq!(session.model.as_deref(), Some("m-large"));
    assert!(world.said(&session.id).await.contains("works"));
}

#[tokio::test]
async fn another_model_is_used_from_the_next_turn_on() {
    let world = World::new();
    let session = begin(&world, "echo", "echo-1", Some("say one")).await;
    assert_eq!(session.model.as_deref(), Some("echo-1"));
    let update = |model: &str| SessionUpdateRequest {
        session: Some(session.id.clone()),
        model: Some(model.to_owned()),
        ..SessionUpdateRequest::default()
    };
    let changed = world
        .client
        .session_update(&update("echo-2"))
        .await
        .unwrap();
    assert_eq!(changed.model_requested.as_deref(), Some("echo-2"));
    world.prompt(&session.id, "say two").await;
    let after = world.get(&session.id).await;
    assert_eq!(after.model.as_deref(), Some("echo-2"));
    assert!(world.said(&session.id).await.contains("two"));
    // The command line does the same.
    let updated = world
        .server
        .command()
        .args(["session", "update", &session.id, "--model", "echo-1"])
        .output()
        .unwrap();
    assert!(updated.status.success(), "{updated:?}");
    world.prompt(&session.id, "say three").await;
    let after = world.get(&session.id).await;
    assert_eq!(after.model.as_deref(), Some("echo-1"));
    // One that the agent does not offer would fail the session, so it is refused.
    let refused = world.client.session_update(&update("huge")).await;
    let message = refused.unwrap_err().to_string();
    assert!(
        message.contains("does not offer the model huge"),
        "{message}"
    );
    let again = world.prompt(&session.id, "say four").await;
    assert_eq!(again.turn.state, "completed", "{again:?}");
}

#[tokio::test]
async fn the_command_line_and_agents_choose_models() {
    let world = World::new();
    let run = world
        .server
        .command()
        .args([
            "run",
            "--scratch",
            "--detach",
            "--agent",
            "echo",
            "--model",
            "echo-2",
            "say hi",
        ])
        .output()
        .unwrap();
    assert!(run.status.success(), "{run:?}");
    let id = String::from_utf8(run.stdout).unwrap().trim().to_owned();
    assert_eq!(world.rest(&id).await.model.as_deref(), Some("echo-2"));
    let session = world.get(&id).await.id;
    // By the agent's own token, through MCP.
    let spawn = json!({ "prompt": "say child", "model": "echo-1", "wait": 60 });
    world
        .prompt(&session, &format!("call session_spawn {spawn}"))
        .await;
    let tree = world.client.session_tree(&session).await.unwrap();
    let child = world.get(&tree.tree[1].id).await;
    assert_eq!(child.model.as_deref(), Some("echo-1"));
    let update = json!({ "model": "echo-1" });
    world
        .prompt(&session, &format!("call session_update {update}"))
        .await;
    assert!(
        world
            .said(&session)
            .await
            .contains("agents cannot change models")
    );
    let offered = json!({ "agent": "echo" });
    world
        .prompt(&session, &format!("call agent_get {offered}"))
        .await;
    assert!(world.said(&session).await.contains("echo-2"));
}

#[tokio::test]
async fn the_model_stays_when_the_process_is_started_again() {
    let world = World::new();
    let session = begin(&world, "echo", "echo-2", Some("say one")).await;
    world.manage(&session.id, "stop").await;
    world.until_state(&session.id, "stopped").await;
    world.manage(&session.id, "start").await;
    world.prompt(&session.id, "say two").await;
    assert_eq!(
        world.get(&session.id).await.model.as_deref(),
        Some("echo-2")
    );
}

#[tokio::test]
async fn another_model_is_used_from_the_next_start_on() {
    let world = World::new();
    let session = begin(&world, "echo", "echo-1", Some("say one")).await;
    let to = |model: &str| SessionUpdateRequest {
        session: Some(session.id.clone()),
        model: Some(model.to_owned()),
        ..SessionUpdateRequest::default()
    };
    let refused = world.client.session_update(&to("echo-9")).await;
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("does not offer"), "{refused}");
    let updated = world.client.session_update(&to("ECHO-2")).await.unwrap();
    assert_eq!(updated.model_requested.as_deref(), Some("ECHO-2"));
    assert_eq!(updated.model.as_deref(), Some("echo-1"));

    world.manage(&session.id, "stop").await;
    world.until_state(&session.id, "stopped").await;
    world.prompt(&session.id, "say two").await;
    let model = world.get(&session.id).await.model;
    assert_eq!(model.as_deref(), Some("echo-2"));

    let call = format!("call session_update {}", json!({"model": "echo-1"}));
    world.prompt(&session.id, &call).await;
    let said = world.said(&session.id).await;
    assert!(said.contains("agents cannot change models"), "{said}");
}

#[tokio::test]
async fn commands_that_an_agent_announces_are_kept_and_shown() {
    let world = World::with_scripted();
    let session = world.scripted().await;
    world.prompt(&session, "commands init,review").await;
    let names: Vec<_> = world.get(&session).await.commands;
    let names: Vec<_> = names
        .iter()
        .map(|it| (it.name.as_str(), it.about.as_str()))
        .collect();
    assert_eq!(names, [("init", "does init"), ("review", "does review")]);
    let shown = world
        .server
        .command()
        .args(["session", "show", &session])
        .output()
        .unwrap();
    let shown = String::from_utf8(shown.stdout).unwrap();
    assert!(shown.contains("/init /review"), "{shown}");
}

#[tokio::test]
async fn a_model_is_chosen_by_an_argument_where_the_agent_offers_no_choice() {
    let mut server = TestServer::stopped();
    let agent = built("scripted-agent");
    let command = format!("command = [{agent:?}, \"--no-models\"]\n");
    server.configure(&format!(
        "[agents.flagged]\n{command}model_flag = \"--model\"\n[agents.fixed]\n{command}"
    ));
    server.restart();
    let world = World::on(server);
    let session = begin(&world, "flagged", "m-1", Some("say hi")).await;
    assert_eq!(session.model.as_deref(), Some("m-1"), "{session:?}");
    world
        .prompt(&session.id, "shell tr '\\0' ' ' < /proc/$PPID/cmdline")
        .await;
    let said = world.said(&session.id).await;
    assert!(said.contains("--no-models --model m-1"), "{said}");
    let fixed = begin(&world, "fixed", "m-1", Some("say never")).await;
    let failure = fixed.failure.unwrap();
    assert!(failure.contains("offers no choice of models"), "{failure}");
    let option = SessionCreateRequest {
        agent: "flagged".to_owned(),
        model: Some("--yolo".to_owned()),
        ..SessionCreateRequest::default()
    };
    let refused = world.client.session_create(&option).await;
    let refused = refused.unwrap_err().to_string();
    assert!(
        refused.contains("must not begin with a hyphen"),
        "{refused}"
    );
}
