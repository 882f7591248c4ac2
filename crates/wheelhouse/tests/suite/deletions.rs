//! `rm` of boards, repositories and users.

use std::fs;

use serde_json::Value;
use wh_testkit::git::{git, repository};
use wh_testkit::server::TestServer;

use crate::harness::{Said, run, run_json};

/// Deletes something that is in use: refused with the exit code of a conflict, and done with `--force`.
fn refused_then_forced(server: &TestServer, noun: &str, name: &str, in_use: &[&str]) -> Said {
    let refused = run(server, &[noun, "rm", name]);
    assert_ne!(refused.code, 0, "{refused:?}");
    for what in in_use.iter().chain(&["--force"]) {
        assert!(refused.stderr.contains(what), "{what}: {refused:?}");
    }
    let deleted = run(server, &[noun, "rm", name, "--force"]);
    assert_eq!(deleted.code, 0, "{deleted:?}");
    let gone = run(server, &[noun, "rm", name, "--force"]);
    assert_eq!(gone.code, 3, "{gone:?}");
    deleted
}

/// Begins a session of the built-in agent that changes a file, and waits for it.
fn work(server: &TestServer, more: &[&str]) -> Value {
    let begin = [
        "run",
        "--agent",
        "echo",
        "--detach",
        "write made.txt by hand",
    ];
    let session = run_json(server, &[&begin[..], more].concat());
    let id = session["short_id"].as_str().unwrap();
    assert_eq!(run(server, &["wait", id]).code, 0);
    session
}

#[test]
fn a_board_in_use_is_deleted_with_force_and_its_sessions_stay() {
    let server = TestServer::start();
    let empty = run_json(&server, &["board", "create", "empty"]);
    let empty = empty["short_id"].as_str().unwrap();
    assert_eq!(run(&server, &["board", "rm", empty]).code, 0);
    let board = run_json(&server, &["board", "create", "used"]);
    let board = board["short_id"].as_str().unwrap();
    let session = work(&server, &["--scratch", "--board", board]);
    let deleted = refused_then_forced(&server, "board", board, &["1 session ("]);
    assert!(
        deleted.stdout.contains("deleted the board used"),
        "{deleted:?}"
    );
    let shown = run_json(&server, &["show", session["short_id"].as_str().unwrap()]);
    assert_eq!(shown.get("board_id"), None, "{shown}");
}

#[test]
fn a_repository_in_use_is_deleted_with_force_and_no_work_is_lost() {
    let server = TestServer::start();
    let dir = repository(&server.home().join("app"));
    run_json(&server, &["repo", "add", dir.to_str().unwrap()]);
    work(&server, &["--repo", "app"]);
    let in_use = ["1 session (", "1 worktree ("];
    let deleted = refused_then_forced(&server, "repo", "app", &in_use);
    assert!(
        deleted.stdout.contains("deleted the repository app"),
        "{deleted:?}"
    );
    let list = run_json(&server, &["repo", "list"]);
    assert_eq!(list["repos"].as_array().unwrap().len(), 0);
    let format = "--format=%(refname)";
    let saved = git(&dir, &["for-each-ref", format, "refs/wheelhouse/rescue"]);
    let saved = saved.lines().next().expect("there is a rescue");
    let files = git(&dir, &["ls-tree", "-r", "--name-only", saved]);
    assert!(files.contains("made.txt"), "{files}");
}

#[test]
fn a_user_is_deleted_with_force_and_what_the_user_owned_stays() {
    let server = TestServer::start();
    run_json(&server, &["user", "create", "bob"]);
    assert_eq!(run(&server, &["user", "rm", "bob"]).code, 0);
    run_json(&server, &["user", "create", "ann", "--role", "admin"]);
    let create = [
        "key", "create", "--user", "ann", "--scope", "full", "--name", "hers",
    ];
    let key = run_json(&server, &create)["key"]
        .as_str()
        .unwrap()
        .to_owned();
    let hers = |arguments: &[&str]| {
        let mut command = server.command();
        command
            .env("WHEELHOUSE_URL", server.url())
            .env("WHEELHOUSE_KEY", &key);
        crate::harness::said(command.args(arguments).arg("--json"))
    };
    let dir = repository(&server.home().join("app"));
    assert_eq!(hers(&["repo", "add", dir.to_str().unwrap()]).code, 0);
    let begin = [
        "run",
        "--agent",
        "echo",
        "--repo",
        "app",
        "--detach",
        "write made.txt by hand",
    ];
    let session = hers(&begin).json()["short_id"].as_str().unwrap().to_owned();
    assert_eq!(run(&server, &["wait", &session]).code, 0);
    let worktree = run_json(&server, &["worktree", "ls"])["worktrees"][0].clone();
    let path = std::path::PathBuf::from(worktree["path"].as_str().unwrap());

    let own = run_json(&server, &["user", "show"])["name"].clone();
    let refused = run(&server, &["user", "rm", own.as_str().unwrap(), "--force"]);
    assert!(
        refused.stderr.contains("cannot delete yourself"),
        "{refused:?}"
    );
    let in_use = ["1 session (", "1 worktree (", "1 repo (", "1 key ("];
    let deleted = refused_then_forced(&server, "user", "ann", &in_use);
    assert!(
        deleted.stdout.contains("deleted the user ann"),
        "{deleted:?}"
    );
    assert_ne!(hers(&["ls"]).code, 0);
    assert_eq!(
        fs::read_to_string(path.join("made.txt")).unwrap(),
        "by hand\n"
    );
    let shown = run_json(
        &server,
        &["worktree", "show", worktree["id"].as_str().unwrap()],
    );
    assert_eq!(shown["state"], "ready");
    // Her calls keep her name, which is nobody else's from now on.
    let audit = run(&server, &["audit", "--user", "ann"]);
    assert!(audit.stdout.contains(" ann "), "{audit:?}");
    let again = run(&server, &["user", "create", "ann"]);
    assert!(again.stderr.contains("name of a deleted user"), "{again:?}");
}
