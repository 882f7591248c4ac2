//! Calls: structured answers, pages, repeats, legacy clients.

use std::collections::BTreeSet;

use futures::future::join_all;
use reqwest::header::{HeaderMap, HeaderValue};
use serde_json::{Value, json};

use crate::harness::{MODERN, Mcp, World, board};

#[tokio::test]
async fn a_board_can_be_made_changed_copied_and_found() {
    let world = World::new().await;
    let alice = world.client(&world.keys.alice);
    let id = board(&alice, "Release").await;
    let change = json!({
        "board": &id[28..],
        "zones": [{ "name": "todo", "color": "#ff0000" }],
    });
    let changed = Mcp::data(&alice.call("board_update", change).await);
    assert_eq!(changed["zones"][0]["color"], "#ff0000");
    let place = json!({
        "board": id,
        "place": [{ "kind": "session", "id": world.parent.id.to_string(), "x": 3.5, "zone": "todo" }],
    });
    let placed = Mcp::data(&alice.call("board_update", place).await);
    assert_eq!(placed["items"][0]["zone_id"], placed["zones"][0]["id"]);
    let copy = json!({ "board": id, "name": "Copy" });
    let copy = Mcp::data(&alice.call("board_duplicate", copy).await);
    assert_eq!(
        (
            copy["zones"].as_array().unwrap().len(),
            copy["items"].as_array().unwrap().len()
        ),
        (1, 0)
    );
    let result = alice.call("board_get", json!({ "board": id })).await;
    assert_eq!(
        result["content"][0]["text"],
        format!("board \"Release\" ({}): 1 zones, 1 items", &id[28..])
    );
    assert_eq!(Mcp::data(&result)["revision"], 3);
}

async fn make(client: &Mcp, number: usize) -> String {
    board(client, &format!("board {number}")).await
}

#[tokio::test]
async fn pages_hold_everything_once() {
    let world = World::new().await;
    let alice = world.client(&world.keys.alice);
    let made: BTreeSet<String> = join_all((0..23).map(|n| make(&alice, n)))
        .await
        .into_iter()
        .collect();
    let mut seen = BTreeSet::new();
    let mut cursor = Value::Null;
    loop {
        let mut arguments = json!({ "limit": 5 });
        if cursor.is_string() {
            arguments["cursor"] = cursor.clone();
        }
        let page = Mcp::data(&alice.call("board_list", arguments).await);
        for entry in page["boards"].as_array().unwrap() {
            assert!(
                seen.insert(entry["id"].as_str().unwrap().to_owned()),
                "twice: {entry}"
            );
        }
        cursor = page["next_cursor"].clone();
        if cursor.is_null() {
            break;
        }
    }
    assert_eq!(seen, made);
}

#[tokio::test]
async fn a_repeat_with_the_same_mark_changes_nothing_twice() {
    let mut world = World::new().await;
    let arguments = json!({ "name": "once", "idempotency_key": "mark-1" });
    let alice = world.client(&world.keys.alice);
    let calls = (0..5).map(|_| alice.call("board_create", arguments.clone()));
    let ids: BTreeSet<String> = join_all(calls)
        .await
        .iter()
        .map(|result| Mcp::data(result)["id"].as_str().unwrap().to_owned())
        .collect();
    assert_eq!(ids.len(), 1);
    world.server.kill9();
    world.server.restart();
    let alice = world.client(&world.keys.alice);
    let again = Mcp::data(&alice.call("board_create", arguments).await);
    assert!(ids.contains(again["id"].as_str().unwrap()));
    let other = json!({ "name": "another", "idempotency_key": "mark-1" });
    assert_eq!(
        Mcp::code(&alice.call("board_create", other).await),
        "CONFLICT"
    );
    // A new key's secret is shown once, also to whoever asks twice.
    let key = json!({ "name": "k", "scope": "read", "idempotency_key": "mark-2" });
    let first = Mcp::data(&alice.call("key_create", key.clone()).await);
    let second = Mcp::data(&alice.call("key_create", key).await);
    assert_eq!(first["id"], second["id"]);
    assert!(first["key"].is_string() && second["key"].is_null());
}

#[tokio::test]
async fn legacy_clients_without_structure_get_the_data_as_text() {
    let world = World::new().await;
    // An agent's token needs no session in any revision.
    let agent = world.client(&world.keys.session);
    let call = async |version: &'static str| {
        let mut headers = HeaderMap::new();
        headers.insert("Content-Type", HeaderValue::from_static("application/json"));
        headers.insert(
            "Accept",
            HeaderValue::from_static("application/json, text/event-stream"),
        );
        headers.insert("MCP-Protocol-Version", HeaderValue::from_static(version));
        let body = json!({
            "jsonrpc": "2.0", "id": 7, "method": "tools/call",
            "params": { "name": "session_current", "arguments": {} },
        });
        let answer: Value = agent
            .raw(headers, body.to_string())
            .await
            .json()
            .await
            .unwrap();
        answer["result"].clone()
    };
    let old = call("2025-03-26").await;
    let text: Value = serde_json::from_str(old["content"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(text["id"], world.parent.id.to_string());
    assert!(old["structuredContent"].is_null());
    let newer = call("2025-06-18").await;
    assert_eq!(
        newer["structuredContent"]["id"],
        world.parent.id.to_string()
    );
}

#[tokio::test]
async fn every_call_leaves_a_trace() {
    let world = World::new().await;
    let alice = world.client(&world.keys.alice);
    let id = board(&alice, "traced").await;
    let admin = world.client(&world.keys.admin);
    let by = json!({ "user": world.alice.id.to_string(), "operation": "board_create" });
    let audit = Mcp::data(&admin.call("audit_list", by).await);
    let entry = &audit["entries"][0];
    assert_eq!(
        (&entry["subject_id"], &entry["surface"], &entry["outcome"]),
        (&json!(id), &json!("mcp"), &json!("ok"))
    );
    // One's own calls are looked through, whatever they are about; an administrator's question is none of bob's.
    let about = json!({ "about": id, "outcome": "ok", "surface": "mcp", "since": "1d" });
    let found = async |key: &str| {
        let list = world.client(key).call("audit_list", about.clone()).await;
        Mcp::data(&list)["entries"].as_array().unwrap().len()
    };
    assert_eq!(found(&world.keys.admin).await, 1);
    assert_eq!(found(&world.keys.alice).await, 1);
    assert_eq!(found(&world.keys.bob).await, 0);
}

/// The entries of a caller's own calls, newest first, as `operation outcome`, with the facts that tell calls apart.
async fn recorded(client: &Mcp, more: Value) -> Vec<(String, Value)> {
    let mut ask = json!({ "limit": 200 });
    ask.as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    let list = Mcp::data(&client.call("audit_list", ask).await);
    let entries = list["entries"].as_array().unwrap().clone();
    let named = |entry: Value| {
        let text = |name: &str| entry[name].as_str().unwrap().to_owned();
        let what = format!(
            "{} {} {}",
            text("surface"),
            text("operation"),
            text("outcome")
        );
        (what, entry["facts"].clone())
    };
    entries.into_iter().map(named).collect()
}

/// Waits until the log has an entry like this, which for calls that changed nothing is written a moment later.
async fn until_recorded(client: &Mcp, more: Value, what: &str) -> Value {
    loop {
        let found = recorded(client, more.clone()).await;
        if let Some((_, facts)) = found.into_iter().find(|(it, _)| it == what) {
            return facts;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn reads_are_left_out_of_the_log_unless_they_are_asked_for() {
    let world = World::new().await;
    let alice = world.client(&world.keys.alice);
    let id = board(&alice, "looked at").await;
    Mcp::data(&alice.call("board_get", json!({ "board": id })).await);
    until_recorded(&alice, json!({ "include_reads": true }), "mcp board_get ok").await;
    until_recorded(
        &alice,
        json!({ "operation": "board_get" }),
        "mcp board_get ok",
    )
    .await;
    let changes = recorded(&alice, json!({ "surface": "mcp" })).await;
    let names: Vec<_> = changes.iter().map(|(what, _)| what.as_str()).collect();
    assert_eq!(names, ["mcp board_create ok"]);
    // A read that is refused is worth knowing of.
    let absent = json!({ "board": "00000000" });
    alice.call("board_get", absent).await;
    until_recorded(&alice, json!({}), "mcp board_get NOT_FOUND").await;
}

#[tokio::test]
async fn what_is_refused_before_it_begins_and_what_changes_nothing_is_recorded_once() {
    let world = World::new().await;
    let alice = world.client(&world.keys.alice);
    let wrong = json!({ "name": "x", "colour": "red" });
    assert_eq!(
        Mcp::code(&alice.call("board_create", wrong).await),
        "INVALID_INPUT"
    );
    let facts = until_recorded(&alice, json!({}), "mcp board_create INVALID_INPUT").await;
    assert!(
        facts["refused"].as_str().unwrap().contains("colour"),
        "{facts}"
    );
    let marked = json!({ "name": "x", "idempotency_key": "" });
    alice.call("board_create", marked).await;

    let url = world.server.url();
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let post = async |body: &str| {
        let request = http
            .post(format!("{url}/api/v1/boards"))
            .bearer_auth(&world.keys.alice)
            .header("content-type", "application/json")
            .body(body.to_owned());
        request.send().await.unwrap().status().as_u16()
    };
    assert_eq!(post(r#"{"name": 1}"#).await, 400);
    assert_eq!(post("{").await, 400);
    let twice = json!({ "name": "made once", "idempotency_key": "once" }).to_string();
    assert_eq!((post(&twice).await, post(&twice).await), (201, 201));
    let new = json!({ "agent": "echo", "prompt": "say hello" });
    let session = Mcp::data(&alice.call("session_create", new).await)["id"].clone();
    let stop = json!({ "session": session, "action": "stop" });
    let wait = json!({ "sessions": [session], "timeout": 60 });
    for _ in 0..2 {
        Mcp::data(&alice.call("session_wait", wait.clone()).await);
        Mcp::data(&alice.call("session_manage", stop.clone()).await);
    }

    let count = async |what: &str, has: &str| {
        let all = recorded(&alice, json!({ "include_reads": true })).await;
        let like = all
            .iter()
            .filter(|(it, facts)| it == what && (has.is_empty() || facts[has] == "true"));
        like.count()
    };
    loop {
        let refused = count("rest board_create INVALID_INPUT", "").await;
        let unmarked = count("mcp board_create INVALID_INPUT", "").await;
        let unchanged = count("mcp session_manage ok", "unchanged").await;
        if (refused, unmarked, unchanged) == (2, 2, 1) {
            break;
        }
        tokio::task::yield_now().await;
    }
    assert_eq!(count("rest board_create ok", "").await, 2);
    assert_eq!(count("rest board_create ok", "replay").await, 1);
}

#[tokio::test]
async fn a_call_that_a_runner_repeats_is_done_once() {
    let world = World::new().await;
    let agent = world.client(&world.keys.session);
    let child = world.child.id.to_string();
    let params = json!({
        "name": "session_prompt",
        "arguments": { "session": child, "prompt": "say once" },
        "_meta": {
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        },
    });
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let send = async |call: &str| {
        let headers = [
            ("accept", "application/json, text/event-stream"),
            ("content-type", "application/json"),
            ("mcp-protocol-version", MODERN),
            ("mcp-method", "tools/call"),
            ("mcp-name", "session_prompt"),
            ("x-wheelhouse-call", call),
        ];
        let headers = headers.map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()));
        let answer = agent
            .raw(headers.into_iter().collect(), body.to_string())
            .await;
        let answer: Value = answer.json().await.unwrap();
        Mcp::data(&answer["result"])["turn"]["id"].clone()
    };
    let first = send("call-1").await;
    assert!(first.is_string());
    assert_eq!(send("call-1").await, first, "the same call, the same turn");
    assert_ne!(send("call-2").await, first);
    let turns = agent.call("turn_list", json!({ "session": child })).await;
    assert_eq!(Mcp::data(&turns)["turns"].as_array().unwrap().len(), 2);
}
