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

const ABSENT: &str = "00000000-0000-7000-8000-000000000000";
const NOT_A_KEY: &str = "wh_full_00000000000000000000000000000000";

/// Arguments and the exit code they must end with.
type Case<'a> = (&'a [&'a str], i32);

const NOT_FOUND: &[Case<'_>] = &[
    (&["board", "show", ABSENT], 3),
    (&["session", "show", ABSENT], 3),
    (&["session", "tree", ABSENT], 3),
    (&["session", "update", ABSENT, "--title", "x"], 3),
    (&["user", "show", "nobody"], 3),
    (&["key", "revoke", ABSENT], 3),
];

const UNUSABLE: &[Case<'_>] = &[
    (&["board", "show", ".."], 2),
    (&["board", "show", ""], 2),
    (&["board", "show", "../../config"], 2),
    (&["board", "show", "x\u{1b}[31m"], 2),
    (&["board", "create", ""], 2),
    (&["board", "create", "a\u{7}b"], 2),
    (&["board", "update", ABSENT], 2),
    (&["board", "list", "--cursor", "nonsense"], 2),
    (&["board", "list", "--limit", "0"], 2),
    (&["user", "create", "not a name"], 2),
    (&["key", "create", "--scope", "all", "--name", "x"], 2),
    (&["key", "revoke", NOT_A_KEY], 2),
    (&["ls", "--state", "sleepy"], 2),
    (&["audit", "--operation", "nothing"], 2),
    (&["audit", "--outcome", "maybe"], 2),
    (&["audit", "--about", "everything"], 2),
    (&["audit", "list", "--since", "some time ago"], 2),
    (&["repo", "add", "/dev/null/absent"], 2),
    (&["repo", "add", "ext::sh -c id"], 2),
    (&["tool", "call", "nonsense"], 2),
    (&["tool", "call", "board_get", "{\"board\": 1}"], 2),
    (&["tool", "call", "board_get", "not json"], 2),
    (&["tool", "call", "board_get", "[]"], 2),
    (&["tool", "call", "board_get", "@/dev/null/absent"], 2),
    (&["backup", "/dev/null/x.db"], 2),
    (&["--url", "nonsense", "board", "list"], 2),
    (&["--url", "http://127.0.0.1:9", "board", "list"], 6),
    (&["--key", "x", "board", "list"], 2),
];

/// Runs every case and checks that it is refused in the usual shape.
fn check(server: &TestServer, cases: &[Case<'_>]) {
    for (arguments, code) in cases {
        let said = run(server, &[arguments, &["--json"][..]].concat());
        let ended = (said.code, said.stdout.as_str());
        assert_eq!(ended, (*code, ""), "{arguments:?}: {said:?}");
        assert_ne!(said.error()["message"], "", "{arguments:?}");
        assert!(!said.stderr.contains('\u{1b}'), "{said:?}");
    }
}

#[test]
fn exit_codes_tell_what_happened_and_nothing_changes() {
    let server = TestServer::start();
    let everything =
        || ["board", "user", "key", "repo"].map(|noun| run_json(&server, &[noun, "list"]));
    let before = everything();
    check(&server, NOT_FOUND);
    check(&server, UNUSABLE);
    let key = ["key", "create", "--scope", "full", "--name", "x"];
    for when in ["yesterday", "2020-01-01", "", "-1d"] {
        let expires = format!("--expires={when}");
        check(&server, &[(&[&key[..], &[expires.as_str()]].concat(), 2)]);
    }
    assert_eq!(everything(), before);
}

#[test]
fn over_the_network_a_good_key_is_needed() {
    let server = TestServer::start();
    let url = server.url();
    let cases: &[Case<'_>] = &[
        (&["--url", url, "board", "list"], 4),
        (&["--url", url, "--key", NOT_A_KEY, "ls"], 4),
        (&["--url", url, "--key", "nonsense", "ls"], 4),
        (&["--url", url, "--key", "line\nbreak", "ls"], 2),
    ];
    check(&server, cases);
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

#[test]
fn an_ambiguous_id_lists_its_candidates() {
    let server = TestServer::start();
    // The first digits of an id are a time: of three, two at least have the same.
    let ids: Vec<_> = ["one", "two", "three"]
        .into_iter()
        .map(|name| {
            let board = run_json(&server, &["board", "create", name]);
            board["id"].as_str().unwrap().to_owned()
        })
        .collect();
    let prefix = &ids[1][..8];
    let matching: Vec<_> = ids.iter().filter(|id| id.starts_with(prefix)).collect();
    let said = run(&server, &["board", "show", prefix]);
    assert_eq!((said.code, said.stdout.as_str()), (2, ""), "{said:?}");
    for id in &matching {
        assert!(said.stderr.contains(id.as_str()), "{id}: {said:?}");
    }
    assert!(matching.len() >= 2, "{ids:?}");
    let said = run(&server, &["board", "show", prefix, "--json"]);
    let candidates = &said.error()["details"]["candidates"];
    assert_eq!(candidates.as_array().map(Vec::len), Some(matching.len()));
}
