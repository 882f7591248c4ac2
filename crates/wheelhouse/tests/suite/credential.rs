//! Credentials from the command line: read from standard input or typed without echo, listed and deleted.

use std::io::Write;
use std::process::Stdio;

use wh_testkit::server::TestServer;

use crate::harness::{run, run_json};
use crate::terminal::Terminal;

const CANARY: &str = "canary-5d1e";

#[test]
fn a_token_is_read_from_standard_input_and_never_shown() {
    let server = TestServer::start();
    let mut command = server.command();
    let mut child = command
        .args([
            "credential",
            "set",
            "Git.Example:8443",
            "--usable-by",
            "everyone",
        ])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(format!("{CANARY}\n").as_bytes()).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.success(), "{said}");
    assert!(
        said.contains("git.example:8443") && !said.contains(CANARY),
        "{said}"
    );
    let listed = run_json(&server, &["credential", "ls"]);
    assert_eq!(listed["credentials"][0]["usable_by"], "everyone");
    assert!(!listed.to_string().contains(CANARY), "{listed}");
    let deleted = run(&server, &["credential", "rm", "git.example:8443"]);
    assert_eq!(deleted.code, 0, "{}", deleted.all());
    let listed = run(&server, &["credential", "ls"]).all();
    assert!(listed.contains("no credentials yet"), "{listed}");
    // Without a token there is nothing to store; one on the command line is no argument.
    let empty = run(&server, &["credential", "set", "git.example"]);
    assert!(
        empty.all().contains("the token is empty"),
        "{}",
        empty.all()
    );
    let argument = run(&server, &["credential", "set", "git.example", CANARY]);
    assert_ne!(argument.code, 0);
}

#[test]
fn a_token_is_typed_without_echo() {
    let server = TestServer::start();
    let mut command = server.command();
    let mut terminal = Terminal::start(command.args(["credential", "set", "git.example"]));
    terminal.until("Token for git.example:");
    terminal.line(CANARY);
    let (code, shown) = terminal.wait();
    assert_eq!(code, 0, "{shown}");
    assert!(
        shown.contains("stored encrypted") && !shown.contains(CANARY),
        "{shown}"
    );
    let listed = run_json(&server, &["credential", "ls"]);
    assert_eq!(listed["credentials"][0]["host"], "git.example");
}
