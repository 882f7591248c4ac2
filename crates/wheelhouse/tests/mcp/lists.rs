//! What callers are shown.

use serde_json::{Value, json};

use crate::harness::{Mcp, World};

fn names(answer: &Value) -> Vec<&str> {
    let tools = answer["result"]["tools"].as_array().unwrap();
    tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect()
}

#[tokio::test]
async fn a_list_is_the_same_bytes_every_time() {
    let mut world = World::new().await;
    let list = async |world: &World, key: &str| {
        let response = world.client(key).send("tools/list", json!({})).await;
        response.text().await.unwrap()
    };
    for key in [world.keys.admin.clone(), world.keys.session.clone()] {
        let first = list(&world, &key).await;
        assert_eq!(first, list(&world, &key).await);
        world.server.restart();
        assert_eq!(first, list(&world, &key).await);
    }
}

#[tokio::test]
async fn callers_see_only_what_they_may_call() {
    let world = World::new().await;
    let admin = world.client(&world.keys.admin).toolsets("all");
    let list = admin.request("tools/list", json!({})).await;
    assert!(names(&list).contains(&"user_create"));
    assert_eq!(list["result"]["cacheScope"], "private");
    let agent = world.client(&world.keys.session).toolsets("all");
    let list = agent.request("tools/list", json!({})).await;
    let shown = names(&list);
    assert!(shown.contains(&"session_current") && !shown.contains(&"key_create"));
    let some = world.client(&world.keys.admin).toolsets("board");
    let list = some.request("tools/list", json!({})).await;
    assert_eq!(
        names(&list),
        [
            "board_create",
            "board_delete",
            "board_duplicate",
            "board_get",
            "board_list",
            "board_share",
            "board_update",
            "tool_call",
            "tool_search"
        ]
    );
    let typo = world.client(&world.keys.admin).toolsets("bord");
    let refused = typo.request("tools/list", json!({})).await;
    assert!(
        refused["error"]["message"]
            .as_str()
            .unwrap()
            .contains("board")
    );
}

#[tokio::test]
async fn what_is_not_listed_is_found_and_called() {
    let world = World::new().await;
    let admin = world.client(&world.keys.admin);
    let found = Mcp::data(
        &admin
            .call("tool_search", json!({ "query": "revoke key" }))
            .await,
    );
    assert_eq!(found["tools"][0]["name"], "key_revoke");
    assert!(found["tools"][0]["input_schema"]["properties"]["key"].is_object());
    let call = json!({ "name": "user_list", "arguments": { "limit": 1 } });
    let users = Mcp::data(&admin.call("tool_call", call).await);
    assert_eq!(users["users"].as_array().unwrap().len(), 1);
    let agent = world.client(&world.keys.session);
    let hidden = Mcp::data(
        &agent
            .call("tool_search", json!({ "query": "revoke key" }))
            .await,
    );
    let others = hidden["others"].as_array().unwrap();
    assert!(!others.contains(&json!("key_revoke")));
    let denied = agent
        .call("tool_call", json!({ "name": "user_list" }))
        .await;
    assert_eq!(Mcp::code(&denied), "FORBIDDEN");
    let unknown = agent.call("tool_call", json!({ "name": "rm_rf" })).await;
    assert_eq!(Mcp::code(&unknown), "NOT_FOUND");
}

#[tokio::test]
async fn an_agent_is_told_who_it_is() {
    let world = World::new().await;
    let agent = world.client(&world.keys.session);
    let answer = agent.request("server/discover", json!({})).await;
    let instructions = answer["result"]["instructions"].as_str().unwrap();
    assert!(
        instructions.contains(&world.parent.id.to_string()),
        "{instructions}"
    );
    let versions = answer["result"]["supportedVersions"].as_array().unwrap();
    assert_eq!(versions.len(), 4);
}
