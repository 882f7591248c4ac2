//! Starting and stopping the server.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use wh_testkit::server::TestServer;

use crate::harness::{Home, assert_said, run_json};

#[test]
fn other_machines_are_not_let_in_by_accident() {
    let home = Home::new();
    let said = home.run(&["serve", "--listen", "0.0.0.0:0"]);
    assert_said!("serve_beyond_loopback", said, home.path());
    let said = home.run_with(&["up"], |command| {
        command.env("WHEELHOUSE_LISTEN", "[::]:0");
    });
    assert_eq!(said.code, 2, "{said:?}");
}

#[test]
fn what_was_made_survives_a_kill() {
    let mut server = TestServer::start();
    let mode = fs::metadata(server.data_dir())
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o700);
    run_json(&server, &["board", "create", "kept"]);
    server.kill9();
    server.restart();
    assert_eq!(
        run_json(&server, &["board", "list"])["boards"][0]["name"],
        "kept"
    );
    server.stop();
    assert!(!server.data_dir().join("server.json").exists());
}

#[test]
fn a_second_server_on_the_same_data_is_refused() {
    let server = TestServer::start();
    let mut command = server.command();
    let said = crate::harness::said(command.args(["serve", "--listen", "127.0.0.1:0"]));
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.stderr.contains("error: "), "{said:?}");
    assert_eq!(
        run_json(&server, &["board", "list"])["boards"]
            .as_array()
            .unwrap()
            .len(),
        0
    );
}

/// Spoils the database of a stopped server and expects a refusal in one clear line that leaves the file as it is.
#[track_caller]
fn assert_refused(server: &TestServer, contents: &[u8], because: &str) {
    let database = server.data_dir().join("wheelhouse.db");
    fs::write(&database, contents).unwrap();
    let mut command = server.command();
    let said = crate::harness::said(command.args(["serve", "--listen", "127.0.0.1:0"]));
    assert_eq!(said.code, 1, "{said:?}");
    assert!(said.stderr.contains(because), "{said:?}");
    assert_eq!(said.stderr.matches("error: ").count(), 1, "{said:?}");
    assert!(
        fs::read(&database).unwrap() == contents,
        "{because}: the file was changed"
    );
    assert!(!server.data_dir().join("server.json").exists());
}

#[test]
fn a_database_that_cannot_be_used_is_refused_and_left_as_it_is() {
    let mut server = TestServer::start();
    run_json(&server, &["board", "create", "precious"]);
    server.stop();
    let good = fs::read(server.data_dir().join("wheelhouse.db")).unwrap();
    assert_refused(&server, &good[..good.len() / 2], "damaged");
    assert_refused(&server, b"", "damaged");
    assert_refused(
        &server,
        b"SQLite format 3\0 and then nothing of the kind",
        "damaged",
    );
    let mut foreign = good.clone();
    foreign[68..72].copy_from_slice(b"ELSE");
    assert_refused(&server, &foreign, "not a database of Wheelhouse");
    // The good file is as good as before.
    fs::write(server.data_dir().join("wheelhouse.db"), &good).unwrap();
    server.restart();
    let boards = run_json(&server, &["board", "list"]);
    assert_eq!(boards["boards"][0]["name"], "precious");
}
