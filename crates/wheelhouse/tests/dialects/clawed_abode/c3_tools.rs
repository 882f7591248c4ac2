//! C3: exactly the contract's tools, with exactly its parameters.

use serde_json::{Value, json};

use super::{ADDRESSES, Abode, fields};

/// The names of the contract, each with its parameters and those that must be given.
const TOOLS: [(&str, &[&str], &[&str]); 8] = [
    // `cursor` is ours: the contract's list ends nowhere.
    (
        "list_sessions",
        &["cursor", "includeArchived", "status"],
        &[],
    ),
    ("get_session", &["sessionId"], &["sessionId"]),
    (
        "get_messages",
        &["afterMessageId", "includeSystem", "sessionId", "summarize"],
        &["sessionId"],
    ),
    ("get_message", &["messageId"], &["messageId"]),
    (
        "create_session",
        &["branch", "initialPrompt", "name", "repoFullName"],
        &["branch", "name", "repoFullName"],
    ),
    (
        "send_prompt",
        &["prompt", "sessionId", "timeoutMs", "waitForCompletion"],
        &["prompt", "sessionId"],
    ),
    (
        "manage_session",
        &["action", "sessionId"],
        &["action", "sessionId"],
    ),
    ("interrupt_session", &["sessionId"], &["sessionId"]),
];

async fn listed(abode: &Abode, address: &str, key: &str) -> Vec<Value> {
    let client = abode.client(address, key);
    let answer = client.request("tools/list", json!({})).await;
    answer["result"]["tools"].as_array().unwrap().clone()
}

#[tokio::test]
async fn c3_the_tools_have_the_names_parameters_and_defaults_of_the_contract() {
    let abode = Abode::new().await;
    for address in ADDRESSES {
        let tools = listed(&abode, address, &abode.key).await;
        let names: Vec<_> = tools.iter().map(|tool| tool["name"].clone()).collect();
        assert_eq!(names, TOOLS.map(|(name, ..)| json!(name)));
        for (tool, (name, parameters, required)) in tools.iter().zip(TOOLS) {
            let schema = &tool["inputSchema"];
            assert_eq!(fields(&schema["properties"]), parameters, "{name}");
            let must = schema["required"].as_array().cloned().unwrap_or_default();
            let mut must: Vec<_> = must.iter().map(|it| it.as_str().unwrap()).collect();
            must.sort_unstable();
            assert_eq!(must, required, "{name}");
        }
        let prompt = &tools[5]["inputSchema"]["properties"];
        assert_eq!(prompt["waitForCompletion"]["default"], false);
        assert_eq!(prompt["timeoutMs"]["default"], 120_000);
        assert_eq!(prompt["timeoutMs"]["maximum"], 300_000);
        let action = &tools[6]["inputSchema"]["properties"]["action"];
        assert_eq!(action["enum"], json!(["start", "stop", "delete"]));
        assert!(
            tools
                .iter()
                .all(|tool| tool["description"].as_str().is_some())
        );
    }
    let bytes = serde_json::to_string(&listed(&abode, ADDRESSES[0], &abode.key).await).unwrap();
    println!("tools/list: 8 tools, {} bytes", bytes.len());
    assert!(bytes.len() < 6_000);
}

#[tokio::test]
async fn c3_9_set_session_name_is_there_for_bound_keys_alone() {
    let abode = Abode::new().await;
    let session = abode.session("before").await;
    let key = abode.internal_key(&session).key.unwrap();
    for address in ADDRESSES {
        let tools = listed(&abode, address, &key).await;
        assert_eq!(tools.len(), 1);
        assert_eq!(tools[0]["name"], "set_session_name");
        assert_eq!(fields(&tools[0]["inputSchema"]["properties"]), ["name"]);
        let bound = abode.client(address, &key);
        let renamed = super::data(
            &bound
                .call("set_session_name", json!({ "name": address }))
                .await,
        );
        let expected = json!({ "success": true, "sessionId": session, "name": address });
        assert_eq!(renamed, expected);
        let seen = abode.call_at(address, "get_session", json!({ "sessionId": session }));
        assert_eq!(seen.await["name"], address);
        let full = abode.client(address, &abode.key);
        let refused = full.call("set_session_name", json!({ "name": "x" })).await;
        assert_eq!(crate::harness::Mcp::code(&refused), "FORBIDDEN");
    }
}

#[tokio::test]
async fn c3_mistakes_are_told_in_the_contracts_words() {
    let abode = Abode::new().await;
    let client = abode.client(ADDRESSES[0], &abode.key);
    let nobody = uuid::Uuid::now_v7().to_string();
    for (tool, arguments, code, word) in [
        (
            "get_session",
            json!({ "sessionId": nobody }),
            "NOT_FOUND",
            "list_sessions",
        ),
        ("get_session", json!({}), "INVALID_INPUT", "sessionId"),
        (
            "get_session",
            json!({ "session": nobody }),
            "INVALID_INPUT",
            "session",
        ),
        (
            "list_sessions",
            json!({ "status": "idle" }),
            "INVALID_INPUT",
            "creating",
        ),
        (
            "manage_session",
            json!({ "sessionId": nobody, "action": "archive" }),
            "INVALID_INPUT",
            "delete",
        ),
    ] {
        let refused = client.call(tool, arguments).await;
        assert_eq!(crate::harness::Mcp::code(&refused), code, "{refused}");
        let line = refused["content"][0]["text"].as_str().unwrap();
        assert!(line.contains(word), "{line}");
    }
    let unknown = json!({ "name": "session_list", "arguments": {} });
    let answer = client.request("tools/call", unknown).await;
    assert_eq!(answer["error"]["code"], -32602);
}
