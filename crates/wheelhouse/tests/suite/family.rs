//! Sessions that come of sessions.

use wh_testkit::{git::repository, server::TestServer};

use crate::harness::{run, run_json};
use crate::run::begin;

#[test]
fn children_and_forks_are_begun_followed_and_shown() {
    let server = TestServer::start();
    let parent = begin(&server, "say above");
    assert_eq!(run(&server, &["wait", &parent]).code, 0);
    let child = [
        "spawn",
        &parent,
        "say below",
        "--title",
        "the child",
        "--wait",
    ];
    let child = run(&server, &child);
    assert_eq!((child.code, child.stdout.trim()), (0, "below"), "{child:?}");
    let fork = run(
        &server,
        &["fork", &parent, "--turn", "1", "say beside", "--wait"],
    );
    assert!(fork.code == 0 && fork.stdout.contains("beside"), "{fork:?}");
    let tree = run(&server, &["tree", &parent]);
    assert!(tree.stdout.contains("  the child"), "{tree:?}");
    let nodes = run_json(&server, &["tree", &parent]);
    assert_eq!(nodes["tree"].as_array().unwrap().len(), 2, "{nodes}");
    let told = run_json(&server, &["spawn", &parent, "say again", "--callback"]);
    assert_eq!(told["parent_id"], nodes["session"]);
    let missing = run(&server, &["fork", &parent, "--turn", "7"]);
    assert!(
        missing.code != 0 && missing.stderr.contains("turn"),
        "{missing:?}"
    );
    let where_to = run(&server, &["spawn", &parent, "say x", "--workspace", "moon"]);
    assert!(
        where_to.stderr.contains("own, shared, none"),
        "{where_to:?}"
    );
}

#[test]
fn terms_that_are_not_as_requested_are_printed() {
    let server = TestServer::start();
    let set = ["config", "set", "budget.session.turns", "3"];
    assert_eq!(run(&server, &set).code, 0);
    let start = "run --agent echo --detach --scratch --model echo-2 --budget-turns 50 hi";
    let started = run(&server, &start.split(' ').collect::<Vec<_>>());
    let note = "not as requested: budget.turns 50 → 3";
    assert!(started.stderr.contains(note), "{started:?}");
    let parent = started.stdout.trim();
    assert_eq!(run(&server, &["wait", parent]).code, 0);
    let child = run_json(&server, &["spawn", parent, "say more"]);
    assert_eq!(child["workspace"], "none", "{child}");
    let fork = run(&server, &["fork", parent]);
    assert!(fork.code == 0 && fork.stderr.is_empty(), "{fork:?}");
}

#[test]
fn sessions_are_begun_in_a_zone_and_listed_by_worktree() {
    let server = TestServer::start();
    let board = run_json(&server, &["board", "create", "work"]);
    let board = board["id"].as_str().unwrap();
    run_json(&server, &["board", "zone", board, "doing"]);
    let begin = format!("run --agent echo --detach --board {board} --zone doing hi");
    let begin: Vec<_> = begin.split(' ').collect();
    let parent = run_json(&server, &begin);
    let parent = parent["id"].as_str().unwrap();
    assert_eq!(run(&server, &["wait", parent]).code, 0);
    let child = ["spawn", parent, "say ho", "--zone", "doing"];
    let child = run_json(&server, &child)["id"].clone();
    let shown = run_json(&server, &["board", "show", board]);
    let doing = &shown["zones"][0]["id"];
    for id in [&parent.into(), &child] {
        let items = shown["items"].as_array().unwrap();
        let item = items.iter().find(|item| item["id"] == *id).unwrap();
        assert_eq!(item["zone_id"], *doing, "{shown}");
    }
    let repo = wh_testkit::git::repository(&server.home().join("app"));
    run_json(&server, &["repo", "add", repo.to_str().unwrap()]);
    let made = run_json(&server, &["worktree", "create", "app", "--branch", "topic"]);
    let worktree = made["id"].as_str().unwrap();
    let empty = run(&server, &["ls", "--worktree", worktree]);
    assert!(empty.stderr.contains("no such sessions"), "{empty:?}");
    let there = [
        "run",
        "--agent",
        "echo",
        "--detach",
        "--worktree",
        worktree,
        "say hi",
    ];
    let there = run_json(&server, &there)["short_id"].clone();
    let list = run_json(&server, &["ls", "--worktree", worktree]);
    assert_eq!(list["sessions"].as_array().unwrap().len(), 1, "{list}");
    assert_eq!(list["sessions"][0]["id"], there);
}

#[test]
fn a_session_leads_until_the_role_is_taken_away() {
    let server = TestServer::start();
    let begin = [
        "run",
        "--agent",
        "echo",
        "--scratch",
        "--role",
        "lead",
        "--detach",
        "say hello",
    ];
    let session = run_json(&server, &begin);
    assert_eq!(session["role"], "lead", "{session}");
    let id = session["short_id"].as_str().unwrap();
    assert_eq!(run(&server, &["wait", id]).code, 0);
    let general = ["session", "update", id, "--role", "general"];
    assert_eq!(run_json(&server, &general)["role"], "general");
    let shown = run(&server, &["show", id]);
    assert!(!shown.stdout.contains("lead"), "{shown:?}");
    // A role is taken away, and given when a session is created alone.
    let lead = run(&server, &["session", "update", id, "--role", "lead"]);
    assert_ne!(lead.code, 0, "{lead:?}");
    assert_eq!(run_json(&server, &["show", id])["role"], "general");
}

#[test]
fn the_tools_of_agents_are_chosen_with_mcp_dialect() {
    let server = TestServer::start();
    let dir = repository(&server.home().join("app"));
    let add = [
        "repo",
        "add",
        dir.to_str().unwrap(),
        "--mcp-dialect",
        "iteratr",
    ];
    assert_eq!(run_json(&server, &add)["mcp_dialect"], "iteratr");
    let of_repo = [
        "run",
        "--agent",
        "echo",
        "--repo",
        "app",
        "--detach",
        "say hello",
    ];
    assert_eq!(run_json(&server, &of_repo)["mcp_dialect"], "iteratr");
    let begin = [
        "run",
        "--agent",
        "echo",
        "--scratch",
        "--mcp-dialect",
        "agor",
        "--detach",
        "say hello",
    ];
    let session = run_json(&server, &begin);
    assert_eq!(session["mcp_dialect"], "agor", "{session}");
    let id = session["short_id"].as_str().unwrap();
    assert_eq!(run(&server, &["wait", id]).code, 0);
    let shown = run(&server, &["show", id]);
    let line = shown
        .stdout
        .lines()
        .find(|line| line.starts_with("mcp dialect"));
    assert!(line.is_some_and(|line| line.ends_with("agor")), "{shown:?}");
    let child = ["spawn", id, "say below", "--mcp-dialect", "clawed-abode"];
    assert_eq!(run_json(&server, &child)["mcp_dialect"], "clawed-abode");
    let dir = repository(&server.home().join("other"));
    run_json(&server, &["repo", "add", dir.to_str().unwrap()]);
    // The session of the last iteration is the newest.
    let start = [
        "loop",
        "start",
        "--agent",
        "echo",
        "--repo",
        "other",
        "--prompt",
        "say hello",
        "--iterations",
        "1",
        "--mcp-dialect",
        "iteratr",
    ];
    let ended = run(&server, &start);
    let newest = run_json(&server, &["ls", "--limit", "1"])["sessions"][0]["id"].clone();
    let iteration = run_json(&server, &["show", newest.as_str().unwrap()]);
    assert_eq!(iteration["mcp_dialect"], "iteratr", "{ended:?} {iteration}");
    assert_ne!(iteration["id"], session["id"]);
    let unknown = run(
        &server,
        &["run", "--agent", "echo", "--mcp-dialect", "klingon", "hi"],
    );
    assert!(unknown.stderr.contains("iteratr"), "{unknown:?}");
}
