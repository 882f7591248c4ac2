//! Resources.

use serde_json::json;

use crate::harness::{Mcp, World, board};

#[tokio::test]
async fn resources_are_listed_and_read_within_reach() {
    let world = World::new().await;
    let alice = world.client(&world.keys.alice);
    let id = board(&alice, "seen").await;
    let uri = format!("wheelhouse://board/{id}");
    let list = alice.request("resources/list", json!({})).await;
    assert_eq!(list["result"]["resources"][0]["uri"], uri);
    let cursor = list["result"]["nextCursor"].as_str().unwrap();
    let rest = alice
        .request("resources/list", json!({ "cursor": cursor }))
        .await;
    assert_eq!(rest["result"]["resources"].as_array().unwrap().len(), 2);
    let read = alice.request("resources/read", json!({ "uri": uri })).await;
    assert!(
        read["result"]["contents"][0]["text"]
            .as_str()
            .unwrap()
            .contains("\"seen\"")
    );
    let templates = alice.request("resources/templates/list", json!({})).await;
    assert_eq!(
        templates["result"]["resourceTemplates"]
            .as_array()
            .unwrap()
            .len(),
        6
    );
    let bob = world.client(&world.keys.bob);
    for uri in [
        uri.as_str(),
        "wheelhouse://board/00000000",
        "file:///etc/passwd",
    ] {
        let refused = bob.request("resources/read", json!({ "uri": uri })).await;
        assert_eq!(refused["error"]["code"], -32602, "{refused}");
        assert_eq!(refused["error"]["message"], "Resource not found");
    }
}

#[tokio::test]
async fn a_session_its_messages_and_the_agents_are_read_by_address() {
    let world = World::new().await;
    let alice = world.client(&world.keys.alice);
    let id = world.parent.id.to_string();
    let read = async |uri: &str| {
        let read = alice.request("resources/read", json!({ "uri": uri })).await;
        let text = read["result"]["contents"][0]["text"].as_str();
        serde_json::from_str::<serde_json::Value>(text.unwrap_or_else(|| panic!("{read}"))).unwrap()
    };
    let session = read(&format!("wheelhouse://session/{id}")).await;
    assert_eq!(session["title"], "parent");
    let messages = read(&format!("wheelhouse://session/{id}/messages")).await;
    assert_eq!(messages["messages"], json!([]));
    let agents = read("wheelhouse://agents").await;
    assert_eq!(
        agents["agents"],
        Mcp::data(&alice.call("agent_list", json!({})).await)["agents"]
    );
    // The last page of the list holds what there is one of.
    let list = json!({ "cursor": "worktree:" });
    let list = alice.request("resources/list", list).await;
    let last = list["result"]["resources"].as_array().unwrap().last();
    assert_eq!(last.unwrap()["uri"], "wheelhouse://agents");
    // A session without a worktree has no changes, and a stranger's session does not exist.
    let bob = world.client(&world.keys.bob);
    for (mcp, uri) in [
        (&alice, format!("wheelhouse://session/{id}/diff")),
        (&bob, format!("wheelhouse://session/{id}/messages")),
        (&bob, format!("wheelhouse://session/{id}/diff")),
    ] {
        let refused = mcp.request("resources/read", json!({ "uri": uri })).await;
        assert_eq!(refused["error"]["message"], "Resource not found", "{uri}");
    }
}
