//! Requests accept both the number and the id of an entry.

use serde_json::{Value, json};

use crate::harness::{Mcp, World};

/// Request properties that identify a turn, message, task or note, or are a list cursor.
const NAMES: [&str; 9] = [
    "turn",
    "message",
    "task",
    "note",
    "depends_on",
    "cursor",
    "after",
    "before",
    "afterMessageId",
];

/// Properties with one of these names and another meaning.
const TEXTS: [&str; 1] = ["worktree_merge.message"];

/// Checks every property of a schema that has one of [`NAMES`], and returns how many there are.
#[track_caller]
fn check(owner: &str, properties: &Value) -> usize {
    let properties = properties.as_object().into_iter().flatten();
    let named = properties.filter(|(name, _)| {
        let is_text = TEXTS.contains(&format!("{owner}.{name}").as_str());
        NAMES.contains(&name.as_str()) && !is_text
    });
    let mut count = 0;
    for (name, schema) in named {
        let one = match schema.get("items") {
            Some(items) => items,
            None => schema,
        };
        let takes = |kind: &str| {
            one["type"]
                .as_array()
                .is_some_and(|it| it.contains(&json!(kind)))
        };
        assert!(
            takes("string") && takes("integer"),
            "{owner}.{name}: {schema}"
        );
        count += 1;
    }
    count
}

#[tokio::test]
async fn every_field_that_names_an_entry_takes_its_number_and_its_id() {
    let world = World::new().await;
    let mut count = 0;
    for path in ["?toolsets=all", "/clawed-abode", "/iteratr"] {
        let url = format!("{}/mcp{path}", world.server.url());
        let tools = Mcp::new(&url, &world.keys.admin)
            .request("tools/list", json!({}))
            .await;
        for tool in tools["result"]["tools"].as_array().unwrap() {
            let name = tool["name"].as_str().unwrap();
            count += check(name, &tool["inputSchema"]["properties"]);
        }
    }
    assert!(count > 20, "{count} fields of tools");
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let document = http.get(format!("{}/openapi.json", world.server.url()));
    let document = document
        .bearer_auth(&world.keys.admin)
        .send()
        .await
        .unwrap();
    let document: Value = document.json().await.unwrap();
    let mut count = 0;
    let paths = document["paths"].as_object().unwrap().values();
    for operation in paths.flat_map(|methods| methods.as_object().unwrap().values()) {
        let name = operation["operationId"].as_str().unwrap();
        let mut body = &operation["requestBody"]["content"]["application/json"]["schema"];
        if let Some(reference) = body["$ref"].as_str() {
            body = document.pointer(reference.trim_start_matches('#')).unwrap();
        }
        count += check(name, &body["properties"]);
        let parameters = operation["parameters"].as_array().into_iter().flatten();
        let of = |it: &Value| {
            (
                it["name"].as_str().unwrap().to_owned(),
                it["schema"].clone(),
            )
        };
        count += check(name, &parameters.map(of).collect());
    }
    assert!(count > 20, "{count} fields of the REST document");
}

/// Calls a REST path, with a body if there is one.
async fn rest(world: &World, path: &str, body: Option<Value>) -> Value {
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let url = format!("{}/api/v1/{path}", world.server.url());
    let request = match body {
        Some(body) => http.post(url).json(&body),
        None => http.get(url),
    };
    let answer = request.bearer_auth(&world.keys.alice).send().await;
    answer.unwrap().json().await.unwrap()
}

#[tokio::test]
async fn turns_and_messages_are_named_by_number_and_by_id() {
    let world = World::new().await;
    let alice = world.client(&world.keys.alice);
    let call = async |tool: &str, arguments: Value| Mcp::data(&alice.call(tool, arguments).await);
    let new = json!({ "agent": "echo", "prompt": "say one" });
    let session = call("session_create", new).await["id"].clone();
    let session = session.as_str().unwrap();
    let prompt = json!({ "session": session, "prompt": "say two", "wait": 60 });
    call("session_prompt", prompt).await;
    let turns = call("turn_list", json!({ "session": session })).await;
    let turn = turns["turns"][1].clone();
    assert_eq!(turn["number"], 1);
    let said = call("message_list", json!({ "session": session, "after": 0 })).await;
    let message = said["messages"][1].clone();
    assert_eq!(message["text"], "one\n");

    // A number, as JSON or text, requires a session; an id does not.
    let (id, seq) = (&message["id"], &message["seq"]);
    let turn_id = &turn["id"];
    for (turn, message) in [
        (json!(1), seq.clone()),
        (json!("1"), json!(seq.to_string())),
        (turn_id.clone(), id.clone()),
    ] {
        let seen = call("turn_get", json!({ "turn": turn, "session": session })).await;
        assert_eq!(&seen["id"], turn_id, "{turn}");
        let seen = json!({ "message": message, "session": session });
        let seen = call("message_get", seen).await;
        assert_eq!(&seen["id"], id, "{message}");
        let text = |it: &Value| it.as_str().map_or_else(|| it.to_string(), str::to_owned);
        let seen = rest(
            &world,
            &format!("turns/{}?session={session}", text(&turn)),
            None,
        )
        .await;
        assert_eq!(&seen["id"], turn_id, "{turn}: {seen}");
        let path = format!("messages/{}?session={session}", text(&message));
        let seen = rest(&world, &path, None).await;
        assert_eq!(&seen["id"], id, "{message}: {seen}");
        let fork = json!({ "session": session, "turn": turn });
        let forked = call("session_fork", fork).await;
        assert_eq!(forked["forked_from"]["turn"], 1, "{forked}");
        let path = format!("sessions/{session}/forks");
        let forked = rest(&world, &path, Some(json!({ "turn": turn }))).await;
        assert_eq!(forked["forked_from"]["turn"], 1, "{forked}");
    }
    assert_eq!(
        &call("turn_get", json!({ "turn": turn_id })).await["id"],
        turn_id
    );
    assert_eq!(
        &call("message_get", json!({ "message": id })).await["id"],
        id
    );
    for (tool, arguments) in [
        ("turn_get", json!({ "turn": 1 })),
        ("message_get", json!({ "message": seq })),
    ] {
        let refused = alice.call(tool, arguments).await;
        assert_eq!(Mcp::code(&refused), "INVALID_INPUT");
        assert!(refused.to_string().contains("session"), "{refused}");
    }
    for (tool, arguments) in [
        ("turn_get", json!({ "turn": 9, "session": session })),
        ("message_get", json!({ "message": 99, "session": session })),
        // Of another session.
        (
            "turn_get",
            json!({ "turn": turn_id, "session": world.child.id.to_string() }),
        ),
        (
            "message_get",
            json!({ "message": id, "session": world.child.id.to_string() }),
        ),
        ("session_fork", json!({ "session": session, "turn": 9 })),
    ] {
        let refused = alice.call(tool, arguments.clone()).await;
        assert_eq!(Mcp::code(&refused), "NOT_FOUND", "{tool} {arguments}");
    }
    let bob = world.client(&world.keys.bob);
    let theirs = json!({ "turn": 1, "session": session });
    assert_eq!(Mcp::code(&bob.call("turn_get", theirs).await), "NOT_FOUND");

    // Prompts that wait are cancelled by their number.
    let prompt = |text: &str| json!({ "session": session, "prompt": text });
    call("session_prompt", prompt("sleep 60")).await;
    let mut queued = Vec::new();
    for _ in 0..2 {
        queued.push(call("session_prompt", prompt("say never")).await["turn"].clone());
    }
    let cancel = json!({ "session": session, "turn": queued[0]["number"] });
    call("session_interrupt", cancel).await;
    let path = format!("sessions/{session}/interrupt");
    let cancel = json!({ "turn": queued[1]["number"] });
    assert_eq!(rest(&world, &path, Some(cancel)).await["id"], session);
    call("session_interrupt", json!({ "session": session })).await;
    let wait = json!({ "sessions": [session], "timeout": 60 });
    assert_eq!(call("session_wait", wait).await["done"], true);
    for turn in queued {
        let seen = call("turn_get", json!({ "turn": turn["id"] })).await;
        assert_eq!(seen["state"], "cancelled", "{seen}");
    }
}

#[tokio::test]
async fn a_session_means_its_own_turns_and_messages_by_number() {
    let world = World::new().await;
    let alice = world.client(&world.keys.alice);
    let call = async |tool: &str, arguments: Value| Mcp::data(&alice.call(tool, arguments).await);
    let own = call("session_create", json!({ "agent": "echo" })).await["id"].clone();
    for prompt in [
        "say hello",
        "call turn_get {\"turn\": 1}\ncall message_get {\"message\": 2}",
    ] {
        let prompt = json!({ "session": own, "prompt": prompt, "wait": 60 });
        let done = call("session_prompt", prompt).await;
        assert_eq!(done["turn"]["state"], "completed", "{done}");
    }
    let turns = call("turn_list", json!({ "session": own })).await;
    let all = json!({ "session": own, "after": 0, "view": "full" });
    let said = call("message_list", all).await;
    let message = &said["messages"][1];
    assert_eq!(
        (&message["seq"], &message["text"]),
        (&json!(2), &json!("hello\n"))
    );
    let answers = said["messages"].as_array().unwrap()[3..].to_vec();
    let answers = Value::from(answers).to_string();
    for id in [&turns["turns"][1]["id"], &message["id"]] {
        assert!(answers.contains(id.as_str().unwrap()), "{id}: {answers}");
    }
}
