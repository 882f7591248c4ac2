//! Keys that an agent prints, or that somebody pastes: nobody who reads later gets them.

use std::fs;

use serde::Serialize;
use wh_api::{
    ApprovalListRequest, EventListRequest, RunListRequest, SessionCreateRequest,
    SessionListRequest, SessionSearchRequest, TurnListRequest, WorktreeDiffRequest,
};

use wh_client::Method;

use crate::harness::World;
use crate::worktrees::repo;

/// What is left of a key: the part that lists show.
fn shown(key: &str) -> String {
    format!("{}…", &key[..key.len() - 24])
}

#[track_caller]
fn assert_hidden(what: &str, view: &impl Serialize, key: &str) {
    let text = serde_json::to_string(view).unwrap();
    assert!(!text.contains(key), "{what}: {text}");
}

/// Checks every list that tells of a session.
async fn assert_hidden_everywhere(world: &World, session: &str, key: &str) {
    let client = &world.client;
    let messages = world.transcript(session).await;
    assert_hidden("messages", &messages, key);
    let begin = shown(key).trim_end_matches('…').to_owned();
    let query = SessionSearchRequest {
        query: begin,
        limit: None,
        cursor: None,
    };
    let found: serde_json::Value = client
        .call(Method::GET, &["search"], &query, None::<&()>)
        .await
        .unwrap();
    assert_hidden("search", &found, key);
    let request = SessionListRequest::default();
    let sessions = client.session_list(&request).await.unwrap();
    assert_hidden("sessions", &sessions, key);
    let one = client.session_get(session).await.unwrap();
    assert_hidden("session", &one, key);
    let request = EventListRequest::default();
    let events = client.event_list(&request).await.unwrap();
    assert_hidden("events", &events, key);
    let turns = TurnListRequest {
        session: session.to_owned(),
        ..TurnListRequest::default()
    };
    for turn in client.turn_list(&turns).await.unwrap().turns {
        assert_hidden("turn", &client.turn_get(&turn.id).await.unwrap(), key);
    }
    let asked = ApprovalListRequest {
        session: Some(session.to_owned()),
        include_settled: Some(true),
        ..ApprovalListRequest::default()
    };
    let asked = client.approval_list(&asked).await.unwrap();
    assert_hidden("approvals", &asked, key);
    let runs = RunListRequest {
        session: session.to_owned(),
        ..RunListRequest::default()
    };
    assert_hidden("runs", &client.run_list(&runs).await.unwrap(), key);
}

/// Checks the database's files as they are: whatever is made of them, such as webhooks and summaries, cannot hold the key.
fn assert_not_stored(world: &World, key: &str) {
    for name in ["wheelhouse.db", "wheelhouse.db-wal"] {
        let bytes = fs::read(world.server.data_dir().join(name)).unwrap_or_default();
        let found = bytes.windows(key.len()).any(|it| it == key.as_bytes());
        assert!(!found, "{name}");
    }
}

#[tokio::test]
async fn a_key_that_an_agent_prints_in_pieces_is_not_stored() {
    let world = World::with_scripted();
    let key = world.server.key("read");
    let session = world.scripted().await;
    let (first, second) = key.split_at(13);
    world
        .prompt(
            &session,
            &format!("say my key is {first}\nsay {second} indeed"),
        )
        .await;
    let said = world.said(&session).await;
    assert_eq!(said, format!("my key is {} indeed", shown(&key)));
    // One message is full in the middle of the key: neither of the two may have enough of it.
    let filler = (32 << 10) - first.len();
    let session = world.scripted().await;
    world
        .prompt(
            &session,
            &format!("line {filler}\nsay {first}\nsay {second}"),
        )
        .await;
    let said = world.said(&session).await;
    assert!(
        said.ends_with(&format!("x{}", shown(&key))),
        "{}",
        &said[filler - 9..]
    );
    assert_hidden_everywhere(&world, &session, &key).await;
    assert_not_stored(&world, &key);
}

#[tokio::test]
async fn a_key_in_a_prompt_reaches_the_agent_and_nobody_else() {
    let world = World::new();
    repo(&world).await;
    let key = world.server.key("read");
    let prompt = format!(
        "say {key}\nstderr {key}\nwrite key.txt {key}\nask write {key}\nsay sk-ant-api03-{}",
        "0123456789abcdef"
    );
    let session = world
        .session_with(SessionCreateRequest {
            repo: Some("app".to_owned()),
            prompt: Some(prompt),
            ..SessionCreateRequest::default()
        })
        .await;
    world.rest(&session).await;
    assert_hidden_everywhere(&world, &session, &key).await;
    let pending = world.pending(&session).await;
    assert!(pending[0].text.contains(&shown(&key)), "{pending:?}");
    world.answer(&pending[0].id, "deny", Some(&key)).await;
    let view = world.rest(&session).await;
    assert_hidden_everywhere(&world, &session, &key).await;
    assert!(view.title.contains(&shown(&key)), "{}", view.title);
    assert!(world.said(&session).await.contains("sk-ant-…"));
    // The agent got it to the letter; the diff of what it wrote hides it again.
    let worktree = view.worktree_id.unwrap();
    let path = world.client.worktree_get(&worktree).await.unwrap().path;
    let written = fs::read_to_string(format!("{path}/key.txt")).unwrap();
    assert!(written.contains(&key), "{written}");
    let diff = WorktreeDiffRequest {
        worktree,
        patch: Some(true),
        ..Default::default()
    };
    let diff = world.client.worktree_diff(&diff).await.unwrap();
    assert_hidden("diff", &diff, &key);
    let text = serde_json::to_string(&diff).unwrap();
    assert!(text.contains(&shown(&key)), "{text}");
}
