//! MCP tools from a shell.

use std::io::Write;
use std::process::Stdio;

use wh_testkit::server::TestServer;

use crate::harness::{run, run_json};

#[test]
fn all_tools_are_listed() {
    let server = TestServer::start();
    let list = run_json(&server, &["tool", "list"]);
    let names: Vec<_> = list["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| &tool["name"])
        .collect();
    for name in [
        "board_get",
        "key_create",
        "audit_list",
        "config_set",
        "tool_search",
    ] {
        assert!(
            names.contains(&&name.into()),
            "{name} is not among {names:?}"
        );
    }
}

#[test]
fn arguments_come_from_the_line_a_file_or_standard_input() {
    let server = TestServer::start();
    let made = run_json(
        &server,
        &["tool", "call", "board_create", r#"{"name": "line"}"#],
    );
    assert_eq!(made["name"], "line");
    std::fs::write(server.home().join("a.json"), r#"{"name": "file"}"#).unwrap();
    assert_eq!(
        run_json(&server, &["tool", "call", "board_create", "@a.json"])["name"],
        "file"
    );

    let mut command = server.command();
    command.args(["tool", "call", "board_create", "-"]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    child
        .stdin
        .take()
        .unwrap()
        .write_all(br#"{"name": "input"}"#)
        .unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(String::from_utf8_lossy(&output.stdout).contains("input"));
    let list = run_json(&server, &["tool", "call", "board_list"]);
    assert_eq!(list["boards"].as_array().unwrap().len(), 3);
}

#[test]
fn a_refusal_is_an_error_like_any_other() {
    let server = TestServer::start();
    let absent = r#"{"board": "00000000-0000-7000-8000-000000000000"}"#;
    let said = run(&server, &["tool", "call", "board_get", absent, "--json"]);
    assert_eq!(
        (said.code, &said.error()["code"]),
        (3, &"NOT_FOUND".into()),
        "{said:?}"
    );
}
