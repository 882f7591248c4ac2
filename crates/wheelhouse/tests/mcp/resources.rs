//! Resources, prompts and completion.

use serde_json::json;

use crate::harness::{World, board};

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
        4
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
async fn prompts_are_filled_in_and_ids_completed() {
    let world = World::new().await;
    let alice = world.client(&world.keys.alice);
    let list = alice.request("prompts/list", json!({})).await;
    assert_eq!(list["result"]["prompts"].as_array().unwrap().len(), 2);
    let session = world.parent.id.to_string();
    let get = json!({ "name": "summarize-session", "arguments": { "session": session } });
    let prompt = alice.request("prompts/get", get).await;
    let text = prompt["result"]["messages"][0]["content"]["text"]
        .as_str()
        .unwrap();
    assert!(text.contains(&session) && text.contains("child"), "{text}");
    let complete = json!({
        "ref": { "type": "ref/prompt", "name": "summarize-session" },
        "argument": { "name": "session", "value": "par" },
    });
    let completed = alice.request("completion/complete", complete).await;
    assert_eq!(
        completed["result"]["completion"]["values"],
        json!([session])
    );
    let missing = json!({ "name": "summarize-session", "arguments": {} });
    let refused = alice.request("prompts/get", missing).await;
    assert!(
        refused["error"]["message"]
            .as_str()
            .unwrap()
            .contains("session")
    );
}
