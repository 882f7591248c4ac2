//! A2: what a session's token is, and how its agent learns which session it is.

use std::{fs, os::unix::fs::PermissionsExt, path::Path};

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};
use wh_testkit::{git::git, server::built};

use super::{Agor, data};
use crate::harness::Mcp;

/// Begins a session of an agent in a worktree of its own or of another, and waits until its prompt is done.
async fn work(ours: &Mcp, agent: &str, worktree: &str, prompt: &str) -> String {
    let new = json!({ "agent": agent, "worktree": worktree });
    let made = Mcp::data(&ours.call("session_create", new).await);
    let session = made["id"].as_str().unwrap().to_owned();
    let prompt = json!({ "session": session, "prompt": prompt, "wait": 60 });
    let done = Mcp::data(&ours.call("session_prompt", prompt).await);
    assert_eq!(done["turn"]["state"], "completed", "{done}");
    session
}

/// Installs a program that goes by the name of Claude Code and is the built-in agent.
fn install_claude(home: &Path) {
    let bin = home.join("bin");
    fs::create_dir_all(&bin).unwrap();
    for name in ["claude-agent-acp", "claude"] {
        let script = format!("#!/bin/sh\nexec {:?} agent echo\n", built("wheelhouse"));
        fs::write(bin.join(name), script).unwrap();
        fs::set_permissions(bin.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
}

async fn path_of(agor: &Agor, worktree: &str) -> std::path::PathBuf {
    let get = json!({ "worktreeId": worktree });
    let seen = data(&agor.alice.call("agor_worktrees_get", get).await);
    seen["path"].as_str().unwrap().into()
}

/// Stops a session and waits until its process is gone.
async fn stop(ours: &Mcp, session: &str) {
    let stop = json!({ "session": session, "action": "stop" });
    Mcp::data(&ours.call("session_manage", stop).await);
    let look = async || {
        let seen = Mcp::data(
            &ours
                .call("session_get", json!({ "session": session }))
                .await,
        );
        json!({ "status": seen["state"] })
    };
    super::polled(look, "stopped").await;
}

#[tokio::test]
async fn a2_1_a2_3_each_session_has_a_token_of_its_own_for_24_hours() {
    let agor = Agor::new().await;
    for _ in 0..2 {
        let spawned = agor.spawn(&agor.parent(), "say hello").await;
        agor.until(&spawned, "completed").await;
    }
    let ours = agor.world.client(&agor.world.keys.alice);
    let list = json!({ "include_automatic": true });
    let listed = Mcp::data(&ours.call("key_list", list).await);
    let keys = listed["keys"].as_array().unwrap().iter();
    let tokens: Vec<&Value> = keys.filter(|key| key["name"] == "agent").collect();
    assert_eq!(tokens.len(), 2, "{listed}");
    assert_ne!(tokens[0]["prefix"], tokens[1]["prefix"]);
    for token in tokens {
        let time = |name: &str| -> Timestamp { token[name].as_str().unwrap().parse().unwrap() };
        let life = time("expires_at").duration_since(time("created_at"));
        assert_eq!(life, SignedDuration::from_hours(24));
    }
}

#[tokio::test]
async fn a2_2_a_token_outlives_the_server() {
    let mut agor = Agor::new().await;
    let current = async |agor: &Agor| {
        let url = format!("{}/mcp/agor", agor.world.server.url());
        let session = Mcp::new(&url, &agor.world.keys.session);
        data(&session.call("agor_sessions_get_current", json!({})).await)
    };
    let before = current(&agor).await;
    agor.world.server.kill9();
    agor.world.server.restart();
    assert_eq!(current(&agor).await, before);
}

#[tokio::test]
async fn a2_5_an_agent_has_the_tools_without_being_configured() {
    let agor = Agor::new().await;
    let new = json!({ "parentId": agor.parent(), "prompt": "call session_current {}" });
    let spawned = data(&agor.alice.call("agor_sessions_spawn", new).await);
    let spawned = spawned["sessionId"].as_str().unwrap();
    agor.until(spawned, "completed").await;
    let get = json!({ "sessionId": spawned, "includeMessages": true });
    let seen = data(&agor.alice.call("agor_sessions_get", get).await);
    assert!(seen["messages"].to_string().contains(spawned), "{seen}");
}

#[tokio::test]
async fn a2_8_an_agent_reads_its_session_in_a_file_that_is_not_the_repositorys() {
    let agor = Agor::new().await;
    install_claude(agor.world.server.home());
    let ours = agor.world.client(&agor.world.keys.alice);
    let repo = agor.repo().await;
    let worktree = agor.worktree(&repo, "topic").await;
    let path = path_of(&agor, &worktree).await;
    let file = path.join("CLAUDE.local.md");
    fs::write(&file, "mine\n").unwrap();
    let first = work(&ours, "claude-code", &worktree, "say hello").await;
    let text = fs::read_to_string(&file).unwrap();
    let short = &first[first.len() - 8..];
    assert!(text.starts_with("mine\n"), "appended: {text}");
    for part in [
        "## Agor Session Context",
        &first,
        short,
        agor.world.server.url(),
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
    // Neither git nor the person's own file notices.
    assert_eq!(git(&path, &["status", "--porcelain"]), "");
    assert!(!path.join("CLAUDE.md").exists());
    // Another session of the same worktree is not taken for the first.
    let second = work(&ours, "claude-code", &worktree, "say hello").await;
    let text = fs::read_to_string(&file).unwrap();
    assert!(text.contains(&second) && text.contains(&first), "{text}");
    // Once more, and everything is there once.
    stop(&ours, &second).await;
    let prompt = json!({ "session": second, "prompt": "say again", "wait": 60 });
    Mcp::data(&ours.call("session_prompt", prompt).await);
    let text = fs::read_to_string(&file).unwrap();
    assert_eq!(text.matches(&format!("ID is: `{second}`")).count(), 1);
    assert_eq!(text.matches("## Agor Session Context").count(), 2);
    // A worktree at rest holds nothing of it.
    stop(&ours, &first).await;
    stop(&ours, &second).await;
    assert_eq!(fs::read_to_string(&file).unwrap(), "mine\n");
}

#[tokio::test]
async fn a2_8_a_file_that_the_repository_has_is_left_alone() {
    let agor = Agor::new().await;
    install_claude(agor.world.server.home());
    let ours = agor.world.client(&agor.world.keys.alice);
    let repo = agor.repo().await;
    let worktree = agor.worktree(&repo, "topic").await;
    let path = path_of(&agor, &worktree).await;
    fs::write(path.join("CLAUDE.local.md"), "committed\n").unwrap();
    git(&path, &["add", "CLAUDE.local.md"]);
    git(&path, &["commit", "-qm", "a file"]);
    work(&ours, "claude-code", &worktree, "say hello").await;
    let text = fs::read_to_string(path.join("CLAUDE.local.md")).unwrap();
    assert_eq!(text, "committed\n");
    // And of an agent that reads no such file there is none.
    let other = agor.worktree(&repo, "other").await;
    work(&ours, "echo", &other, "say hello").await;
    let other = path_of(&agor, &other).await;
    assert!(!other.join("CLAUDE.local.md").exists());
}
