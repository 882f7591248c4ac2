//! A conversation, through a pipe and at a terminal.

use std::io::Write;
use std::process::{ChildStdin, Stdio};

use wh_testkit::server::TestServer;

use crate::follow::Reader;
use crate::harness::{run, run_json};
use crate::run::begin;
use crate::terminal::Terminal;

/// Attaches to a session and returns what it says and where to type.
fn attach(server: &TestServer, session: &str) -> (Reader, ChildStdin) {
    let mut command = server.command();
    command.args(["attach", session]).stdin(Stdio::piped());
    let mut reader = Reader::start(&mut command);
    let input = reader.input();
    (reader, input)
}

#[test]
fn prompts_answers_and_commands_are_typed() {
    let server = TestServer::start();
    let session = begin(&server, "say before");
    assert_eq!(run(&server, &["wait", &session]).code, 0);
    let (reader, mut input) = attach(&server, &session);
    reader.until("before");
    writeln!(input, "ask open it").unwrap();
    reader.until("? permission: open it");
    writeln!(input, "/approve").unwrap();
    reader.until("open it: allow");
    writeln!(input, "ask close it").unwrap();
    reader.until("? permission: close it");
    writeln!(input, "/deny not now").unwrap();
    reader.until("close it: reject");
    writeln!(input, "question which colour?").unwrap();
    reader.until("? question: which colour?");
    writeln!(input, "blue").unwrap();
    reader.until("blue");
    writeln!(input, "sleep 60").unwrap();
    reader.until("> sleep 60");
    writeln!(input, "/steer say instead").unwrap();
    reader.until("> say instead");
    writeln!(input, "/detach").unwrap();
    let said = reader.wait();
    assert_eq!(said.code, 0, "{said:?}");
}

#[test]
fn the_end_of_a_pipe_waits_for_what_was_sent() {
    let server = TestServer::start();
    let session = begin(&server, "say first");
    let (reader, mut input) = attach(&server, &session);
    writeln!(input, "count 20 20").unwrap();
    writeln!(input, "say the last words").unwrap();
    drop(input);
    let said = reader.wait();
    assert_eq!(said.code, 0, "{said:?}");
    assert!(
        said.stdout
            .ends_with("> say the last words\nthe last words\n"),
        "{said:?}"
    );
    let (reader, mut input) = attach(&server, &session);
    writeln!(input, "ask for leave").unwrap();
    drop(input);
    let said = reader.wait();
    assert_eq!(said.code, 8, "{said:?}");
}

#[test]
fn an_interrupt_ends_the_turn_and_not_the_conversation() {
    let server = TestServer::start();
    let session = begin(&server, "say first");
    let (reader, mut input) = attach(&server, &session);
    reader.until("first");
    writeln!(input, "sleep 60").unwrap();
    reader.until("> sleep 60");
    reader.interrupt();
    writeln!(input, "say still here").unwrap();
    reader.until("> say still here");
    reader.until("still here");
    drop(input);
    let said = reader.wait();
    assert_eq!(said.code, 0, "{said:?}");
    assert!(said.stderr.contains("ending the turn"), "{said:?}");
}

/// Attaches at a terminal and waits for its first words.
fn sit_down(server: &TestServer, session: &str) -> Terminal {
    let mut command = server.command();
    command.args(["attach", session, "--no-color"]);
    let terminal = Terminal::start(&mut command);
    terminal.until("/help lists commands");
    terminal
}

#[test]
fn a_person_talks_approves_interrupts_and_leaves() {
    let server = TestServer::start();
    let session = begin(&server, "say before");
    assert_eq!(run(&server, &["wait", &session]).code, 0);
    let mut terminal = sit_down(&server, &session);
    terminal.until("before\r\n");

    // What is typed is shown by the line editor, and then as the prompt it became.
    terminal.line("count 3 20");
    terminal.until("> count 3 20");
    terminal.until("1 2 3 ");

    terminal.line("ask open it");
    terminal.until("? permission: open it");
    terminal.line("/approve");
    terminal.until("open it: allow");

    terminal.line("question which colour?");
    terminal.until("? question: which colour?");
    terminal.line("blue");
    terminal.until("blue\r\n");
    terminal.until("blue\r\n");

    terminal.line("sleep 60");
    terminal.until("> sleep 60");
    terminal.interrupt();
    terminal.until("ending the turn");
    // The same conversation goes on.
    terminal.line("say still here");
    terminal.until("> say still here");
    terminal.until("still here\r\n");

    terminal.line("sleep 50");
    terminal.until("> sleep 50");
    terminal.line("/detach");
    let (code, shown) = terminal.wait();
    assert_eq!(code, 0, "{shown:?}");
    assert_eq!(run_json(&server, &["show", &session])["state"], "running");
}

#[test]
fn ctrl_d_leaves_a_session_at_work() {
    let server = TestServer::start();
    let session = begin(&server, "say begun\nsleep 60");
    let mut terminal = sit_down(&server, &session);
    terminal.until("begun\r\n");
    terminal.close();
    let (code, shown) = terminal.wait();
    assert_eq!(code, 0, "{shown:?}");
    assert_eq!(run_json(&server, &["show", &session])["state"], "running");
}

#[test]
fn ctrl_c_leaves_a_session_at_rest() {
    let server = TestServer::start();
    let session = begin(&server, "say done");
    assert_eq!(run(&server, &["wait", &session]).code, 0);
    let mut terminal = sit_down(&server, &session);
    terminal.until("done\r\n");
    terminal.interrupt();
    let (code, shown) = terminal.wait();
    assert_eq!(code, 0, "{shown:?}");
    assert_eq!(run_json(&server, &["show", &session])["state"], "idle");
}
