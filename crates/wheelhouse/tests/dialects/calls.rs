//! What is the same about the calls of every dialect: idempotency keys, and one entry of the audit log for each.

use reqwest::header::{HeaderMap, HeaderName};
use serde_json::{Value, json};
use wh_domain::Dialect;

use crate::harness::{MODERN, Mcp, World};

fn client(world: &World, path: &str) -> Mcp {
    let url = format!("{}/mcp/{path}", world.server.url());
    Mcp::new(&url, &world.keys.alice)
}

/// Calls a tool with something more in the headers or in `_meta`, and returns its result.
async fn call_with(
    client: &Mcp,
    tool: &str,
    arguments: Value,
    header: Option<(&str, &str)>,
    meta: Option<&str>,
) -> Value {
    let mut headers = HeaderMap::new();
    let usual = [
        ("accept", "application/json, text/event-stream"),
        ("content-type", "application/json"),
        ("mcp-protocol-version", MODERN),
        ("mcp-method", "tools/call"),
        ("mcp-name", tool),
    ];
    for (name, value) in usual.into_iter().chain(header) {
        let name = HeaderName::from_bytes(name.as_bytes()).unwrap();
        headers.insert(name, value.parse().unwrap());
    }
    let mut params = json!({ "name": tool, "arguments": arguments, "_meta": {
        "io.modelcontextprotocol/protocolVersion": MODERN,
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
    } });
    if let Some(key) = meta {
        params["_meta"]["wheelhouse/idempotency_key"] = key.into();
    }
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params });
    let answer = client.raw(headers, body.to_string()).await;
    let answer: Value = answer.json().await.unwrap();
    answer["result"].clone()
}

#[tokio::test]
async fn every_dialect_takes_idempotency_keys_in_every_way() {
    let world = World::new().await;
    let ours = world.client(&world.keys.alice);
    let owner = world.alice.id.to_string();
    let session = world.child.id.to_string();
    let prompts = async || {
        let list = json!({ "session": session });
        Mcp::data(&ours.call("turn_list", list).await)["total"].clone()
    };
    let boards = async || Mcp::data(&ours.call("board_list", json!({})).await)["total"].clone();
    let tasks = async || {
        let list = json!({ "list": "work" });
        Mcp::data(&ours.call("task_list", list).await)["total"].clone()
    };
    for dialect in Dialect::ALL {
        // What is made, by a text that tells two of it apart, and how many there are.
        type Request<'a> = Box<dyn Fn(&str) -> Value + 'a>;
        let (path, tool, request): (_, _, Request<'_>) = match dialect {
            Dialect::Agor => (
                "agor",
                "agor_boards_create",
                Box::new(|text| json!({ "name": text, "ownerId": owner })),
            ),
            Dialect::ClawedAbode => (
                "clawed-abode",
                "send_prompt",
                Box::new(|text| json!({ "sessionId": session, "prompt": format!("say {text}") })),
            ),
            Dialect::Iteratr => (
                "iteratr?list=work",
                "task-add",
                Box::new(|text| json!({ "tasks": [{ "content": text }] })),
            ),
        };
        let count = async || match dialect {
            Dialect::Agor => boards().await,
            Dialect::ClawedAbode => prompts().await,
            Dialect::Iteratr => tasks().await,
        };
        let client = client(&world, path);
        let keyed = |text: &str| {
            let mut arguments = request(text);
            arguments["idempotency_key"] = format!("{tool}-argument").into();
            arguments
        };
        let mut answers = Vec::new();
        for n in 0..2 {
            answers.push(client.call(tool, keyed("one")).await);
            assert_eq!(count().await, 1, "{tool} by argument, call {n}");
        }
        // A prompt tells where the transcript was when it came.
        if dialect != Dialect::ClawedAbode {
            assert_eq!(answers[0], answers[1], "{tool}");
        }
        // Reusing the key for a different request is refused.
        let reused = client.call(tool, keyed("another")).await.to_string();
        assert!(reused.contains("idempotency key"), "{reused}");
        assert_eq!(count().await, 1, "{tool}");
        for n in 0..2 {
            let mark = format!("{tool}-meta");
            call_with(&client, tool, request("two"), None, Some(&mark)).await;
            assert_eq!(count().await, 2, "{tool} by `_meta`, call {n}");
        }
        // As a port says it that repeats what it forwards.
        let mark = format!("{tool}-header");
        for n in 0..2 {
            let header = Some(("x-wheelhouse-call", mark.as_str()));
            call_with(&client, tool, request("three"), header, None).await;
            assert_eq!(count().await, 3, "{tool} by header, call {n}");
        }
        // Without an idempotency key, the call is repeated.
        client.call(tool, request("three")).await;
        assert_eq!(count().await, 4, "{tool}");
    }
}

#[tokio::test]
async fn a_call_is_one_entry_of_the_audit_log_with_the_name_of_its_tool() {
    let world = World::new().await;
    let agor = client(&world, "agor");
    let nowhere = json!({ "sessionId": "00000000-0000-7000-8000-000000000000" });
    let parent = json!({ "sessionId": world.parent.id.to_string() });
    agor.call("agor_sessions_list", json!({})).await;
    agor.call("agor_sessions_get", parent).await;
    agor.call("agor_sessions_get", nowhere).await;
    agor.call("agor_sessions_get", json!({})).await;
    let board = json!({ "name": "x", "ownerId": world.alice.id.to_string() });
    agor.call("agor_boards_create", board).await;
    let abode = client(&world, "clawed-abode");
    let prompt = json!({ "sessionId": world.child.id.to_string(), "prompt": "say hello" });
    abode.call("send_prompt", prompt).await;
    let iteratr = client(&world, "iteratr?list=work");
    iteratr.call("task-next", json!({})).await;
    let admin = world.client(&world.keys.admin).toolsets("all");
    let entries = async || {
        let user = world.alice.id.to_string();
        let list = json!({ "user": user, "surface": "mcp", "include_reads": true, "limit": 200 });
        let listed = Mcp::data(&admin.call("audit_list", list).await);
        let entries = listed["entries"].as_array().unwrap().clone();
        let of_tool = entries.iter().rev().filter_map(|entry| {
            let tool = entry["facts"]["tool"].as_str()?;
            let (operation, outcome) = (&entry["operation"], &entry["outcome"]);
            let (operation, outcome) = (operation.as_str()?, outcome.as_str()?);
            Some(format!("{tool} {operation} {outcome}"))
        });
        let of_tool: Vec<_> = of_tool.collect();
        // Reads are written behind the calls.
        (entries.len(), of_tool)
    };
    let expected = [
        "agor_sessions_list session_list ok",
        "agor_sessions_get session_get ok",
        "agor_sessions_get session_get NOT_FOUND",
        "agor_sessions_get session_get INVALID_INPUT",
        "agor_boards_create board_create ok",
        "send_prompt session_prompt ok",
        "task-next task_next ok",
    ];
    let all = async {
        loop {
            let (count, mut found) = entries().await;
            if found.len() >= expected.len() {
                // Entries of reads and of changes are written by different ways.
                found.sort_unstable();
                return (count, found);
            }
            tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        }
    };
    let within = std::time::Duration::from_secs(30);
    let (count, found) = tokio::time::timeout(within, all).await.unwrap();
    let mut expected = expected.map(str::to_owned);
    expected.sort_unstable();
    assert_eq!(found, expected);
    // Nothing of these calls is recorded beside.
    assert_eq!(count, expected.len());
}
