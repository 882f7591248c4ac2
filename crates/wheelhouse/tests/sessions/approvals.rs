//! Approvals: asked, answered, ruled, timed out, and kept through a crash.

use std::time::Duration;

use wh_api::{PolicyInput, PolicyRuleInput, SessionCreateRequest};

use crate::harness::World;

#[tokio::test]
async fn what_is_allowed_is_done_and_what_is_denied_is_not() {
    let world = World::new();
    let session = world.session().await;
    for (decision, heard) in [("allow", "open it: allow"), ("deny", "open it: reject")] {
        let asked = world.prompt(&session, "ask open it").await;
        assert_eq!(asked.state, "waiting");
        assert_eq!(asked.approvals.len(), 1);
        assert_eq!(asked.approvals[0].text, "open it");
        world.answer(&asked.approvals[0].id, decision, None).await;
        world.rest(&session).await;
        assert!(world.said(&session).await.contains(heard), "{decision}");
    }
    assert!(world.pending(&session).await.is_empty());
}

#[tokio::test]
async fn a_question_is_answered_in_words() {
    let world = World::new();
    let session = world.session().await;
    let asked = world.prompt(&session, "question which colour?").await;
    assert_eq!(asked.approvals[0].kind, "question");
    world
        .answer(&asked.approvals[0].id, "allow", Some("blue"))
        .await;
    world.rest(&session).await;
    assert!(world.said(&session).await.contains("blue"));
    // Whoever reads the conversation later was not there.
    let transcript = world.transcript(&session).await;
    let talk = transcript.iter().filter(|it| it.approval.is_some());
    let talk: Vec<_> = talk
        .map(|it| (it.kind.as_str(), it.text.as_str(), it.sender.as_deref()))
        .collect();
    let name = world.client.whoami().await.unwrap().user.name;
    assert_eq!(
        talk,
        [
            ("question", "which colour?", None),
            ("answer", "blue", Some(name.as_str()))
        ],
        "{transcript:?}"
    );
}

#[tokio::test]
async fn a_question_that_nobody_answered_is_said_to_be_so() {
    let world = World::new();
    let session = world.session().await;
    let asked = world.prompt(&session, "question which colour?").await;
    world.answer(&asked.approvals[0].id, "deny", None).await;
    world.rest(&session).await;
    let notes = world.notes(&session).await;
    assert!(notes.contains("the question was not answered"), "{notes}");
    world.prompt(&session, "question which shape?").await;
    world.client.session_interrupt(&session).await.unwrap();
    world.until_state(&session, "idle").await;
    let notes = world.notes(&session).await;
    assert_eq!(notes.matches("was not answered").count(), 2, "{notes}");
}

#[tokio::test]
async fn an_approval_and_its_answer_survive_a_server_that_is_killed() {
    let mut world = World::new();
    let session = world.session().await;
    let asked = world.prompt(&session, "ask leave\nsay went on").await;
    world.crash(Duration::ZERO).await;
    let pending = world.pending(&session).await;
    assert_eq!(pending.len(), 1);
    assert_eq!(pending[0].id, asked.approvals[0].id);
    world.answer(&pending[0].id, "allow", None).await;
    let view = world.rest(&session).await;
    assert_eq!((view.state.as_str(), view.runs), ("idle", 1));
    assert!(world.said(&session).await.contains("went on"));
}

#[tokio::test]
async fn silence_denies_and_says_so() {
    let world = World::new();
    let session = world
        .session_with(SessionCreateRequest {
            policy: Some(PolicyInput {
                timeout_seconds: Some(1),
                ..PolicyInput::default()
            }),
            ..SessionCreateRequest::default()
        })
        .await;
    world.send(&session, "ask leave").await;
    world
        .until("a denial", async || {
            world.said(&session).await.contains("leave: reject")
        })
        .await;
    assert!(
        world
            .notes(&session)
            .await
            .contains("nobody answered in time")
    );
}

#[tokio::test]
async fn a_policy_answers_for_people() {
    let world = World::new();
    let with = |policy| SessionCreateRequest {
        policy: Some(policy),
        ..SessionCreateRequest::default()
    };
    let allow = PolicyInput {
        allow: vec![PolicyRuleInput::default()],
        ..PolicyInput::default()
    };
    let session = world.session_with(with(allow)).await;
    let done = world.prompt(&session, "ask leave").await;
    assert_eq!(done.turn.state, "completed");
    assert!(world.said(&session).await.contains("leave: allow"));
    let deny = PolicyInput {
        default: Some("deny".to_owned()),
        ..PolicyInput::default()
    };
    let session = world.session_with(with(deny)).await;
    world.prompt(&session, "ask leave").await;
    assert!(world.said(&session).await.contains("leave: reject"));
}

#[tokio::test]
async fn a_turn_that_ends_takes_its_questions_with_it() {
    let world = World::new();
    let session = world.session().await;
    let asked = world.prompt(&session, "ask leave").await;
    world.client.session_interrupt(&session).await.unwrap();
    world.until_state(&session, "idle").await;
    assert!(world.pending(&session).await.is_empty());
    let late = wh_api::ApprovalAnswerRequest {
        approval: asked.approvals[0].id.clone(),
        decision: "allow".to_owned(),
        ..Default::default()
    };
    let refused = world.client.approval_answer(&late).await.unwrap_err();
    assert!(refused.to_string().contains("settled"), "{refused}");
}

/// A policy that allows edits in one directory allows those that end up there, whatever the request says.
#[tokio::test]
async fn an_allowed_place_is_where_every_path_leads() {
    let world = World::with_scripted();
    let dir = world.server.home().join("project");
    std::fs::create_dir_all(dir.join("src/deep")).unwrap();
    std::os::unix::fs::symlink("/etc", dir.join("src/link")).unwrap();
    let policy = PolicyInput {
        default: Some("deny".to_owned()),
        allow: vec![PolicyRuleInput {
            paths: vec!["src".to_owned()],
            ..PolicyRuleInput::default()
        }],
        ..PolicyInput::default()
    };
    let request = SessionCreateRequest {
        agent: "scripted".to_owned(),
        path: Some(dir.display().to_string()),
        policy: Some(policy),
        ..SessionCreateRequest::default()
    };
    let session = world.client.session_create(&request).await.unwrap().id;
    let inside = dir.join("src/a.rs");
    let located = serde_json::json!([{ "path": inside }]);
    let diff = |path: &str| serde_json::json!([{ "type": "diff", "path": path, "oldText": "a", "newText": "b" }]);
    for (call, allowed) in [
        (serde_json::json!({ "locations": located }), true),
        (
            serde_json::json!({ "locations": located, "rawInput": { "file_path": inside, "content": "/etc" } }),
            true,
        ),
        (
            serde_json::json!({ "rawInput": { "path": "src/deep/new/file.rs" } }),
            true,
        ),
        (
            serde_json::json!({ "locations": [{ "path": dir.join("src/link/passwd") }] }),
            false,
        ),
        (
            serde_json::json!({ "locations": located, "rawInput": { "file_path": "/etc/passwd" } }),
            false,
        ),
        (
            serde_json::json!({ "locations": located, "rawInput": { "edits": [{ "abs_path": "/etc/x" }] } }),
            false,
        ),
        (
            serde_json::json!({ "locations": located, "rawInput": { "changes": { "../x": {} } } }),
            false,
        ),
        (
            serde_json::json!({ "locations": located, "rawInput": { "pad": 5 << 20, "path": "/etc" } }),
            false,
        ),
        (
            serde_json::json!({ "locations": located, "content": diff("/etc/passwd") }),
            false,
        ),
        (
            serde_json::json!({ "locations": located, "kind": "execute", "rawInput": { "command": "cat" } }),
            false,
        ),
    ] {
        let mut call = call;
        call["title"] = "try".into();
        if call["kind"].is_null() {
            call["kind"] = "edit".into();
        }
        let before = world.said(&session).await.len();
        world.prompt(&session, &format!("permission {call}")).await;
        let said = world.said(&session).await.split_off(before);
        let expected = if allowed { "yes-1" } else { "no-1" };
        assert!(said.contains(expected), "{call}: {said}");
    }
}
