//! The built-in agent, through the runner.

use std::time::{Duration, Instant};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use wh_runner::{AgentEvent, Begin, McpSpec, Token, event::PermissionKind, link::Action};

use crate::harness::Run;

#[tokio::test]
async fn does_what_its_lines_say() {
    let run = Run::start("echo");
    let mut client = run.follow(0).await;
    client.ready().await;
    client
        .prompt(
            "1",
            "say hello\nwrite a/b.txt some text\nsleep 0.01\ncount 3 1\nwhat else",
        )
        .await;
    client.turn_end().await;
    assert_eq!(client.words(), "hello\n1 2 3 what else\n");
    let written = std::fs::read_to_string(run.temp.path().join("work/a/b.txt")).unwrap();
    assert_eq!(written, "some text\n");

    client.prompt("2", "ask Deploy").await;
    let asked = client
        .until(|event| matches!(event, AgentEvent::PermissionRequested { .. }))
        .await;
    let AgentEvent::PermissionRequested { request } = asked else {
        unreachable!()
    };
    let answer = Action::AnswerPermission {
        permission: request.id,
        kind: PermissionKind::RejectOnce,
    };
    client.command("3", answer).await;
    client.turn_end().await;
    assert!(client.words().ends_with("Deploy: reject\n"));

    client.prompt("4", "question Which colour?").await;
    let asked = client
        .until(|event| matches!(event, AgentEvent::QuestionAsked { .. }))
        .await;
    let AgentEvent::QuestionAsked { question } = asked else {
        unreachable!()
    };
    assert_eq!(question.text, "Which colour?");
    let answer = Action::AnswerQuestion {
        question: question.id,
        answer: Some("blue".to_owned()),
    };
    client.command("5", answer).await;
    client.turn_end().await;
    assert!(client.words().ends_with("blue\n"));
}

#[tokio::test]
async fn remembers_a_conversation_across_runs() {
    let run = Run::start("echo");
    let mut client = run.follow(0).await;
    let AgentEvent::SessionReady { agent_session, .. } = client.ready().await else {
        unreachable!()
    };
    client.prompt("1", "say one").await;
    client.turn_end().await;
    run.kill_runner();
    let echo = run.temp.path().join("echo").to_string_lossy().into_owned();
    let next = Run::start_with("echo", |spec| {
        spec.env.insert("WHEELHOUSE_ECHO_DIR".to_owned(), echo);
        spec.begin = Begin::Load {
            agent_session: agent_session.clone(),
        };
    });
    let mut client = next.follow(0).await;
    client.ready().await;
    client.prompt("2", "say two").await;
    client.turn_end().await;
    assert_eq!(client.words(), "two\n");
}

#[tokio::test]
async fn a_call_waits_for_a_server_that_is_away() {
    let place = tempfile::tempdir().unwrap();
    let server_file = place.path().join("server.json");
    let run = Run::start_with("echo", |spec| {
        spec.mcp = Some(McpSpec {
            name: "wheelhouse".to_owned(),
            token: Token::new("wh_sess_test"),
            server_file: server_file.clone(),
            path: "/mcp".to_owned(),
        });
    });
    let mut client = run.follow(0).await;
    client.ready().await;
    client.prompt("1", "call session_current {\"a\":1}").await;
    client
        .until(|event| matches!(event, AgentEvent::ToolCall { .. }))
        .await;

    // Only now does the server come.
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    std::fs::write(&server_file, serde_json::json!({"url": url}).to_string()).unwrap();
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut request = vec![0; 4096];
    let mut read = 0;
    while !String::from_utf8_lossy(&request[..read]).contains("tools/call") {
        read += stream.read(&mut request[read..]).await.unwrap();
    }
    let request = String::from_utf8_lossy(&request[..read]).to_lowercase();
    assert!(
        request.starts_with("post /mcp") && request.contains("bearer wh_sess_test"),
        "{request}"
    );
    assert!(request.contains("x-wheelhouse-call"));
    let body =
        r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"it is you"}]}}"#;
    let answer = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(answer.as_bytes()).await.unwrap();
    client.turn_end().await;
    assert_eq!(client.words(), "it is you\n");
    assert!(
        !std::fs::read_to_string(run.dir.log())
            .unwrap()
            .contains("wh_sess_test")
    );
}

/// Prints what a round trip and a live session cost; asserts only what no machine should exceed.
#[tokio::test]
async fn a_round_trip_is_short() {
    let run = Run::start("echo");
    let mut client = run.follow(0).await;
    client.ready().await;
    let mut times = Vec::new();
    for round in 0..50 {
        let since = Instant::now();
        client.prompt(&format!("p{round}"), "say x").await;
        client.turn_end().await;
        times.push(since.elapsed());
    }
    times.sort_unstable();
    println!(
        "round trip of a prompt: median {:?}, slowest {:?}",
        times[25], times[49]
    );
    println!(
        "PSS of runner, helpers and echo: {:?} KB",
        crate::reap::pss(run.runner.pid)
    );
    assert!(times[25] < Duration::from_millis(100));
}
