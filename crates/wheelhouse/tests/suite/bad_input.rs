//! Bad input: a clear error, what to do, the right exit code, nothing changed.

use wh_testkit::server::TestServer;

use crate::harness::{Home, assert_said, run, run_json};

#[test]
fn without_a_server_every_call_says_how_to_start_one() {
    let home = Home::new();
    assert_said!("no_server", home.run(&["board", "list"]), home.path());
    for arguments in [
        &["user", "list"][..],
        &["key", "list"],
        &["repo", "list"],
        &["ls"],
        &["audit"],
        &["login"],
        &["tool", "list"],
        &["backup", "x.db"],
        &["config", "get", "review.max_iterations"],
    ] {
        let said = home.run(&[arguments, &["--json"]].concat());
        assert_eq!(
            (said.code, said.stdout.as_str()),
            (6, ""),
            "{arguments:?}: {said:?}"
        );
        let error = said.error();
        assert_eq!(error["code"], "UNAVAILABLE", "{arguments:?}");
        assert!(
            error["hint"].as_str().unwrap().contains("wheelhouse serve"),
            "{error}"
        );
    }
    // A client command leaves nothing behind.
    assert_eq!(home.path().read_dir().unwrap().count(), 0);
}

#[test]
fn exit_codes_tell_what_happened() {
    let server = TestServer::start();
    let absent = "00000000-0000-7000-8000-000000000000";
    let cases: &[(&[&str], i32)] = &[
        (&["board", "show", absent], 3),
        (&["session", "show", absent], 3),
        (&["session", "tree", absent], 3),
        (&["session", "update", absent, "--title", "x"], 3),
        (&["user", "show", "nobody"], 3),
        (&["key", "revoke", absent], 3),
        (&["board", "show", ".."], 2),
        (&["board", "show", ""], 2),
        (&["board", "show", "../../config"], 2),
        (&["board", "show", "x\u{1b}[31m"], 2),
        (&["board", "create", ""], 2),
        (&["board", "create", "a\u{7}b"], 2),
        (&["board", "update", absent], 2),
        (&["board", "list", "--cursor", "nonsense"], 2),
        (&["board", "list", "--limit", "0"], 2),
        (&["user", "create", "not a name"], 2),
        (
            &[
                "key",
                "create",
                "--scope",
                "full",
                "--name",
                "x",
                "--expires",
                "yesterday",
            ],
            2,
        ),
        (
            &[
                "key",
                "create",
                "--scope",
                "full",
                "--name",
                "x",
                "--expires",
                "2020-01-01",
            ],
            2,
        ),
        (
            &["key", "revoke", "wh_full_00000000000000000000000000000000"],
            2,
        ),
        (&["ls", "--state", "sleepy"], 2),
        (&["audit", "--operation", "nothing"], 2),
        (&["repo", "add", "/nonexistent"], 2),
        (&["repo", "add", "ext::sh -c id"], 2),
        (&["tool", "call", "nonsense"], 2),
        (&["tool", "call", "board_get", "{\"board\": 1}"], 2),
        (&["tool", "call", "board_get", "not json"], 2),
        (&["tool", "call", "board_get", "[]"], 2),
        (&["tool", "call", "board_get", "@/nonexistent"], 2),
        (&["backup", "/nonexistent/x.db"], 2),
        (&["--url", "nonsense", "board", "list"], 2),
        (&["--url", "http://127.0.0.1:9", "board", "list"], 6),
        (&["--key", "x", "board", "list"], 2),
        (&["--url", server.url(), "board", "list"], 4),
        (
            &[
                "--url",
                server.url(),
                "--key",
                "wh_full_00000000000000000000000000000000",
                "ls",
            ],
            4,
        ),
        (&["--url", server.url(), "--key", "line\nbreak", "ls"], 2),
    ];
    let before = run_json(&server, &["audit", "--operation", "board_create"]);
    for (arguments, code) in cases {
        let said = run(&server, &[arguments, &["--json"][..]].concat());
        assert_eq!(
            (said.code, said.stdout.as_str()),
            (*code, ""),
            "{arguments:?}: {said:?}"
        );
        let error = said.error();
        assert!(
            !error["message"].as_str().unwrap().is_empty(),
            "{arguments:?}"
        );
        assert!(!said.stderr.contains('\u{1b}'), "{said:?}");
    }
    assert!(
        run_json(&server, &["board", "list"])["boards"]
            .as_array()
            .unwrap()
            .is_empty()
    );
    assert!(before["entries"].as_array().unwrap().is_empty());
}

#[test]
fn names_cannot_reach_the_terminal() {
    let server = TestServer::start();
    let hostile = "a\u{202e}b\u{200f}c";
    run(&server, &["board", "create", hostile]);
    let said = run(&server, &["board", "list"]);
    assert!(
        !said.stdout.contains('\u{202e}') && !said.stdout.contains('\u{200f}'),
        "{said:?}"
    );
    let json = run(&server, &["board", "list", "--json"]);
    assert!(!json.stdout.contains('\u{202e}'), "{json:?}");
}

#[test]
fn a_conflict_has_its_own_code() {
    let server = TestServer::start();
    assert_eq!(run(&server, &["user", "create", "ann"]).code, 0);
    let said = run(&server, &["user", "create", "ann"]);
    assert_said!("user_exists", said, server.home());
}
