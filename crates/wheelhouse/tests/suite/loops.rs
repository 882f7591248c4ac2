//! Lists, notes and loops on the command line.

use std::fs;

use wh_testkit::{git::repository, server::TestServer};

use crate::harness::{run, run_json};

#[test]
fn tasks_are_added_taken_and_changed_and_notes_are_listed() {
    let server = TestServer::start();
    let list = ["--list", "release"];
    let cli = |arguments: &[&str]| run(&server, &[arguments, &list[..]].concat());
    let added = cli(&["task", "add", "write the notes", "tag the commit"]);
    assert_eq!(added.code, 0, "{added:?}");
    assert!(added.stdout.contains("write the notes") && added.stdout.contains("remaining"));
    let publish = [
        "task",
        "add",
        "publish",
        "--depends-on",
        "1",
        "--depends-on",
        "2",
        "--priority",
        "0",
    ];
    assert_eq!(cli(&publish).code, 0);
    // The most urgent waits for others, so the first of the others is next.
    let next = cli(&["task", "next", "--claim"]);
    assert_eq!(next.stdout.trim(), "#1 write the notes", "{next:?}");
    for number in ["1", "2"] {
        let done = cli(&["task", "update", number, "--status", "completed"]);
        assert_eq!(done.stdout.trim(), format!("#{number} is completed"));
    }
    assert_eq!(cli(&["task", "next"]).stdout.trim(), "#3 publish");
    let circle = cli(&["task", "update", "1", "--depends-on", "3"]);
    assert_eq!(circle.code, 2, "{circle:?}");
    let shown = run_json(&server, &["task", "ls", "--list", "release"]);
    assert_eq!(shown["groups"][0]["status"], "remaining", "{shown}");
    let noted = cli(&["note", "add", "--kind", "decision", "tags are signed"]);
    assert_eq!(noted.code, 0, "{noted:?}");
    cli(&["note", "add", "--kind", "stuck", "no key yet"]);
    let all = cli(&["note", "ls"]);
    assert!(all.stdout.contains("tags are signed") && all.stdout.contains("no key yet"));
    let stuck = cli(&["note", "ls", "--kind", "stuck"]);
    assert!(!stuck.stdout.contains("tags are signed"), "{stuck:?}");
    let both = run(
        &server,
        &["task", "ls", "--list", "release", "--loop", "89abcdef"],
    );
    assert_eq!(both.code, 2, "{both:?}");
}

#[test]
fn notes_can_be_read_in_full() {
    let server = TestServer::start();
    let text = format!("first line\n{}the end", "and on ".repeat(1_000));
    let add = ["note", "add", "--list", "release", "--kind", "tip", &text];
    assert_eq!(run(&server, &add).code, 0);
    let listed = run(&server, &["note", "ls", "--list", "release"]);
    assert!(!listed.stdout.contains("the end"), "{listed:?}");
    assert!(listed.stderr.contains("--full"), "{listed:?}");
    let full = run(&server, &["note", "ls", "--list", "release", "--full"]);
    assert!(full.stdout.contains("tip, just now"), "{full:?}");
    assert!(full.stdout.contains("and on the end"), "{full:?}");
    let json = run_json(&server, &["note", "ls", "--list", "release"]);
    assert_eq!(json["notes"][0]["content"], *text);
}

#[test]
fn a_list_is_summed_up_and_completed_once_nothing_is_open() {
    let server = TestServer::start();
    let cli = |arguments: &[&str]| {
        let list = ["--list", "release"];
        run(&server, &[arguments, &list[..]].concat())
    };
    let added = run_json(
        &server,
        &["task", "add", "--list", "release", "write", "tag"],
    );
    let id = added["tasks"][0]["id"].as_str().unwrap();
    assert_eq!(cli(&["task", "update", "2", "--depends-on", "1"]).code, 0);
    // Dependencies are the ids that the list shows.
    let listed = cli(&["task", "ls"]);
    let mentioned = listed.stdout.matches(id).count();
    assert_eq!(mentioned, 2, "{listed:?}");

    let summary = cli(&["loop", "summary", "wrote the tests; the parser is next"]);
    assert_eq!(summary.code, 0, "{summary:?}");
    assert_eq!(
        summary.stdout,
        "iteration 1: wrote the tests; the parser is next\n"
    );
    let early = cli(&["loop", "complete"]);
    assert_ne!(early.code, 0, "{early:?}");
    assert!(early.stderr.contains("`wheelhouse task"), "{early:?}");
    for number in ["1", "2"] {
        cli(&["task", "update", number, "--status", "completed"]);
    }
    let complete = cli(&["loop", "complete"]);
    assert_eq!(complete.code, 0, "{complete:?}");
    assert_eq!(complete.stdout, "release is complete\n");
    let nowhere = run(&server, &["loop", "complete"]);
    assert_eq!(nowhere.code, 2, "{nowhere:?}");
    assert!(nowhere.stderr.contains("--list NAME"), "{nowhere:?}");
}

#[test]
fn a_loop_is_started_followed_shown_and_stopped() {
    let server = TestServer::start();
    let repo = repository(&server.home().join("app"));
    let template = server.home().join("template.txt");
    let text = r#"call task_next {"claim": true}
{{ next.content }}
call task_update {"task": "{{ next.number }}", "status": "completed"}
call loop_complete {}"#;
    fs::write(&template, text).unwrap();
    let (repo, template) = (repo.to_str().unwrap(), template.to_str().unwrap());
    let start = |more: &[&str]| {
        let common = ["loop", "start", "--agent", "echo", "--repo", repo];
        run(&server, &[&common, more].concat())
    };
    let done = start(&[
        "Write two files.",
        "--template",
        template,
        "--task",
        "write a.txt a",
        "--task",
        "write b.txt b",
        "--in-order",
    ]);
    assert_eq!(done.code, 0, "{done:?}");
    assert!(
        done.stdout.contains("loop: completed: the work is done"),
        "{done:?}"
    );
    assert!(done.stdout.contains("iteration 2: done"), "{done:?}");
    let list = run_json(&server, &["loop", "ls"]);
    assert_eq!(list["loops"][0]["outcome"], "completed", "{list}");
    let id = list["loops"][0]["id"].as_str().unwrap();
    let shown = run(&server, &["loop", "show", id]);
    assert!(shown.stdout.contains("2 completed"), "{shown:?}");
    let tasks = run_json(&server, &["task", "ls", "--loop", id]);
    assert_eq!(tasks["groups"][0]["total"], 2, "{tasks}");
    let logs = run(&server, &["loop", "logs", id]);
    assert_eq!(logs.stdout, done.stdout, "followed or read, it is the same");
    assert_eq!(
        run(&server, &["loop", "logs", "-f", id]).stdout,
        logs.stdout
    );
    // One that ends without being done is a failure.
    let stalled = start(&["--prompt", "say nothing"]);
    assert_eq!(stalled.code, 1, "{stalled:?}");
    assert!(stalled.stderr.contains("stalled"), "{stalled:?}");
    let begun = start(&["--prompt", "sleep 600", "--detach"]);
    let id = begun.stdout.trim();
    assert_eq!(run(&server, &["loop", "pause", id]).code, 0);
    let resumed = run_json(&server, &["loop", "resume", id]);
    assert!(resumed["wanted"].is_null(), "{resumed}");
    let stopped = run_json(&server, &["loop", "stop", id]);
    assert!(stopped["wanted"] == "stop" || stopped["outcome"] == "stopped");
    let followed = run(&server, &["loop", "logs", "-f", id]);
    assert!(
        followed.stdout.ends_with("loop: stopped: it was stopped\n"),
        "{followed:?}"
    );
    let neither = run(
        &server,
        &["loop", "start", "--agent", "echo", "--repo", repo],
    );
    assert_eq!(neither.code, 2, "{neither:?}");
}

#[test]
fn a_loop_that_reached_a_limit_is_resumed_with_more() {
    let server = TestServer::start();
    let repo = repository(&server.home().join("app"));
    let ended = run(
        &server,
        &[
            "loop",
            "start",
            "--agent",
            "echo",
            "--repo",
            repo.to_str().unwrap(),
            "--prompt",
            "write a.txt 1\nsay one two three four",
            "--iterations",
            "1",
            "--budget-tokens",
            "10",
            "--budget-usd",
            "2.50",
        ],
    );
    assert_eq!(ended.code, 1, "{ended:?}");
    let list = run_json(&server, &["loop", "ls"]);
    let id = list["loops"][0]["id"].as_str().unwrap();
    let shown = run_json(&server, &["loop", "show", id]);
    assert_eq!(shown["budget"]["cost_micros"], 2_500_000, "{shown}");
    let resume = |more: &[&str]| run(&server, &[&["loop", "resume", id], more].concat());
    let refused = resume(&[]);
    assert_eq!(refused.code, 5, "{refused:?}");
    for hint in [
        "run `wheelhouse loop resume ID --budget-usd USD`",
        "run `wheelhouse loop resume ID --iterations N`",
    ] {
        assert!(refused.stderr.contains(hint), "{refused:?}");
    }
    let more = [
        "--budget-tokens",
        "none",
        "--budget-usd",
        "5",
        "--iterations",
        "2",
    ];
    let resumed = resume(&more);
    assert_eq!(resumed.code, 0, "{resumed:?}");
    let followed = run(&server, &["loop", "logs", "-f", id]);
    assert!(
        followed
            .stdout
            .contains("resumed: no limit of tokens, at most $5.00, at most 2 iterations"),
        "{followed:?}"
    );
    let shown = run_json(&server, &["loop", "show", id]);
    assert_eq!(shown["iteration"], 2, "{shown}");
    assert!(shown["budget"]["tokens"].is_null(), "{shown}");
}

#[test]
fn hooks_that_cannot_be_are_refused_at_the_start() {
    let server = TestServer::stopped();
    for (config, problem) in [
        (
            "[loops.hooks]\npre_iteraton = [\"x\"]\n",
            "there is no hook",
        ),
        ("[loops.hooks]\non_error = []\n", "needs a program"),
        ("[loops.hooks]\non_error = [\"./mine\"]\n", "from the root"),
        ("[loops]\nhook_seconds = 0\n", "from 1 to 3600"),
    ] {
        server.configure(config);
        let refused = run(&server, &["serve"]);
        assert_eq!(refused.code, 2, "{refused:?}");
        assert!(refused.stderr.contains(problem), "{refused:?}");
    }
}
