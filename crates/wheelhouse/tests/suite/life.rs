//! Sessions listed, waited for, answered, stopped and deleted.

use std::time::{Duration, Instant};

use wh_testkit::server::TestServer;

use crate::harness::{run, run_json};
use crate::run::{begin, echo};

#[test]
fn what_is_asked_is_listed_and_answered() {
    let server = TestServer::start();
    let session = begin(&server, "ask open it\nquestion which colour?\nask close it");
    assert_eq!(run(&server, &["wait", &session]).code, 8);
    let waits = run_json(&server, &["ls", "--needs-you"]);
    assert_eq!(waits["sessions"][0]["stage"], "needs_you", "{waits}");
    let listed = run(&server, &["approvals"]);
    assert!(listed.stdout.contains("open it"), "{listed:?}");
    let asked = run_json(&server, &["approvals"]);
    let first = asked["approvals"][0]["id"].as_str().unwrap();
    assert_eq!(run(&server, &["approve", first]).code, 0);
    // A session that asks for one thing will do for the thing's id.
    assert_eq!(run(&server, &["wait", &session]).code, 8);
    let empty = run(&server, &["approve", &session]);
    assert_eq!(empty.code, 2, "a question is answered in words: {empty:?}");
    assert_eq!(run(&server, &["answer", &session, "blue"]).code, 0);
    assert_eq!(run(&server, &["wait", &session]).code, 8);
    assert_eq!(
        run(&server, &["deny", &session, "--reason", "it is late"]).code,
        0
    );
    assert_eq!(run(&server, &["wait", &session, "--timeout", "60"]).code, 0);
    // The reason comes with a prompt of its own, which the agent repeats.
    let deadline = Instant::now() + Duration::from_secs(60);
    let log = loop {
        assert_eq!(run(&server, &["wait", &session, "--timeout", "60"]).code, 0);
        let log = run(&server, &["logs", &session]).stdout;
        let prompt = log.rsplit_once("admin> Your request was denied:");
        let reason = "it is late";
        if prompt.is_some_and(|(_, rest)| rest.matches(reason).count() == 2) {
            break log;
        }
        assert!(
            Instant::now() < deadline,
            "the reason did not arrive: {log}"
        );
        std::thread::sleep(Duration::from_millis(20));
    };
    for words in [
        "open it: allow",
        "? question: which colour?\nadmin answers> blue\n",
        "close it: reject",
        "✗ close it: failed",
    ] {
        assert!(log.contains(words), "{words}: {log}");
    }
    let none = run(&server, &["ls", "--needs-you"]);
    assert!(
        (none.stdout + &none.stderr).contains("nothing needs you"),
        "it is done"
    );
    let none = run(&server, &["approvals"]);
    assert_eq!((none.code, none.stdout.as_str()), (0, ""));
    assert_eq!(run(&server, &["approve", "00000000"]).code, 3);
}

#[test]
fn sessions_are_waited_for_together_and_for_some_time() {
    let server = TestServer::start();
    let (slow, quick) = (begin(&server, "sleep 60"), begin(&server, "say quick"));
    assert_eq!(run(&server, &["wait", &slow, &quick, "--any"]).code, 0);
    let late = run(
        &server,
        &["wait", &slow, &quick, "--timeout", "1", "--json"],
    );
    assert_eq!((late.code, late.json()["done"].as_bool()), (9, Some(false)));
    assert_eq!(late.error()["code"], "TIMED_OUT");
}

#[test]
fn sessions_are_stopped_resumed_and_deleted() {
    let server = TestServer::start();
    let session = begin(&server, "say I was here\nsleep 60");
    let stopped = run(&server, &["stop", &session]);
    assert!(
        stopped.code == 0 && stopped.stdout.contains("stopped"),
        "{stopped:?}"
    );
    assert_eq!(run(&server, &["resume", &session]).code, 0);
    assert_eq!(run(&server, &["wait", &session, "--timeout", "60"]).code, 0);
    let state = run_json(&server, &["show", &session])["state"].clone();
    assert_eq!(state, "idle");
    let kept = run(&server, &["rm", &session]);
    assert_eq!(kept.code, 2, "a script must say that it means it: {kept:?}");
    assert_eq!(run(&server, &["rm", &session, "--yes"]).code, 0);
    assert_eq!(run(&server, &["show", &session]).code, 3);
    // A runner ends a moment after the agent that it held.
    let deadline = Instant::now() + Duration::from_secs(10);
    while server.runs().iter().any(|run| run.alive.is_some()) {
        assert!(Instant::now() < deadline, "a process was left behind");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn the_list_shows_what_tells_sessions_apart() {
    let server = TestServer::start();
    assert_eq!(echo(&server, "say hello").code, 0);
    let list = run(&server, &["ls"]);
    let heading = list.stdout.lines().next().unwrap();
    assert_eq!(
        heading.split_whitespace().collect::<Vec<_>>(),
        ["ID", "TITLE", "AGENT", "STATE", "AGE", "COST"]
    );
    assert!(list.stdout.contains("say hello  echo   idle"), "{list:?}");
    let none = run(&server, &["ls", "--state", "failed"]);
    assert!(none.stderr.contains("no such sessions"), "{none:?}");
}
