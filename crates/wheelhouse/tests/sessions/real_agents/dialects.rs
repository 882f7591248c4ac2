//! Real agents that are given the tools of a dialect in place of our own.

use std::path::Path;

use serde_json::{Value, json};
use wh_api::{LoopStartRequest, PolicyInput, RepoAddRequest, SessionCreateRequest, TaskItem};

use super::{place, table};

fn call(tool: &str, args: Value) -> Value {
    json!({"tool": tool, "args": args})
}

fn allow_all() -> Option<PolicyInput> {
    Some(PolicyInput {
        default: Some("allow".to_owned()),
        ..PolicyInput::default()
    })
}

/// Claude Code sees the tools of Agor, calls one, and is told which session it is.
pub(super) async fn claude_code_calls_agor(programs: &Path) {
    let agent = &table::CLAUDE_CODE;
    let script = json!([{
        "match": "^WHO AM I$",
        "turns": [
            call("mcp__agor__agor_sessions_get_current", json!({})),
            call("mcp__agor__agor_sessions_update", json!({"title": "named by agor"})),
            {"text": "I know"},
        ],
    }]);
    let (model, world) = place::server(&[agent], &script.to_string(), programs).await;
    let request = SessionCreateRequest {
        agent: agent.name.to_owned(),
        mcp_dialect: Some("agor".to_owned()),
        ..SessionCreateRequest::default()
    };
    let session = world.client.session_create(&request).await.unwrap().id;
    let prompted = world.prompt(&session, "WHO AM I").await;
    let notes = world.notes(&session).await;
    assert_eq!(prompted.turn.state, "completed", "{prompted:#?}\n{notes}");
    assert!(world.said(&session).await.contains("I know"));
    assert_eq!(world.get(&session).await.title, "named by agor");
    // What the tool answered went to the model.
    let told = model
        .requests()
        .iter()
        .any(|request| request.body.to_string().contains(&session));
    assert!(told, "the model was not told the session");
}

/// Gemini CLI calls the model of its session, and not the one that it would choose.
pub(super) async fn gemini_uses_its_model(programs: &Path) {
    let agent = &table::GEMINI;
    let script = json!([{ "match": "^WHICH$", "turns": [{"text": "this one"}] }]);
    let (model, world) = place::server(&[agent], &script.to_string(), programs).await;
    let asked = "gemini-2.5-pro";
    let request = SessionCreateRequest {
        agent: agent.name.to_owned(),
        model: Some(asked.to_owned()),
        ..SessionCreateRequest::default()
    };
    let session = world.client.session_create(&request).await.unwrap().id;
    let prompted = world.prompt(&session, "WHICH").await;
    let notes = world.notes(&session).await;
    assert_eq!(prompted.turn.state, "completed", "{prompted:#?}\n{notes}");
    let shown = world.get(&session).await;
    assert_eq!(shown.model.as_deref(), Some(asked));
    let paths: Vec<_> = model.requests().iter().map(|it| it.path.clone()).collect();
    assert!(paths.iter().any(|path| path.contains(asked)), "{paths:?}");
}

/// opencode works in a loop with iteratr's tools, and ends it by `session-complete`.
pub(super) async fn opencode_ends_a_loop_by_session_complete(programs: &Path) {
    let agent = &table::OPENCODE;
    let theirs = |tool: &str, args: Value| call(&format!("iteratr-tools_{tool}"), args);
    let script = json!([{
        "match": r"(?s)^You are one iteration of a loop.*task-next, then set it in_progress with task-update",
        "turns": [
            theirs("task-next", json!({})),
            theirs("task-update", json!({"id": "1", "status": "in_progress"})),
            call((agent.run)("echo done > done.txt").0, (agent.run)("echo done > done.txt").1),
            theirs("task-update", json!({"id": "1", "status": "completed"})),
            theirs("iteration-summary", json!({"summary": "wrote done.txt"})),
            theirs("session-complete", json!({})),
            {"text": "the work is done"},
        ],
    }]);
    let (_model, world) = place::server(&[agent], &script.to_string(), programs).await;
    let path = place::repository(&world.server);
    let repo = RepoAddRequest {
        source: path.display().to_string(),
        name: Some("app".to_owned()),
        ..RepoAddRequest::default()
    };
    world.client.repo_add(&repo).await.unwrap();
    let request = LoopStartRequest {
        spec: Some("Make a file.".to_owned()),
        agent: agent.name.to_owned(),
        repo: "app".to_owned(),
        tasks: vec![TaskItem {
            content: "make done.txt".to_owned(),
            ..TaskItem::default()
        }],
        policy: allow_all(),
        mcp_dialect: Some("iteratr".to_owned()),
        iterations_max: Some(3),
        ..LoopStartRequest::default()
    };
    let id = world.client.loop_start(&request).await.unwrap().id;
    let over = async || world.client.loop_get(&id).await.unwrap().state == "ended";
    world.until("the loop to be over", over).await;
    let it = world.client.loop_get(&id).await.unwrap();
    let session = it.iterations[0].session_id.as_deref().expect("it began");
    let said = world.said(session).await;
    assert_eq!(it.outcome.as_deref(), Some("completed"), "{it:#?}\n{said}");
    assert_eq!((it.iteration, it.tasks.completed), (1, 1), "{said}");
    let session = world.get(session).await;
    assert_eq!(session.mcp_dialect.as_deref(), Some("iteratr"));
}
