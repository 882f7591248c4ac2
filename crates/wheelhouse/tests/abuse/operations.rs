//! I: audit, secrets and operations.

use std::fs;

use reqwest::Method;
use serde_json::{Value, json};
use wh_testkit::server::TestServer;

use crate::{
    people::{Mcp, World, board},
    wire::{http, rest},
};

/// Secrets of common services, and what must not be left of each.
const CANARIES: [(&str, &str); 6] = [
    ("sk-ant-api03-AAAAbbbbCCCCddddEEEE", "bbbbCCCCddddEEEE"),
    ("sk-proj-AAAAbbbbCCCCddddEEEE", "bbbbCCCCddddEEEE"),
    ("ghp_AAAAbbbbCCCCddddEEEEffff", "bbbbCCCCddddEEEEffff"),
    ("github_pat_AAAAbbbbCCCCddddEEEE", "bbbbCCCCddddEEEE"),
    ("AKIAIOSFODNN7EXAMPLE", "IOSFODNN7EXAMPLE"),
    (
        "xoxb-123456789012-AAAAbbbbCCCC",
        "123456789012-AAAAbbbbCCCC",
    ),
];

#[tokio::test]
async fn i1_secrets_that_an_agent_prints_are_not_shown() {
    let world = World::new().await;
    let alice = world.client(&world.keys.alice);
    let session = world.parent.id.to_string();
    // The agent is told to print them, so both the prompt and its answer contain them.
    let own = world.keys.bob.clone();
    let mut lines = Vec::new();
    for (secret, _) in CANARIES.iter().copied().chain([(own.as_str(), "")]) {
        lines.push(format!("say here is {secret} indeed"));
    }
    let prompt = json!({ "session": session, "prompt": lines.join("\n"), "wait": 30 });
    let done = alice.call("session_prompt", prompt).await;
    assert_eq!(Mcp::data(&done)["turn"]["state"], "completed");
    let hidden: Vec<&str> = CANARIES.iter().map(|it| it.1).chain([&own[16..]]).collect();
    let mut answers = vec![("prompt".to_owned(), done.to_string())];
    for path in [
        format!("/api/v1/sessions/{session}"),
        format!("/api/v1/sessions/{session}/messages?view=full"),
        format!("/api/v1/sessions/{session}/turns"),
        format!("/api/v1/sessions/{session}/runs"),
        "/api/v1/events".to_owned(),
        "/api/v1/search?query=indeed".to_owned(),
        "/api/v1/audit?limit=200".to_owned(),
    ] {
        let answer = rest(&world.server, &world.keys.alice, Method::GET, &path, None).await;
        assert_eq!(answer.status(), 200, "{path}");
        answers.push((path, answer.text().await.unwrap()));
    }
    let log = fs::read_to_string(world.server.home().join("server.log")).unwrap();
    answers.push(("log".to_owned(), log));
    for (what, text) in &answers {
        for secret in &hidden {
            assert!(!text.contains(secret), "{what}: {secret}: {text}");
        }
    }
    let said = answers.iter().filter(|(_, text)| text.contains("indeed"));
    assert!(said.count() >= 2, "the words around the secrets are there");
    println!(
        "i1: {} secrets in {} answers and the log, none shown",
        hidden.len(),
        answers.len()
    );
}

/// Returns the operations and outcomes of the audit log, oldest first.
async fn audited(world: &World) -> Vec<(String, String)> {
    let path = "/api/v1/audit?limit=200";
    let answer = rest(&world.server, &world.keys.admin, Method::GET, path, None).await;
    let list: Value = answer.json().await.unwrap();
    let entries = list["entries"].as_array().unwrap().iter().rev();
    let text = |entry: &Value, name: &str| entry[name].as_str().unwrap().to_owned();
    entries
        .map(|entry| (text(entry, "operation"), text(entry, "outcome")))
        .collect()
}

#[tokio::test]
async fn i4_every_action_has_its_audit_entry() {
    let mut world = World::new().await;
    let alice = world.client(&world.keys.alice);
    let session = world.parent.id.to_string();
    let board = board(&alice, "audited").await;
    let mut calls = vec![("board_create", "ok")];
    for (tool, arguments, outcome) in [
        (
            "board_update",
            json!({ "board": board, "name": "renamed" }),
            "ok",
        ),
        (
            "session_update",
            json!({ "session": session, "title": "renamed" }),
            "ok",
        ),
        (
            "session_prompt",
            json!({ "session": session, "prompt": "say x", "wait": 30 }),
            "ok",
        ),
        (
            "session_manage",
            json!({ "session": session, "action": "archive" }),
            "ok",
        ),
        (
            "key_create",
            json!({ "name": "audited", "scope": "read" }),
            "ok",
        ),
        (
            "webhook_create",
            json!({ "url": "https://hooks.example/x" }),
            "ok",
        ),
        ("user_create", json!({ "name": "eve" }), "FORBIDDEN"),
        (
            "config_set",
            json!({ "key": "spawn.depth_max", "value": 9 }),
            "FORBIDDEN",
        ),
        (
            "session_prompt",
            json!({ "session": world.bobs.id.to_string(), "prompt": "x" }),
            "NOT_FOUND",
        ),
    ] {
        let result = alice.call(tool, arguments).await;
        assert_eq!(
            result["isError"] == true,
            outcome != "ok",
            "{tool}: {result}"
        );
        calls.push((tool, outcome));
    }
    let missing = |entries: &[(String, String)]| {
        let is_missing = |(tool, outcome): &&(&str, &str)| {
            !entries
                .iter()
                .any(|(operation, found)| operation == tool && found.eq_ignore_ascii_case(outcome))
        };
        calls.iter().find(is_missing).copied()
    };
    // Entries of refusals are written with the next batch of the writer.
    let mut entries = audited(&world).await;
    for _ in 0..200 {
        if missing(&entries).is_none() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        entries = audited(&world).await;
    }
    assert_eq!(missing(&entries), None, "{entries:?}");
    // An action and its entry are one transaction: after a crash, neither is there without the other.
    let names: Vec<String> = (0..30).map(|number| format!("crash {number}")).collect();
    let mut made = 0;
    for name in &names {
        let made_one = alice.call("board_create", json!({ "name": name })).await;
        made += usize::from(made_one["isError"] != true);
    }
    world.server.kill9();
    world.server.restart();
    let entries = audited(&world).await;
    assert_eq!(missing(&entries), None, "{entries:?}");
    let created = entries
        .iter()
        .filter(|(operation, _)| operation == "board_create");
    assert_eq!(created.count(), made + 1);
    println!(
        "i4: {} calls and {made} before a crash, each with its entry",
        calls.len()
    );
}

#[tokio::test]
async fn i5_nothing_that_is_sent_forges_a_line_of_the_log() {
    let mut server = TestServer::stopped();
    server.set_env("WHEELHOUSE_LOG_FORMAT", "json");
    server.set_env("WHEELHOUSE_LOG", "debug");
    server.restart();
    let key = server.key("full");
    let forged =
        "x\n{\"level\":\"ERROR\",\"message\":\"FORGED\"}\r\n\u{1b}[31mFORGED\u{1b}[0m\u{202e}";
    let encoded: String = url::form_urlencoded::byte_serialize(forged.as_bytes()).collect();
    let client = http(&server);
    let mut sent = 0;
    for body in [
        json!({ "name": forged }),
        json!({ forged: "x" }),
        json!({ "name": "x", "idempotency_key": forged }),
    ] {
        rest(&server, &key, Method::POST, "/api/v1/boards", Some(&body)).await;
        sent += 1;
    }
    for path in [
        format!("/{encoded}"),
        format!("/api/v1/sessions/{encoded}"),
        format!("/api/v1/sessions?cursor={encoded}"),
        format!("/login?token={encoded}"),
        format!("/mcp?toolsets={encoded}"),
    ] {
        for key in [key.as_str(), "wrong"] {
            let request = client
                .get(format!("{}{path}", server.url()))
                .bearer_auth(key);
            request.send().await.unwrap();
            sent += 1;
        }
    }
    server.stop();
    let log = fs::read(server.home().join("server.log")).unwrap();
    assert!(!log.contains(&0x1b), "an escape sequence is in the log");
    let log = String::from_utf8(log).unwrap();
    let mut lines = 0;
    for line in log.lines().filter(|line| line.starts_with('{')) {
        let entry: Value = serde_json::from_str(line).unwrap_or_else(|_| panic!("{line}"));
        assert_ne!(entry["message"], "FORGED", "{line}");
        assert_ne!(entry["level"].as_str(), None, "{line}");
        lines += 1;
    }
    assert!(lines > 0, "the log has no lines of JSON: {log}");
    assert!(!log.lines().any(|line| line.starts_with("FORGED")), "{log}");
    println!("i5: {sent} requests, {lines} lines of JSON, none forged");
}

/// Reads the version of a package in the lock file.
fn locked(lock: &str, name: &str) -> Vec<u64> {
    let entry = format!("name = \"{name}\"\nversion = \"");
    let at = lock
        .find(&entry)
        .unwrap_or_else(|| panic!("{name} is not locked"));
    let version = lock[at + entry.len()..].split('"').next().unwrap();
    version
        .split(['.', '-', '+'])
        .filter_map(|it| it.parse().ok())
        .collect()
}

#[test]
fn i8_dependencies_have_at_least_the_versions_that_were_mended() {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    let lock = fs::read_to_string(format!("{root}/Cargo.lock")).unwrap();
    assert!(locked(&lock, "rmcp") >= vec![1, 4, 0]);
    // The bundled SQLite of this version is 3.51.3 or newer; the server checks that itself when it opens a database.
    assert!(locked(&lock, "libsqlite3-sys") >= vec![0, 37, 0]);
    let deny: toml::Value =
        toml::from_str(&fs::read_to_string(format!("{root}/deny.toml")).unwrap()).unwrap();
    let advisories = &deny["advisories"];
    assert_eq!(advisories["yanked"].as_str(), Some("deny"));
    assert_eq!(advisories["ignore"].as_array().map(Vec::len), Some(0));
    assert_eq!(deny["sources"]["unknown-registry"].as_str(), Some("deny"));
    assert_eq!(deny["sources"]["unknown-git"].as_str(), Some("deny"));
    let packages = lock.matches("[[package]]").count();
    let foreign = lock.lines().filter(|line| {
        line.starts_with("source = ")
            && !line.contains("registry+https://github.com/rust-lang/crates.io-index")
    });
    assert_eq!(foreign.count(), 0);
    println!("i8: {packages} packages, none from elsewhere than crates.io");
}
