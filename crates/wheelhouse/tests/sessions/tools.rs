//! Whether an agent has reached our tools.

use std::{fs, os::unix::fs::PermissionsExt};

use wh_api::SessionCreateRequest;
use wh_testkit::server::{TestServer, built};

use crate::harness::World;

#[tokio::test]
async fn an_agent_that_never_connects_to_our_tools_is_reported() {
    let mut server = TestServer::stopped();
    // It goes by the name of an agent that connects at once, and does not.
    let bin = server.home().join("bin");
    fs::create_dir(&bin).unwrap();
    let gemini = bin.join("gemini");
    let script = format!("#!/bin/sh\nexec {:?}\n", built("scripted-agent"));
    fs::write(&gemini, script).unwrap();
    fs::set_permissions(&gemini, fs::Permissions::from_mode(0o755)).unwrap();
    let path = std::env::var("PATH").unwrap_or_default();
    server.set_env("PATH", format!("{}:{path}", bin.display()));
    server.configure("[agents.gemini]\nenv = { COLOUR = \"teal\" }\n");
    server.restart();
    let world = World::on(server);
    let request = SessionCreateRequest {
        agent: "gemini".to_owned(),
        ..SessionCreateRequest::default()
    };
    let session = world.client.session_create(&request).await.unwrap().id;
    let done = world.prompt(&session, "env COLOUR").await;
    assert_eq!(done.turn.state, "completed");
    // The configuration's variables are added to the profile's.
    assert_eq!(world.said(&session).await, "teal");
    world.prompt(&session, "env GEMINI_CLI_NO_RELAUNCH").await;
    assert!(world.said(&session).await.contains("true"));
    let broken = async || {
        let notes = world.notes(&session).await;
        notes.contains("its MCP connection is broken")
    };
    world.until("a report", broken).await;
    let view = world.get(&session).await;
    assert_eq!(view.state, "idle");
    assert_eq!(view.tools_link.as_deref(), Some("broken"));
    let shown = world.server.command().args(["show", &session]).output();
    let shown = String::from_utf8(shown.unwrap().stdout).unwrap();
    assert!(shown.contains("broken: the agent has not"), "{shown}");
    assert!(shown.contains("wheelhouse resume"), "{shown}");
}

#[tokio::test]
async fn a_session_tells_whether_its_agent_has_reached_our_tools() {
    let world = World::new();
    let session = world.session().await;
    world.prompt(&session, "say hello").await;
    let link = async || world.get(&session).await.tools_link;
    assert_eq!(link().await.as_deref(), Some("unused"));
    world.prompt(&session, "call session_current {}").await;
    world
        .until("a connection", async || {
            link().await.as_deref() == Some("connected")
        })
        .await;
    world.manage(&session, "stop").await;
    world.until_state(&session, "stopped").await;
    assert_eq!(link().await, None, "there is no process");
}
