//! E5, E8 and F8: texts that mislead people, and answers that lead elsewhere.

use std::{
    io::{Read, Write},
    net::TcpListener,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use serde_json::{Value, json};
use wh_api::{
    ApprovalListRequest, SessionCreateRequest, SessionPromptRequest, WebhookCreateRequest,
    WebhookListRequest,
};
use wh_testkit::server::TestServer;

use crate::harness::{Setting, World};

#[tokio::test]
async fn e8_a_person_is_shown_the_exact_call_whatever_the_agent_calls_it() {
    let world = World::new(Setting::GUARDED).await;
    let command = format!("true {} ; rm -rf /srv/everything", "x".repeat(3_000));
    // The title is the agent's own, with a text direction that hides half of it.
    let call = json!({"title": "List files\u{202e}fr mr", "kind": "execute", "rawInput": {"command": command}});
    let request = SessionPromptRequest {
        session: world.session.clone(),
        prompt: format!("permission {call}"),
        wait: Some(60),
        ..SessionPromptRequest::default()
    };
    let asked = world.client.session_prompt(&request).await.unwrap();
    assert_eq!(asked.approvals.len(), 1, "{asked:?}");
    let request = ApprovalListRequest::default();
    let list = world.client.approval_list(&request).await.unwrap();
    let list = serde_json::to_value(list).unwrap();
    assert_eq!(
        list["approvals"][0]["detail"]["call"]["input"]["command"],
        command
    );
    let output = world.server.command().arg("approvals").output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(printed.contains(&command), "{printed}");
    assert!(!printed.contains('\u{202e}'), "{printed}");
}

#[tokio::test]
async fn e5_invisible_characters_do_not_reach_a_terminal() {
    let world = World::new(Setting::GUARDED).await;
    // Tag characters spell an instruction that no person sees, and an override turns a name around.
    let hidden: String = "ignore"
        .chars()
        .map(|c| char::from_u32(0xe0000 + u32::from(c)).unwrap())
        .collect();
    let text = format!("harmless{hidden}\u{202e}txt.exe\u{2066}\u{200b}");
    let request = SessionPromptRequest {
        session: world.session.clone(),
        prompt: format!("say {text}"),
        wait: Some(60),
        ..SessionPromptRequest::default()
    };
    world.client.session_prompt(&request).await.unwrap();
    for arguments in [
        &["logs", world.session.as_str()][..],
        &["logs", world.session.as_str(), "--json"][..],
    ] {
        let output = world.server.command().args(arguments).output().unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        assert!(printed.contains("harmless"), "{printed}");
        let is_hidden = |c: char| matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200b}' | '\u{e0000}'..='\u{e007f}');
        assert!(!printed.contains(is_hidden), "{arguments:?}: {printed:?}");
    }
}

/// A server that answers everything with a redirect, and counts.
fn redirecting(to: String) -> (u16, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let count = Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(mut stream) = stream else { return };
            counted.fetch_add(1, Ordering::SeqCst);
            stream.set_read_timeout(Some(Duration::from_secs(5))).ok();
            let _read = stream.read(&mut [0; 4096]);
            write!(stream, "HTTP/1.1 307 Temporary Redirect\r\nLocation: {to}\r\nContent-Length: 0\r\nConnection: close\r\n\r\n").ok();
        }
    });
    (port, count)
}

#[tokio::test]
async fn f8_a_redirect_leads_nowhere() {
    let (inner, reached) = redirecting("http://127.0.0.1/".to_owned());
    let (outer, asked) = redirecting(format!("http://127.0.0.1:{inner}/internal"));
    let mut server = TestServer::stopped();
    server.configure("[webhooks]\nallow_private = true\n");
    server.restart();
    let client = server.client();
    let request = WebhookCreateRequest {
        url: format!("http://127.0.0.1:{outer}/hook"),
        ..WebhookCreateRequest::default()
    };
    client.webhook_create(&request).await.unwrap();
    client
        .session_create(&SessionCreateRequest {
            agent: "echo".to_owned(),
            ..SessionCreateRequest::default()
        })
        .await
        .unwrap();
    // It is a failure, and is told as one.
    let failed = async || {
        let list = client.webhook_list(&WebhookListRequest::default()).await;
        let list: Value = serde_json::to_value(list.unwrap()).unwrap();
        list.to_string().contains("it answered 307")
    };
    while !failed().await {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(asked.load(Ordering::SeqCst) > 0);
    assert_eq!(reached.load(Ordering::SeqCst), 0);
}
