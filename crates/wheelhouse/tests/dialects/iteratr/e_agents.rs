//! E13, E14 and E17: what an agent is told when its conversation begins and when it is taken up again, and that nothing is untested.

use std::fs;

use serde_json::Value;
use wh_api::{
    SessionCreateRequest, SessionManageRequest, SessionPromptRequest, SessionWaitRequest,
};
use wh_client::Client;
use wh_testkit::{
    git::program,
    server::{TestServer, binary},
};

/// Starts a server with an agent that writes down what it is told, and is the built-in one otherwise.
fn recording() -> TestServer {
    let mut server = TestServer::stopped();
    let (agent, log) = (server.home().join("agent.sh"), server.home().join("told"));
    let text = format!(
        "#!/bin/sh\ntee -a {} | exec {} agent echo\n",
        log.display(),
        binary().display()
    );
    program(&agent, &text);
    server.configure(&format!("[agents.recording]\ncommand = [{agent:?}]\n"));
    server.restart();
    server
}

/// Returns the parameters of the requests of this name.
fn told(server: &TestServer, method: &str) -> Vec<Value> {
    // What an agent writes into its home stays in a layer of its session's own.
    let layers = fs::read_dir(server.data_dir().join("homes"));
    let layers = layers.into_iter().flatten().flatten();
    let files = layers.map(|layer| layer.path().join("home/upper/told"));
    let text: String = files
        .filter_map(|file| fs::read_to_string(file).ok())
        .collect();
    let lines = text
        .lines()
        .filter_map(|line| serde_json::from_str(line).ok());
    let lines = lines.filter(|line: &Value| line["method"] == method);
    lines.map(|line| line["params"].clone()).collect()
}

async fn rest(client: &Client, session: &str) -> String {
    let request = SessionWaitRequest {
        sessions: vec![session.to_owned()],
        timeout: Some(60),
        ..SessionWaitRequest::default()
    };
    client.session_wait(&request).await.unwrap();
    client.session_get(session).await.unwrap().state
}

async fn prompt(client: &Client, session: &str, prompt: &str) {
    let request = SessionPromptRequest {
        session: session.to_owned(),
        prompt: prompt.to_owned(),
        wait: Some(60),
        ..SessionPromptRequest::default()
    };
    let prompted = client.session_prompt(&request).await.unwrap();
    assert_eq!(prompted.turn.state, "completed", "{prompted:?}");
}

/// Checks the servers of a conversation: one, by HTTP on the loopback, whose headers are a list.
#[track_caller]
fn check_servers(params: &Value) {
    let servers = params["mcpServers"].as_array().unwrap();
    assert_eq!(servers.len(), 1, "{params}");
    let server = &servers[0];
    assert_eq!(
        (&server["type"], &server["name"]),
        (&"http".into(), &"wheelhouse".into())
    );
    let url = server["url"].as_str().unwrap();
    assert!(
        url.starts_with("http://127.0.0.1:") && url.ends_with("/mcp"),
        "{url}"
    );
    assert!(server["headers"].is_array(), "{server}");
}

#[tokio::test]
async fn e13_e14_an_agent_is_given_the_tools_when_it_begins_and_when_it_is_taken_up_again() {
    let server = recording();
    let client = server.client();
    let request = SessionCreateRequest {
        agent: "recording".to_owned(),
        prompt: Some("say hello".to_owned()),
        ..SessionCreateRequest::default()
    };
    let session = client.session_create(&request).await.unwrap().id;
    assert_eq!(rest(&client, &session).await, "idle");
    let new = told(&server, "session/new");
    assert_eq!(new.len(), 1);
    check_servers(&new[0]);
    let cwd = new[0]["cwd"].as_str().unwrap();
    assert!(cwd.starts_with('/'), "{cwd}");
    let stop = SessionManageRequest {
        session: session.clone(),
        action: "stop".to_owned(),
        ..SessionManageRequest::default()
    };
    client.session_manage(&stop).await.unwrap();
    assert_eq!(rest(&client, &session).await, "stopped");
    prompt(&client, &session, "say hello again").await;
    let mut again = told(&server, "session/load");
    again.extend(told(&server, "session/resume"));
    assert_eq!(again.len(), 1);
    check_servers(&again[0]);
    assert_eq!(again[0]["cwd"], cwd);
    assert!(again[0]["sessionId"].is_string(), "{}", again[0]);
}

/// Each line of the requirements has a test that carries its number, and all of them go over real HTTP or the real binary.
#[test]
fn e17_every_line_has_a_test() {
    let tests = [
        include_str!("e_agents.rs"),
        include_str!("e_serve.rs"),
        include_str!("e_tools.rs"),
    ]
    .concat();
    let names = tests.lines().filter(|line| line.contains("fn e"));
    let names: Vec<_> = names.collect();
    for number in 1..=17 {
        let part = format!("e{number}_");
        let is_tested = names.iter().any(|name| {
            let name = name.split("fn ").nth(1).unwrap_or_default();
            name.starts_with(&part) || name.contains(&format!("_{part}"))
        });
        assert!(is_tested, "E{number}");
    }
}
