//! `run` and `send`: a prompt, what is shown of it, and how the command ends.

use serde_json::Value;
use wh_testkit::{git::repository, server::TestServer};

use crate::follow::Reader;
use crate::harness::{Said, assert_said, run, run_json};

/// Runs the built-in agent.
pub(crate) fn echo(server: &TestServer, prompt: &str) -> Said {
    run(server, &["run", "--agent", "echo", prompt])
}

/// Begins a session of the built-in agent and returns its id.
pub(crate) fn begin(server: &TestServer, prompt: &str) -> String {
    let session = run_json(server, &["run", "--agent", "echo", "--detach", prompt]);
    session["short_id"].as_str().unwrap().to_owned()
}

/// Returns lines of JSON.
pub(crate) fn lines(text: &str) -> Vec<Value> {
    let read = |line| serde_json::from_str(line).unwrap();
    text.lines().map(read).collect()
}

#[test]
fn a_session_is_followed_to_its_end() {
    let server = TestServer::start();
    let said = echo(&server, "say hello\nwrite a.txt hi\ncount 3 20\nsay bye");
    assert_said!("run", said, server.home());
}

#[test]
fn characters_that_cannot_be_seen_are_shown_as_escapes() {
    let server = TestServer::start();
    let hidden = ['\u{200b}', '\u{202e}', '\u{e0041}', '\u{2060}'];
    let family = "👨\u{200d}👩\u{200d}👧";
    let text: String = hidden.iter().collect();
    let followed = echo(&server, &format!("say a{text}b {family}"));
    let session = begin(&server, &format!("say a{text}b {family}"));
    run(&server, &["wait", &session]);
    for said in [
        followed,
        run(&server, &["logs", &session]),
        run(&server, &["logs", &session, "--json"]),
        run(&server, &["ls"]),
        run(&server, &["show", &session]),
    ] {
        let shown = format!("{}{}", said.stdout, said.stderr);
        assert!(!shown.contains(hidden), "{shown:?}");
        assert_eq!(said.code, 0, "{said:?}");
    }
    let logs = run(&server, &["logs", &session]).stdout;
    assert!(
        logs.contains("a\\u{200b}\\u{202e}\\u{e0041}\\u{2060}b"),
        "{logs}"
    );
    assert!(logs.contains(family), "{logs}");
}

#[test]
fn here_is_the_current_directory() {
    let server = TestServer::start();
    let folder = server.home().join("project");
    std::fs::create_dir(&folder).unwrap();
    let mut command = server.command();
    command.current_dir(&folder);
    command.args(["run", "--agent", "echo", "--here", "write made.txt yes"]);
    let said = crate::harness::said(&mut command);
    assert_eq!(said.code, 0, "{said:?}");
    let made = std::fs::read_to_string(folder.join("made.txt")).unwrap();
    assert_eq!(made, "yes\n");
}

#[test]
fn a_repository_that_is_named_by_its_path_is_added_once() {
    let server = TestServer::start();
    let repo = repository(&server.home().join("app"));
    let inner = repo.join("inner");
    std::fs::create_dir(&inner).unwrap();
    for folder in [&repo, &inner] {
        let mut command = server.command();
        command.current_dir(folder);
        command.args(["run", "--agent", "echo", "--repo", ".", "write a.txt new"]);
        let said = crate::harness::said(&mut command);
        assert_eq!(said.code, 0, "{said:?}");
    }
    let repos = run_json(&server, &["repo", "list"]);
    assert_eq!(repos["repos"].as_array().unwrap().len(), 1, "{repos}");
    let worktrees = run_json(&server, &["worktree", "ls"]);
    assert_eq!(worktrees["worktrees"].as_array().unwrap().len(), 2);
    let wrong = run(&server, &["run", "--agent", "echo", "--repo", "nope", "hi"]);
    assert_eq!(wrong.code, 3, "{wrong:?}");
    assert!(wrong.stderr.contains("`wheelhouse repo list`"), "{wrong:?}");
}

#[test]
fn a_repository_is_worked_on_in_a_worktree() {
    let server = TestServer::start();
    let repo = repository(&server.home().join("app"));
    run_json(&server, &["repo", "add", repo.to_str().unwrap()]);
    let prompt = "write a.txt new";
    let said = run(
        &server,
        &[
            "run", "--agent", "echo", "--repo", "app", "--branch", "try", prompt,
        ],
    );
    assert_eq!(said.code, 0, "{said:?}");
    assert_eq!(
        std::fs::read_to_string(repo.join("a.txt")).unwrap(),
        "one\n"
    );
    let session = run_json(&server, &["ls"])["sessions"][0]["id"].clone();
    let session = run_json(&server, &["show", session.as_str().unwrap()]);
    for name in ["worktree_id", "id", "short_id"] {
        let diff = run(&server, &["diff", session[name].as_str().unwrap()]);
        assert!(diff.stdout.contains("+new"), "{name}: {diff:?}");
    }
    let id = session["short_id"].as_str().unwrap();
    let shown = run_json(&server, &["worktree", "show", id]);
    assert_eq!(shown["id"], session["worktree_id"]);
    let beside = run_json(&server, &["ls", "--worktree", id]);
    assert_eq!(beside["sessions"][0]["id"], session["short_id"]);
    let merge = ["worktree", "merge", id];
    let refused = run(&server, &merge);
    assert_eq!(refused.code, 5, "{refused:?}");
    assert!(
        refused.stderr.contains("add `--leave-uncommitted`"),
        "{refused:?}"
    );
    let in_use = run(&server, &["worktree", "rm", id]);
    assert_eq!(in_use.code, 5, "{in_use:?}");
    let unfit = run(&server, &["run", "--branch", "x", "say y"]);
    assert_eq!(unfit.code, 2, "{unfit:?}");
}

#[test]
fn a_session_without_a_worktree_has_no_diff() {
    let server = TestServer::start();
    let folder = server.home().to_str().unwrap();
    let arguments = ["run", "--detach", "--agent", "echo", "--path", folder, "hi"];
    let here = run_json(&server, &arguments);
    let refused = run(&server, &["diff", here["id"].as_str().unwrap()]);
    assert_said!("diff_of_a_directory", refused, server.home());
    let scratch = run(&server, &["diff", &begin(&server, "say x")]);
    assert_eq!(scratch.code, 2, "{scratch:?}");
    assert!(scratch.stderr.contains("--repo"), "{scratch:?}");
    let nobody = run(&server, &["diff", "01234567"]);
    assert_eq!(nobody.code, 3, "{nobody:?}");
    assert!(nobody.stderr.contains("worktree ls"), "{nobody:?}");
}

#[test]
fn how_a_turn_ended_is_the_exit_code() {
    let server = TestServer::start();
    let failed = echo(&server, "crash");
    assert_eq!(failed.code, 1, "{failed:?}");
    assert!(failed.stderr.contains("the turn failed"), "{failed:?}");
    let asked = echo(&server, "ask open it\nsay after");
    assert_said!("run_needs_answer", asked, server.home());
    let unknown = run(&server, &["run", "--agent", "nobody", "say x"]);
    assert_eq!(unknown.code, 2, "{unknown:?}");
    let lost = run(
        &server,
        &[
            "run",
            "--agent",
            "echo",
            "--path",
            "/dev/null/absent",
            "say x",
        ],
    );
    assert_eq!(lost.code, 2, "{lost:?}");
}

#[test]
fn a_cancelled_turn_has_an_exit_code_of_its_own() {
    let server = TestServer::start();
    let session = begin(&server, "say first");
    assert_eq!(run(&server, &["wait", &session]).code, 0);
    let mut sending = server.command();
    sending.args(["send", &session, "--wait", "--json", "say begun\nsleep 60"]);
    let sending = Reader::start(&mut sending);
    sending.until("begun");
    assert_eq!(run(&server, &["interrupt", &session]).code, 0);
    let ended = sending.wait();
    assert_eq!(ended.code, 7, "{ended:?}");
    assert_eq!(ended.error()["code"], "CANCELLED");
}

#[test]
fn followed_output_is_lines_of_json() {
    let server = TestServer::start();
    let arguments = [
        "run",
        "--agent",
        "echo",
        "--json",
        "count 3 20\nwrite a.txt x",
    ];
    let said = run(&server, &arguments);
    assert_eq!(said.code, 0, "{said:?}");
    let lines = lines(&said.stdout);
    let kinds: Vec<_> = lines
        .iter()
        .map(|line| line["type"].as_str().unwrap())
        .collect();
    assert_eq!(kinds.first(), Some(&"session"), "{kinds:?}");
    assert_eq!(kinds.last(), Some(&"turn"), "{kinds:?}");
    assert_eq!(lines.last().unwrap()["turn"]["state"], "completed");
    let words = lines
        .iter()
        .rfind(|line| line["message"]["kind"] == "agent");
    assert_eq!(words.unwrap()["message"]["text"], "1 2 3 ");
    assert!(said.stderr.is_empty(), "{said:?}");
}

#[test]
fn a_prompt_is_sent_and_only_its_turn_is_told() {
    let server = TestServer::start();
    let session = begin(&server, "say first");
    let said = run(&server, &["send", &session, "--wait", "say second"]);
    assert_eq!(
        (said.code, said.stdout.as_str()),
        (0, "second\n"),
        "{said:?}"
    );
    let busy = begin(&server, "say begun\nsleep 60");
    let mut following = server.command();
    Reader::start(following.args(["logs", "-f", &busy])).until("begun");
    let refused = run(&server, &["send", &busy, "--reject", "say no"]);
    assert_eq!(refused.code, 5, "{refused:?}");
    let steered = run(
        &server,
        &["send", &busy, "--steer", "--wait", "say instead"],
    );
    assert_eq!((steered.code, steered.stdout.as_str()), (0, "instead\n"));
    let turns = run_json(&server, &["turns", &busy]);
    let states: Vec<_> = turns["turns"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| &it["state"])
        .collect();
    assert_eq!(states, ["completed", "cancelled"]);
}

#[test]
fn files_are_sent_along() {
    let server = TestServer::start();
    let session = begin(&server, "say ready");
    assert_eq!(run(&server, &["wait", &session]).code, 0);
    let (notes, missing) = (
        server.home().join("notes.txt"),
        server.home().join("missing"),
    );
    std::fs::write(&notes, "buy milk").unwrap();
    let path = notes.to_str().unwrap();
    let sent = run(&server, &["send", &session, "files", "--file", path, "-w"]);
    assert_eq!(sent.code, 0, "{sent:?}");
    let line = "resource notes.txt text/plain 8 bytes";
    assert!(sent.stdout.contains(line), "{sent:?}");
    let begun = run(&server, &["run", "--agent", "echo", "files", "-f", path]);
    assert_eq!(begun.code, 0, "{begun:?}");
    assert!(begun.stdout.contains(line), "{begun:?}");
    let spawn = ["spawn", &session, "files", "--file", path, "--wait"];
    let child = run(&server, &spawn);
    assert!(child.stdout.contains(line), "{child:?}");
    let path = missing.to_str().unwrap();
    let refused = run(&server, &["send", &session, "files", "--file", path]);
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(refused.stderr.contains("missing"), "{refused:?}");
    assert!(refused.stderr.contains("check the path"), "{refused:?}");
    let folder = server.home().to_str().unwrap();
    let refused = run(&server, &["send", &session, "files", "--file", folder]);
    assert!(refused.stderr.contains("its own --file"), "{refused:?}");
    let many = ["--file", path].repeat(9);
    let refused = run(&server, &[&["send", &session, "files"][..], &many].concat());
    assert!(refused.stderr.contains("more than 8"), "{refused:?}");
    assert!(refused.stderr.contains("another `wheelhouse send`"));
}
