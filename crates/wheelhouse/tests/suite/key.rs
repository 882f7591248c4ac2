//! Keys from the command line, and what can be done with one.

use wh_testkit::server::TestServer;

use crate::harness::{assert_said, run, run_json, said};

#[test]
fn a_key_is_made_used_and_revoked() {
    let server = TestServer::start();
    let arguments = [
        "key",
        "create",
        "--scope",
        "read",
        "--name",
        "ci",
        "--expires",
        "30d",
    ];
    let made = run_json(&server, &arguments);
    let key = made["key"].as_str().unwrap();
    assert!(key.starts_with("wh_read_") && key.len() == 40, "{made}");
    assert!(key.starts_with(made["prefix"].as_str().unwrap()));
    assert!(made["expires_at"].is_string() && made["id"].is_string());

    let remote = |arguments: &[&str]| {
        let mut command = server.command();
        command
            .env("WHEELHOUSE_URL", server.url())
            .env("WHEELHOUSE_KEY", key);
        said(command.args(arguments))
    };
    assert_eq!(remote(&["board", "list"]).code, 0);
    assert_said!(
        "key_read_only",
        remote(&["board", "create", "x"]),
        server.home()
    );
    let id = made["short_id"].as_str().unwrap();
    assert_said!(
        "key_revoke",
        run(&server, &["key", "revoke", id]),
        server.home()
    );
    assert_said!("key_revoked", remote(&["board", "list"]), server.home());
}

#[test]
fn keys_are_listed_without_their_secrets() {
    let server = TestServer::start();
    assert_said!(
        "key_list_empty",
        run(&server, &["key", "list"]),
        server.home()
    );
    run_json(&server, &["user", "create", "ann"]);
    let made = run(
        &server,
        &[
            "key", "create", "--scope", "client", "--name", "a", "--user", "ann",
        ],
    );
    assert_said!("key_create", made, server.home());
    let list = run(&server, &["key", "list"]);
    assert_said!("key_list", list, server.home());
    assert!(!list.stdout.contains(made.stdout.trim()));
}
