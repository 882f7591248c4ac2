//! Following a turn: what is shown before the agent speaks, and what Ctrl-C does.

use std::io::ErrorKind;
use std::net::TcpListener;

use wh_testkit::server::{TestServer, binary};

use crate::follow::Reader;
use crate::harness::{run, run_json};
use crate::run::begin;
use crate::terminal::Terminal;

/// What clears a line of progress.
const CLEARED: &str = "\r\u{1b}[K";

/// Starts a server with an agent that speaks only when the file `go` is in its home directory.
fn with_slow_agent() -> TestServer {
    let mut server = TestServer::stopped();
    let script = "until [ -e /tmp/go ]; do sleep 0.02; done; exec \"$0\" agent echo";
    let command = ["sh", "-c", script, binary().to_str().unwrap()].map(|word| format!("{word:?}"));
    server.configure(&format!(
        "[agents.slow]\ncommand = [{}]\n",
        command.join(", ")
    ));
    server.restart();
    server
}

/// Lets the slow agent go on, through the directory that it sees as `/tmp`. The home directory would not do: an agent may not notice
/// what appears there while it runs.
fn release(server: &TestServer) {
    let homes = server.data_dir().join("homes");
    let own = || {
        let dirs = std::fs::read_dir(&homes).into_iter().flatten().flatten();
        let dirs = dirs.map(|dir| dir.path().join("tmp"));
        dirs.filter(|dir| dir.is_dir()).collect::<Vec<_>>()
    };
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
    while own().is_empty() {
        assert!(
            std::time::Instant::now() < deadline,
            "no session was started"
        );
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    for dir in own() {
        std::fs::write(dir.join("go"), "").unwrap();
    }
}

#[test]
fn ctrl_c_ends_the_following_and_not_the_session() {
    let server = TestServer::start();
    let mut command = server.command();
    command.args(["run", "--agent", "echo", "say begun\nsleep 60"]);
    let following = Reader::start(&mut command);
    following.until("begun");
    following.interrupt();
    let said = following.wait();
    assert_eq!(said.code, 130, "{said:?}");
    let sessions = run_json(&server, &["ls"]);
    let id = sessions["sessions"][0]["id"].as_str().unwrap();
    assert_eq!(sessions["sessions"][0]["state"], "running");
    let ways = ["attach", "interrupt", "stop"].map(|word| format!("wheelhouse {word} {id}"));
    for part in ways.iter().map(String::as_str).chain(["goes on"]) {
        assert!(said.stderr.contains(part), "no {part:?} in {said:?}");
    }
    let steered = run(&server, &["send", id, "--steer", "--wait", "say unharmed"]);
    assert_eq!((steered.code, steered.stdout.as_str()), (0, "unharmed\n"));
}

#[test]
fn ctrl_c_is_told_in_json_too() {
    let server = TestServer::start();
    let session = begin(&server, "say first");
    let mut command = server.command();
    command.args(["send", &session, "--wait", "--json", "say begun\nsleep 60"]);
    let following = Reader::start(&mut command);
    following.until("begun");
    following.interrupt();
    let said = following.wait();
    assert_eq!(said.code, 130, "{said:?}");
    assert_eq!(said.error()["code"], "INTERRUPTED");
    assert_eq!(run_json(&server, &["show", &session])["state"], "running");
}

#[test]
fn a_terminal_shows_that_the_agent_starts() {
    let server = with_slow_agent();
    let mut command = server.command();
    command.args(["run", "--agent", "slow", "say hello there"]);
    let terminal = Terminal::start(&mut command);
    terminal.until("starting slow…");
    release(&server);
    let shown = terminal.until("hello there");
    assert!(shown.contains(CLEARED), "{shown:?}");
    let (code, shown) = terminal.wait();
    assert_eq!(code, 0, "{shown:?}");
}

#[test]
fn ctrl_c_at_a_terminal_works_before_the_agent_speaks() {
    let server = with_slow_agent();
    let mut command = server.command();
    command.args(["run", "--agent", "slow", "say hello there"]);
    let mut terminal = Terminal::start(&mut command);
    terminal.until("starting slow…");
    terminal.interrupt();
    let (code, shown) = terminal.wait();
    assert_eq!(code, 130, "{shown:?}");
    let session = run_json(&server, &["ls"])["sessions"][0]["id"].clone();
    let mut follow = server.command();
    let follower = Reader::start(follow.args(["logs", "-f", session.as_str().unwrap()]));
    release(&server);
    follower.until("hello there");
}

#[test]
fn a_terminal_shows_that_a_repository_is_cloned() {
    let server = TestServer::start();
    // Takes connections and never answers: a clone from here goes on until it is closed.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let source = format!("https://{}/far/away.git", silent.local_addr().unwrap());
    run_json(&server, &["repo", "add", &source, "--no-wait"]);
    let mut command = server.command();
    command.args(["run", "--agent", "echo", "--repo", "away", "say hello"]);
    let terminal = Terminal::start(&mut command);
    terminal.until("cloning away…");
    silent.set_nonblocking(true).unwrap();
    loop {
        match silent.accept() {
            Ok(_) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            Err(error) => panic!("{error}"),
        }
    }
    drop(silent);
    let shown = terminal.until("the turn failed");
    assert!(shown.contains(CLEARED), "{shown:?}");
    let (code, shown) = terminal.wait();
    assert_eq!(code, 1, "{shown:?}");
}

#[test]
fn a_pipe_is_shown_no_progress() {
    let server = with_slow_agent();
    let mut command = server.command();
    command.args(["run", "--agent", "slow", "say hello there"]);
    let following = Reader::start(&mut command);
    release(&server);
    let said = following.wait();
    assert_eq!(
        (said.code, said.stdout.as_str()),
        (0, "hello there\n"),
        "{said:?}"
    );
    assert!(!said.stderr.contains("starting"), "{said:?}");
    assert!(!said.stderr.contains('\u{1b}'), "{said:?}");
}
