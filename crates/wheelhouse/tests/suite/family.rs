//! Sessions that come of sessions.

use wh_testkit::server::TestServer;

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
