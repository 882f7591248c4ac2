//! Boards from the command line.

use wh_testkit::server::TestServer;

use crate::harness::{assert_said, run, run_json};

#[test]
fn boards_are_made_shown_changed_and_copied() {
    let server = TestServer::start();
    assert_said!(
        "board_list_empty",
        run(&server, &["board", "list"]),
        server.home()
    );
    let arguments = [
        "board", "create", "Sprint", "--zone", "Doing", "--zone", "Done",
    ];
    let made = run_json(
        &server,
        &[&arguments[..], &["--description", "two\nlines"]].concat(),
    );
    let id = made["short_id"].as_str().unwrap();
    assert_said!(
        "board_show",
        run(&server, &["board", "show", id]),
        server.home()
    );
    let changes = [
        "--name",
        "Sprint 2",
        "--add-zone",
        "Review",
        "--remove-zone",
        "Doing",
    ];
    let changed = run_json(&server, &[&["board", "update", id][..], &changes].concat());
    let zones: Vec<_> = changed["zones"]
        .as_array()
        .unwrap()
        .iter()
        .map(|z| &z["name"])
        .collect();
    assert_eq!(zones, ["Done", "Review"]);
    let copy = run_json(&server, &["board", "duplicate", id, "Copy", "--worktrees"]);
    assert_eq!(
        (&copy["name"], copy["zones"].as_array().unwrap().len()),
        (&"Copy".into(), 2)
    );
    assert_said!(
        "board_list",
        run(&server, &["board", "list"]),
        server.home()
    );
}

#[test]
fn lists_go_on_with_a_cursor() {
    let server = TestServer::start();
    for name in ["one", "two", "three"] {
        run_json(&server, &["board", "create", name]);
    }
    let first = run(&server, &["board", "list", "--limit", "2"]);
    assert!(first.stderr.contains("--cursor"), "{first:?}");
    let page = run_json(&server, &["board", "list", "--limit", "2"]);
    let cursor = page["next_cursor"].as_str().unwrap();
    let rest = run_json(
        &server,
        &["board", "list", "--limit", "2", "--cursor", cursor],
    );
    assert_eq!(rest["boards"][0]["name"], "one");
    assert!(rest["next_cursor"].is_null());
    assert_eq!(
        run(&server, &["board", "list", "--limit", "2", "--quiet"]).stderr,
        ""
    );
}

#[test]
fn a_reader_that_leaves_is_no_error() {
    let server = TestServer::start();
    run_json(&server, &["board", "create", "one"]);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut command = server.command();
    command.args(["board", "list"]).stdout(writer);
    assert!(command.status().unwrap().success());
}
