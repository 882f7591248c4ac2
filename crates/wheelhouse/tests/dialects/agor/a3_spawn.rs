//! A3.4: sessions that spawn sessions.

use serde_json::json;

use super::{Agor, data, fields, refusal};

#[tokio::test]
async fn a3_4_sessions_spawn_answers_at_once_and_goes_on_behind() {
    let agor = Agor::new().await;
    for client in [&agor.session, &agor.alice] {
        let new = json!({ "parentId": agor.parent(), "prompt": "say begun" });
        let spawned = data(&client.call("agor_sessions_spawn", new).await);
        let names = ["sessionId", "status", "created", "entity_id", "entity"];
        assert_eq!(fields(&spawned), names);
        assert_eq!(
            (&spawned["created"], &spawned["entity_id"]),
            (&json!(true), &spawned["sessionId"])
        );
        assert_eq!(spawned["entity"]["session_id"], spawned["sessionId"]);
        assert_eq!(spawned["status"], "running");
        let id = spawned["sessionId"].as_str().unwrap();
        let seen = agor.until(id, "completed").await;
        assert_eq!(seen["genealogy"]["parent_session_id"], agor.parent());
        // The parent's agent, unless another is named.
        assert_eq!(seen["agentic_tool"], "echo");
    }
}

#[tokio::test]
async fn a3_4_sessions_spawn_waits_when_told_to() {
    let agor = Agor::new().await;
    let new = json!({ "parentId": agor.parent(), "prompt": "say done", "sync": true });
    let spawned = data(&agor.session.call("agor_sessions_spawn", new).await);
    assert_eq!(spawned["status"], "completed");
}

#[tokio::test]
async fn a3_4_sessions_spawn_takes_an_agent_and_a_zone() {
    let agor = Agor::new().await;
    let (board, zones) = agor.board_with_zones("work", &["Doing"]).await;
    let new = json!({ "boardId": board, "agent": "echo" });
    let root = data(&agor.alice.call("agor_sessions_create", new).await);
    let root = root["entity_id"].as_str().unwrap();
    let new = json!({
        "parentId": root, "prompt": "say there", "agent": "echo", "zoneId": zones[0],
    });
    let spawned = data(&agor.alice.call("agor_sessions_spawn", new).await);
    let ours = agor.world.client(&agor.world.keys.alice);
    let shown = ours.call("board_get", json!({ "board": board })).await;
    let items = crate::harness::Mcp::data(&shown)["items"].clone();
    assert_eq!(items[0]["id"], spawned["sessionId"], "{items}");
    assert_eq!(items[0]["zone_id"], zones[0]);
    for (more, code) in [
        (json!({ "zoneId": "nowhere" }), "NOT_FOUND"),
        (json!({ "agent": "nobody-knows-it" }), "INVALID_INPUT"),
        (json!({ "prompt": "" }), "INVALID_INPUT"),
        (json!({ "unheardOf": 1 }), "INVALID_INPUT"),
    ] {
        let mut new = json!({ "parentId": root, "prompt": "say no" });
        for (name, value) in more.as_object().unwrap() {
            new[name] = value.clone();
        }
        let refused = agor.alice.call("agor_sessions_spawn", new).await;
        refusal(&refused, code);
    }
    let refused = agor
        .alice
        .call("agor_sessions_spawn", json!({ "prompt": "say no" }))
        .await;
    refusal(&refused, "INVALID_INPUT");
}

#[tokio::test]
async fn a3_4_a_child_whose_task_fails_is_failed() {
    let agor = Agor::new().await;
    let busy = agor.spawn(&agor.parent(), "sleep 60").await;
    agor.until_at_work(&busy).await;
    let ours = agor.world.client(&agor.world.keys.alice);
    let interrupt = json!({ "session": busy });
    crate::harness::Mcp::data(&ours.call("session_interrupt", interrupt).await);
    agor.until(&busy, "failed").await;
    let failed = json!({ "status": "failed" });
    let failed = data(&agor.alice.call("agor_sessions_list", failed).await);
    assert_eq!(failed["total"], 1);
}
