//! `run` inside a git repository, outside of one, and with flags that decide.

use std::fs;
use std::path::Path;

use serde_json::Value;
use wh_testkit::{
    git::{commit, git, repository},
    server::TestServer,
};

use crate::harness::{Said, run, run_json, said};
use crate::terminal::Terminal;

const PROMPT: &str = "write made.txt yes";

/// Runs a prompt in a directory.
fn run_in(server: &TestServer, directory: &Path, flags: &[&str]) -> Said {
    let mut command = server.command();
    command.current_dir(directory);
    said(command.args(["run", "--agent", "echo", PROMPT]).args(flags))
}

/// Returns the newest session.
fn newest(server: &TestServer) -> Value {
    let id = run_json(server, &["ls"])["sessions"][0]["id"].clone();
    run_json(server, &["show", id.as_str().unwrap()])
}

#[test]
fn inside_a_repository_it_works_in_a_new_worktree_of_it() {
    let server = TestServer::start();
    let repo = repository(&server.home().join("app"));
    let inner = repo.join("src");
    fs::create_dir(&inner).unwrap();
    let first = run_in(&server, &inner, &[]);
    assert_eq!(first.code, 0, "{first:?}");
    let added = format!("added the repository app, {}", repo.display());
    assert!(first.stderr.contains(&added), "{first:?}");
    for part in ["new worktree from main", "--here", "--scratch"] {
        assert!(first.stderr.contains(part), "{first:?}");
    }
    let session = newest(&server);
    let diff = run(&server, &["diff", session["short_id"].as_str().unwrap()]);
    assert!(diff.stdout.contains("made.txt"), "{diff:?}");
    assert!(!repo.join("made.txt").exists());

    // It is known now; a linked worktree of it is the same repository.
    commit(&repo, "b.txt", "two\n");
    git(&repo, &["worktree", "add", "-q", "-b", "side", "../side"]);
    let again = run_in(&server, &repo.with_file_name("side"), &["--branch", "try"]);
    assert_eq!(again.code, 0, "{again:?}");
    assert!(
        again.stderr.contains("repository app: working"),
        "{again:?}"
    );
    assert!(!again.stderr.contains("added"), "{again:?}");
    let worktree = newest(&server)["worktree_id"].clone();
    let worktree = run_json(&server, &["worktree", "show", worktree.as_str().unwrap()]);
    assert_eq!(worktree["branch"], "try");
    let repos = run_json(&server, &["repo", "list"]);
    assert_eq!(repos["repos"].as_array().unwrap().len(), 1, "{repos}");
}

#[test]
fn a_person_at_a_terminal_is_told_what_was_done() {
    let server = TestServer::start();
    let repo = repository(&server.home().join("app"));
    let mut command = server.command();
    command.current_dir(&repo);
    command.args(["run", "--agent", "echo", "--no-color", "ask open it"]);
    let mut terminal = Terminal::start(&mut command);
    terminal.until("added the repository app");
    terminal.until("new worktree from main");
    terminal.until("y allows it");
    terminal.line("y");
    terminal.until("open it: allow");
    assert_eq!(terminal.wait().0, 0);
}

#[test]
fn flags_choose_another_directory() {
    let server = TestServer::start();
    let repo = repository(&server.home().join("app"));
    let scratch = run_in(&server, &repo, &["--scratch"]);
    assert_eq!(scratch.code, 0, "{scratch:?}");
    assert!(!scratch.stderr.contains("worktree"), "{scratch:?}");
    let session = newest(&server);
    assert_eq!(session["worktree_id"], Value::Null);
    assert_eq!(session["path"], Value::Null);
    assert!(!repo.join("made.txt").exists());
    let here = run_in(&server, &repo, &["--here"]);
    assert_eq!(here.code, 0, "{here:?}");
    assert!(repo.join("made.txt").exists());
    let repos = run_json(&server, &["repo", "list"]);
    assert_eq!(repos["repos"].as_array().unwrap().len(), 0, "{repos}");
    for flags in [["--scratch", "--here"], ["--scratch", "--branch=x"]] {
        assert_eq!(run_in(&server, &repo, &flags).code, 2, "{flags:?}");
    }
}

#[test]
fn outside_of_a_repository_it_works_in_an_empty_directory() {
    let server = TestServer::start();
    let outside = run_in(&server, server.home(), &[]);
    assert_eq!(outside.code, 0, "{outside:?}");
    assert_eq!(newest(&server)["worktree_id"], Value::Null);
    let unfit = run_in(&server, server.home(), &["--branch", "x"]);
    assert_eq!(unfit.code, 2, "{unfit:?}");
    assert!(
        unfit.stderr.contains("run this inside a repository"),
        "{unfit:?}"
    );
}

#[test]
fn a_repository_that_cannot_be_used_is_refused_with_a_way_out() {
    let server = TestServer::start();
    // Without a commit there is nothing to make a worktree of.
    let empty = server.home().join("empty");
    fs::create_dir(&empty).unwrap();
    git(&empty, &["init", "-q", "-b", "main"]);
    let refused = run_in(&server, &empty, &[]);
    assert_ne!(refused.code, 0, "{refused:?}");
    assert!(
        refused.stderr.contains("--scratch in an empty one"),
        "{refused:?}"
    );
}

#[test]
fn a_server_on_another_machine_cannot_see_the_repository() {
    let server = TestServer::start();
    let repo = repository(&server.home().join("app"));
    let mut command = server.command();
    command.current_dir(&repo);
    command.env("WHEELHOUSE_URL", server.url());
    command.env("WHEELHOUSE_KEY", server.key("full"));
    let elsewhere = said(command.args(["run", "--agent", "echo", PROMPT]));
    assert_eq!(elsewhere.code, 0, "{elsewhere:?}");
    assert!(
        elsewhere.stderr.contains("cannot see this repository"),
        "{elsewhere:?}"
    );
    assert_eq!(newest(&server)["worktree_id"], Value::Null);
}
