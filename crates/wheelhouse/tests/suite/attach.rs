//! A conversation through a pipe.

use std::io::Write;
use std::process::{ChildStdin, Stdio};

use wh_testkit::server::TestServer;

use crate::follow::Reader;
use crate::harness::run;
use crate::run::begin;

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
