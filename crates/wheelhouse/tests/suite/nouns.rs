//! Users, repositories, sessions, the audit log, backups and sign-in.

use std::fs;

use wh_testkit::{git::git, server::TestServer};

use crate::harness::{assert_said, run, run_json, said};

#[test]
fn users_are_made_and_shown() {
    let server = TestServer::start();
    let arguments = [
        "user",
        "create",
        "ann",
        "--role",
        "admin",
        "--email",
        "ann@example.org",
    ];
    assert_said!("user_create", run(&server, &arguments), server.home());
    assert_eq!(run_json(&server, &["user", "show", "ann"])["role"], "admin");
    assert_eq!(run_json(&server, &["user", "show"])["role"], "admin");
    let list = run_json(&server, &["user", "list"]);
    assert_eq!(list["users"].as_array().unwrap().len(), 2);
}

#[test]
fn users_are_changed_disabled_and_enabled() {
    let server = TestServer::start();
    run_json(&server, &["user", "create", "ann"]);
    let update = [
        "user",
        "update",
        "ann",
        "--role",
        "admin",
        "--email",
        "a@b.example",
    ];
    let ann = run_json(&server, &update);
    assert_eq!(
        (&ann["role"], &ann["email"]),
        (&"admin".into(), &"a@b.example".into())
    );
    let ann = run_json(&server, &["user", "update", "ann", "--email", ""]);
    assert_eq!((&ann["role"], ann.get("email")), (&"admin".into(), None));
    let disabled = run(&server, &["user", "disable", "ann"]);
    assert_said!("user_disable", disabled, server.home());
    assert_said!("user_list", run(&server, &["user", "list"]), server.home());
    assert_said!(
        "user_enable",
        run(&server, &["user", "enable", "ann"]),
        server.home()
    );
    assert_said!(
        "user_update_nothing",
        run(&server, &["user", "update", "ann"]),
        server.home()
    );
}

#[test]
fn the_last_administrator_cannot_be_shut_out() {
    let server = TestServer::start();
    let name = run_json(&server, &["user", "show"])["name"].clone();
    let refused = run(&server, &["user", "disable", name.as_str().unwrap()]);
    assert_said!("user_disable_last", refused, server.home());
}

#[test]
fn a_relative_repository_is_added_by_its_absolute_path() {
    let server = TestServer::start();
    let repo = server.home().join("project");
    fs::create_dir(&repo).unwrap();
    git(&repo, &["init", "--quiet", "--initial-branch=main"]);
    let mut command = server.command();
    command.current_dir(&repo).args(["repo", "add", "."]);
    assert_said!("repo_add", said(&mut command), server.home());
    assert_said!("repo_list", run(&server, &["repo", "list"]), server.home());
}

#[test]
fn sessions_are_listed() {
    let server = TestServer::start();
    assert_said!("session_list_empty", run(&server, &["ls"]), server.home());
    let list = run_json(
        &server,
        &[
            "session", "list", "--state", "idle", "--state", "running", "--all",
        ],
    );
    assert!(list["sessions"].as_array().unwrap().is_empty());
}

#[test]
fn calls_are_in_the_audit_log() {
    let server = TestServer::start();
    run_json(&server, &["board", "create", "x"]);
    let said = run(&server, &["audit", "--operation", "board_create"]);
    assert_said!("audit", said, server.home());
    let both = run_json(
        &server,
        &[
            "audit",
            "list",
            "--operation",
            "board_create",
            "--limit",
            "1",
        ],
    );
    assert_eq!(both["entries"][0]["outcome"], "ok");
    assert_eq!(both["entries"].as_array().unwrap().len(), 1);
}

#[test]
fn the_audit_log_is_asked_for_what_is_looked_for() {
    let server = TestServer::start();
    let board = run_json(&server, &["board", "create", "x"]);
    let other = run_json(&server, &["board", "create", "y"]);
    let (id, short) = (
        board["id"].as_str().unwrap(),
        board["short_id"].as_str().unwrap(),
    );
    run_json(&server, &["board", "show", short]);
    assert_eq!(run(&server, &["board", "show", "01234567"]).code, 3);
    // Reads are written a moment later; what is asked for last comes first.
    let calls = |arguments: &[&str], count: usize| {
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(30);
        loop {
            let list = run_json(&server, &[&["audit"], arguments].concat());
            let entries = list["entries"].as_array().unwrap().iter();
            let calls: Vec<_> = entries
                .map(|entry| entry["operation"].as_str().unwrap().to_owned())
                .collect();
            if calls.len() == count {
                return calls;
            }
            assert!(std::time::Instant::now() < deadline, "{calls:?}");
        }
    };
    for about in [id, short] {
        let both = calls(&["--about", about, "--reads"], 2);
        assert_eq!(calls(&["--about", about], 1), ["board_create"]);
        assert_eq!(both, ["board_get", "board_create"]);
        let changed = calls(
            &["list", "--about", about, "--operation", "board_create"],
            1,
        );
        assert_eq!(changed, ["board_create"]);
    }
    let other = calls(&["--about", other["id"].as_str().unwrap()], 1);
    assert_eq!(other, ["board_create"]);
    for outcome in ["refused", "NOT_FOUND"] {
        let missed = calls(&["--outcome", outcome, "--surface", "rest"], 1);
        assert_eq!(missed, ["board_get"]);
    }
    let failed = run(&server, &["audit", "--outcome", "failed"]);
    assert_eq!(failed.code, 0, "{failed:?}");
    assert!(failed.all().contains("no such calls"), "{failed:?}");
    let today = calls(&["--since", "1d", "--operation", "board_create"], 2);
    assert_eq!(today, ["board_create", "board_create"]);
    calls(&["--until", "2020-01-01"], 0);
}

#[test]
fn a_backup_is_a_database_that_serves() {
    let mut server = TestServer::start();
    run_json(&server, &["board", "create", "kept"]);
    let made = run(&server, &["backup", "copy.db"]);
    assert_said!("backup", made, server.home());
    let copy = server.home().join("copy.db");
    let bytes = fs::read(&copy).unwrap();
    assert!(bytes.starts_with(b"SQLite format 3\0"));
    let again = run(&server, &["backup", "copy.db"]);
    assert!(
        again.code != 0 && fs::read(&copy).unwrap() == bytes,
        "{again:?}"
    );
    server.stop();
    fs::remove_dir_all(server.data_dir()).unwrap();
    fs::create_dir(server.data_dir()).unwrap();
    fs::rename(&copy, server.data_dir().join("wheelhouse.db")).unwrap();
    server.restart();
    assert_eq!(
        run_json(&server, &["board", "list"])["boards"][0]["name"],
        "kept"
    );
}

#[test]
fn a_link_signs_in() {
    let server = TestServer::start();
    assert_said!("login", run(&server, &["login"]), server.home());
    let quiet = run(&server, &["login", "--quiet"]);
    assert!(
        quiet.stdout.starts_with(server.url()) && quiet.stderr.is_empty(),
        "{quiet:?}"
    );
}
