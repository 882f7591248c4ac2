//! Worktrees through the binary, with real git.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use wh_testkit::git::{commit, git, plant_traps, program, repository};
use wh_testkit::server::TestServer;

use crate::harness::{assert_said, run, run_json};

/// A server that knows a repository `app`.
fn server() -> (TestServer, PathBuf) {
    let server = TestServer::start();
    let repo = repository(&server.home().join("app"));
    run_json(&server, &["repo", "add", repo.to_str().unwrap()]);
    (server, repo)
}

fn create(server: &TestServer, arguments: &[&str]) -> (String, PathBuf) {
    let made = run_json(
        server,
        &[&["worktree", "create", "app"], arguments].concat(),
    );
    let text = |name: &str| made[name].as_str().unwrap().to_owned();
    (text("short_id"), text("path").into())
}

fn error(server: &TestServer, arguments: &[&str]) -> Value {
    let said = run(server, &[arguments, &["--json"]].concat());
    assert_ne!(said.code, 0, "{said:?}");
    said.error()
}

#[test]
fn work_is_made_compared_merged_and_cleaned_up() {
    let (server, repo) = server();
    let made = run(&server, &["worktree", "create", "app", "--branch", "topic"]);
    assert_said!("worktree_create", made, server.home());
    let list = run_json(&server, &["worktree", "ls"]);
    let id = list["worktrees"][0]["id"].as_str().unwrap();
    let path = Path::new(list["worktrees"][0]["path"].as_str().unwrap());
    commit(path, "b.txt", "two\tcolumns\n");
    fs::write(path.join("draft"), "\u{1b}[31mred\n").unwrap();
    assert_said!("worktree_diff", run(&server, &["diff", id]), server.home());
    let stat = run(&server, &["worktree", "diff", id, "--stat"]);
    assert_said!("worktree_diff_stat", stat, server.home());
    assert_eq!(
        error(&server, &["worktree", "merge", id])["code"],
        "CONFLICT"
    );
    fs::remove_file(path.join("draft")).unwrap();
    let merged = run_json(&server, &["worktree", "merge", id]);
    assert_eq!(merged["outcome"], "fast_forward");
    assert!(repo.join("b.txt").exists());
    let dry = run_json(&server, &["worktree", "prune", "--dry-run"]);
    assert_eq!(dry["worktrees"][0]["action"], "remove");
    assert!(path.exists());
    let pruned = run_json(&server, &["worktree", "prune"]);
    assert_eq!(pruned["worktrees"][0]["action"], "removed");
    assert!(!path.exists());
    assert_eq!(git(&repo, &["branch", "--list", "topic"]), "topic");
}

#[test]
fn a_conflict_is_reported_and_changes_nothing() {
    let (server, repo) = server();
    let (id, path) = create(&server, &["--name", "one"]);
    commit(&path, "a.txt", "theirs\n");
    commit(&repo, "a.txt", "ours\n");
    let before = git(&repo, &["rev-parse", "main"]);
    let said = error(&server, &["worktree", "merge", &id]);
    assert_eq!(said["code"], "CONFLICT");
    assert_eq!(said["details"]["conflicts"][0], "a.txt");
    assert_eq!(git(&repo, &["rev-parse", "main"]), before);
    assert_eq!(git(&repo, &["status", "--porcelain"]), "");
    assert_eq!(git(&path, &["status", "--porcelain"]), "");
}

#[test]
fn a_removal_is_refused_and_then_saves_everything() {
    let (server, repo) = server();
    let (id, path) = create(&server, &["--name", "one"]);
    commit(&path, "b.txt", "two\n");
    fs::write(path.join("draft.txt"), "unsaved\n").unwrap();
    let said = error(&server, &["worktree", "rm", &id]);
    assert_eq!(said["code"], "CONFLICT");
    let kinds: Vec<_> = said["details"]["risks"]
        .as_array()
        .unwrap()
        .iter()
        .map(|r| r["kind"].clone())
        .collect();
    assert_eq!(kinds, ["untracked", "unpushed"]);
    assert!(path.join("draft.txt").exists());
    let dry = run_json(&server, &["worktree", "prune", "--dry-run"]);
    assert_eq!(dry["worktrees"][0]["action"], "keep");
    let gone = run_json(&server, &["worktree", "rm", &id, "--rescue"]);
    let rescue = gone["rescue"].as_str().unwrap();
    assert!(!path.exists());
    let saved = git(&repo, &["show", &format!("{rescue}:draft.txt")]);
    assert_eq!(saved, "unsaved");
    let shown = run_json(&server, &["worktree", "show", &id]);
    assert_eq!(shown["state"], "removed");
}

#[test]
fn one_that_was_taken_away_is_missing_and_can_be_tidied_up() {
    let (server, repo) = server();
    let (id, path) = create(&server, &["--branch", "topic"]);
    git(&repo, &["worktree", "remove", path.to_str().unwrap()]);
    let shown = run_json(&server, &["worktree", "show", &id]);
    assert_eq!(shown["state"], "missing");
    assert_eq!(shown["missing"], "directory_gone");
    assert_eq!(
        run_json(&server, &["worktree", "ls"])["worktrees"][0]["state"],
        "missing"
    );
    let said = error(&server, &["diff", &id]);
    assert_eq!(
        (said["code"].as_str(), &said["details"]["missing"]),
        (Some("CONFLICT"), &true.into())
    );
    run_json(&server, &["worktree", "rm", &id]);
    create(&server, &["--branch", "topic"]);
}

#[test]
fn nothing_that_a_repository_plants_is_run() {
    let (server, repo) = server();
    let (id, path) = create(&server, &["--name", "one"]);
    let canary = plant_traps(&repo);
    fs::write(path.join("a.txt"), "changed\n").unwrap();
    git(&repo, &["status"]);
    assert!(canary.exists(), "the traps are not armed");
    fs::remove_file(&canary).unwrap();
    let (two, other) = create(&server, &["--name", "two"]);
    fs::write(other.join("a.txt"), "otherwise\n").unwrap();
    for command in [
        &["worktree", "show", &id][..],
        &["diff", &id],
        &["worktree", "merge", &two, "--leave-uncommitted"],
        &["worktree", "prune", "--dry-run"],
        &["worktree", "rm", &two, "--rescue"],
        &["worktree", "rm", &id, "--rescue"],
    ] {
        run_json(&server, command);
    }
    run_json(
        &server,
        &["repo", "add", repo.to_str().unwrap(), "--name", "again"],
    );
    let ran = fs::read_to_string(&canary).unwrap_or_default();
    assert_eq!(ran, "");
}

#[test]
fn what_is_elsewhere_is_cloned_and_worked_on() {
    let server = TestServer::start();
    let origin = repository(&server.home().join("origin"));
    git(&origin, &["branch", "feature"]);
    // Runs on this machine what would run on the other.
    let ssh = "#!/bin/sh\nfor last; do :; done\nexec sh -c \"$last\"\n";
    program(&server.home().join("bin/ssh"), ssh);
    let url = format!("ssh://git@example.org{}", origin.display());
    let added = run_json(&server, &["repo", "add", &url, "--name", "app"]);
    assert_eq!(
        (&added["state"], &added["default_branch"]),
        (&"ready".into(), &"main".into())
    );
    let (id, path) = create(&server, &["--branch", "feature"]);
    assert_eq!(fs::read_to_string(path.join("a.txt")).unwrap(), "one\n");
    commit(&path, "b.txt", "two\n");
    let diff = run_json(&server, &["diff", &id]);
    assert_eq!(diff["files"][0]["path"], "b.txt");
    // New work begins where the source is now.
    commit(&origin, "c.txt", "three\n");
    let (_, fresh) = create(&server, &["--name", "fresh"]);
    assert!(fresh.join("c.txt").exists());
    // The mirror is the server's own; where it came from is not touched.
    assert_eq!(
        run_json(&server, &["worktree", "merge", &id])["into"],
        "main"
    );
    assert!(!origin.join("b.txt").exists());
    let wrong = format!("ssh://git@example.org{}/absent", origin.display());
    let said = run(&server, &["repo", "add", &wrong, "--json"]);
    assert_ne!(said.code, 0);
    let list = run_json(&server, &["repo", "list"]);
    assert_eq!(list["repos"][0]["state"], "failed");
}

#[test]
fn a_worktree_survives_the_server() {
    let (mut server, _) = server();
    let (id, path) = create(&server, &["--name", "one"]);
    fs::write(path.join("draft.txt"), "unsaved\n").unwrap();
    server.kill9();
    server.restart();
    let shown = run_json(&server, &["worktree", "show", &id]);
    assert_eq!(shown["status"]["untracked"][0], "draft.txt");
}

#[test]
fn what_is_uncommitted_is_committed_and_merged_and_the_worktree_removed_after() {
    let (server, repo) = server();
    let (id, path) = create(&server, &["--branch", "topic"]);
    fs::write(path.join("draft.txt"), "to be kept\n").unwrap();
    let merge = ["worktree", "merge", &id, "--commit", "Keep the draft"];
    let merged = run_json(&server, &[&merge[..], &["--remove-after"]].concat());
    assert_eq!(merged["outcome"], "fast_forward", "{merged}");
    assert_eq!(
        git(&repo, &["log", "-1", "--format=%s", "main"]),
        "Keep the draft"
    );
    assert_eq!(git(&repo, &["show", "main:draft.txt"]), "to be kept");
    assert!(!path.exists());
    let shown = run_json(&server, &["worktree", "show", &id]);
    assert_eq!(shown["state"], "removed");
    assert_eq!(git(&repo, &["branch", "--list", "topic"]), "");
}
