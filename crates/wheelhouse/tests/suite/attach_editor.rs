//! `attach` at a terminal: lines are edited while output arrives above them.

use wh_testkit::server::TestServer;

use crate::harness::{run, run_json};
use crate::run::begin;
use crate::terminal::Terminal;

const LEFT: &str = "\u{1b}[D";
const UP: &str = "\u{1b}[A";
const ALT_ENTER: &str = "\u{1b}\r";
const ENTER: &str = "\r";

/// Starts a session, waits until it rests and attaches to it at a terminal.
fn attached(server: &TestServer) -> (String, Terminal) {
    let session = begin(server, "say before");
    assert_eq!(run(server, &["wait", &session]).code, 0);
    let mut command = server.command();
    command.args(["attach", &session, "--no-color"]);
    let terminal = Terminal::start(&mut command);
    terminal.until("/help lists commands");
    terminal.until("before\r\n");
    (session, terminal)
}

/// Detaches and checks that the session goes on.
fn detach(server: &TestServer, session: &str, mut terminal: Terminal) {
    terminal.line("/detach");
    let (code, shown) = terminal.wait();
    assert_eq!(code, 0, "{shown:?}");
    let state = run_json(server, &["show", session])["state"].clone();
    assert_eq!(state, "idle", "{shown:?}");
}

#[test]
fn output_appears_above_what_is_typed() {
    let server = TestServer::start();
    let (session, mut terminal) = attached(&server);
    terminal.press("say ty");
    terminal.until("say ty");
    let sent = run(&server, &["send", &session, "say from elsewhere"]);
    assert_eq!(sent.code, 0, "{sent:?}");
    terminal.until("> say from elsewhere");
    // The line is drawn again below each piece of output, and nothing of it is lost.
    terminal.until("say ty");
    terminal.until("from elsewhere\r\n");
    terminal.until("say ty");
    terminal.press(&format!("ped{ENTER}"));
    terminal.until("> say typed");
    terminal.until("typed\r\n");
    detach(&server, &session, terminal);
}

#[test]
fn words_that_grow_are_shown_in_whole_lines() {
    let server = TestServer::start();
    let (session, mut terminal) = attached(&server);
    terminal.press("say ne");
    terminal.until("say ne");
    let sent = run(&server, &["send", &session, "count 40 5"]);
    assert_eq!(sent.code, 0, "{sent:?}");
    // The numbers fill a line of the terminal, are broken at a space, and go on below.
    terminal
        .until("1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29\r\n");
    terminal.until("30 31 32");
    terminal.until("say ne");
    terminal.press(&format!("xt{ENTER}"));
    terminal.until("> say next");
    detach(&server, &session, terminal);
}

#[test]
fn arrow_keys_edit_and_recall() {
    let server = TestServer::start();
    let (session, mut terminal) = attached(&server);
    terminal.press(&format!("say heo{LEFT}ll{ENTER}"));
    terminal.until("> say hello");
    terminal.until("hello\r\n");
    terminal.press(&format!("{UP}{LEFT}{LEFT}{LEFT}{LEFT}{LEFT}oh {ENTER}"));
    terminal.until("> say oh hello");
    terminal.until("oh hello\r\n");
    // What the session was prompted with before somebody attached is recalled too.
    terminal.press(&format!("{UP}{UP}{UP}{ENTER}"));
    terminal.until("> say before");
    terminal.until("before\r\n");
    // A word and the whole line are taken away.
    terminal.press(&format!("say wrong words\u{15}say left right\u{17}{ENTER}"));
    terminal.until("> say left");
    terminal.until("left\r\n");
    detach(&server, &session, terminal);
}

#[test]
fn several_lines_are_one_prompt() {
    let server = TestServer::start();
    let (session, mut terminal) = attached(&server);
    let turns = |server: &TestServer| {
        let turns = run_json(server, &["turns", &session]);
        turns["turns"].as_array().unwrap().len()
    };
    for (keys, first, second) in [
        (format!("say one{ALT_ENTER}say two{ENTER}"), "one", "two"),
        (format!("say red\\{ENTER}say blue{ENTER}"), "red", "blue"),
        (
            format!("\u{1b}[200~say up\nsay down\u{1b}[201~{ENTER}"),
            "up",
            "down",
        ),
    ] {
        let before = turns(&server);
        terminal.press(&keys);
        terminal.until(&format!("> say {first}"));
        terminal.until(&format!("> say {second}"));
        terminal.until(&format!("{second}\r\n"));
        assert_eq!(turns(&server), before + 1, "{keys:?}");
    }
    detach(&server, &session, terminal);
}

#[test]
fn every_command_does_what_help_says() {
    let server = TestServer::start();
    let (session, mut terminal) = attached(&server);
    terminal.line("/help");
    for command in [
        "/approve",
        "/always",
        "/deny [REASON]",
        "/steer TEXT",
        "/interrupt",
        "/detach",
        "Alt-Enter",
    ] {
        terminal.until(command);
    }
    terminal.line("/nonsense");
    terminal.until("/nonsense is not a command");

    terminal.line("ask open it");
    terminal.until("/approve allows it");
    terminal.line("/approve");
    terminal.until("open it: allow");

    terminal.line("ask close it");
    terminal.until("/approve allows it");
    // Tab completes a command.
    terminal.press(&format!("/de\tuse staging{ENTER}"));
    terminal.until("close it: reject");
    terminal.until("use staging");

    terminal.line("ask again");
    terminal.until("/approve allows it");
    terminal.line("/always");
    terminal.until("again: always");

    terminal.line("question which colour?");
    terminal.until("type the answer");
    terminal.line("/deny");
    terminal.until("no answer");

    terminal.line("sleep 60");
    terminal.until("> sleep 60");
    terminal.line("/steer say instead");
    terminal.until("> say instead");
    terminal.until("instead\r\n");

    terminal.line("sleep 50");
    terminal.until("> sleep 50");
    terminal.line("/interrupt");
    terminal.until("[idle]");
    detach(&server, &session, terminal);
}

#[test]
fn a_session_that_is_gone_gives_the_terminal_back() {
    let server = TestServer::start();
    let (session, mut terminal) = attached(&server);
    terminal.press("say half");
    terminal.until("say half");
    let removed = run(&server, &["rm", &session, "--yes"]);
    assert_eq!(removed.code, 0, "{removed:?}");
    let (code, shown) = terminal.wait();
    assert_eq!(code, 3, "{shown:?}");
    assert!(shown.contains("error:"), "{shown:?}");
}
