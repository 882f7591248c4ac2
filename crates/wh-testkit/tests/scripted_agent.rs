//! The scripted agent as other crates' tests find it: beside the binary under test. That this test exists is why it is built.
#![allow(clippy::unwrap_used, reason = "a test may fail where it stands")]

use std::{
    io::{BufRead, BufReader, Write},
    process::{Command, Stdio},
};

#[test]
#[expect(clippy::disallowed_methods, reason = "this runs the agent under test")]
fn it_introduces_itself_and_ends_with_its_input() {
    let mut agent = Command::new(env!("CARGO_BIN_EXE_scripted-agent"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = agent.stdin.take().unwrap();
    let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":1}}"#;
    writeln!(stdin, "{hello}").unwrap();
    let mut answer = String::new();
    let stdout = agent.stdout.take().unwrap();
    BufReader::new(stdout).read_line(&mut answer).unwrap();
    assert!(answer.contains("\"scripted\""), "{answer}");
    drop(stdin);
    assert!(agent.wait().unwrap().success());
}
