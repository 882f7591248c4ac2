//! What is shown of a session after a prompt was accepted, and what is said when one cannot be.

use serde_json::{Value, json};

use crate::harness::{Mcp, World};

const TRIES: usize = 50;

#[tokio::test]
async fn a_session_is_running_from_the_moment_a_prompt_is_accepted() {
    let world = World::new().await;
    let alice = world.client(&world.keys.alice);
    let own = world.parent.id.to_string();
    let session = json!({ "session": own });
    let busy = json!({ "session": own, "prompt": "sleep 60" });
    let agor = Mcp::new(
        &format!("{}/mcp/agor", world.server.url()),
        &world.keys.alice,
    );
    let listed_in = async |states: Value| {
        let request = json!({ "states": states, "count": true });
        let list = Mcp::data(&alice.call("session_list", request).await);
        let sessions = list["sessions"].as_array().unwrap();
        assert_eq!(list["total"], sessions.len(), "{list}");
        let mut sessions = sessions.iter();
        let found = sessions.find(|it| own.ends_with(it["id"].as_str().unwrap()));
        found.map(|it| it["state"].clone())
    };
    let child = world.child.id.to_string();
    let read = async |tool: &str, request: Value| -> Value {
        let answer = agor.call(tool, request).await;
        serde_json::from_str(answer["content"][0]["text"].as_str().unwrap()).unwrap()
    };
    let agor_status = async || {
        let shown = read("agor_sessions_get", json!({ "sessionId": own })).await;
        let family = read("agor_sessions_genealogy", json!({ "sessionId": child })).await;
        [shown["status"].clone(), family["parent"]["status"].clone()]
    };
    let agor_listed_in = async |status: &str| {
        let list = read("agor_sessions_list", json!({ "status": status })).await;
        let sessions = list["data"].as_array().unwrap();
        assert_eq!(list["total"], sessions.len(), "{list}");
        let mut sessions = sessions.iter();
        let found = sessions.find(|it| it["session_id"] == own.as_str());
        found.map(|it| it["status"].clone())
    };
    let running = Some(json!("running"));
    for n in 0..TRIES {
        let accepted = Mcp::data(&alice.call("session_prompt", busy.clone()).await);
        assert_eq!(accepted["state"], "running");
        match n % 4 {
            // Each is the first to read in its turn: the agent may have the prompt by the next one.
            0 => assert_eq!(agor_status().await, ["running"; 2], "try {n}"),
            1 => assert_eq!(listed_in(json!(["idle"])).await, None, "try {n}"),
            2 => assert_eq!(agor_listed_in("idle").await, None, "try {n}"),
            _ => assert_eq!(agor_listed_in("running").await, running, "try {n}"),
        }
        assert_eq!(listed_in(json!(["running"])).await, running, "try {n}");
        assert_eq!(listed_in(json!([])).await, running, "try {n}");
        let seen = Mcp::data(&alice.call("session_get", session.clone()).await);
        assert_eq!(seen["state"], "running", "try {n}: {accepted}");
        let tree = Mcp::data(&alice.call("session_tree", session.clone()).await);
        assert_eq!(tree["tree"][0]["state"], "running", "try {n}");
        Mcp::data(&alice.call("session_interrupt", session.clone()).await);
        // Once is enough, whether or not the prompt has reached the agent yet.
        let wait = json!({ "sessions": [own], "timeout": 50 });
        let waited = Mcp::data(&alice.call("session_wait", wait).await);
        assert_eq!(waited["done"], true, "try {n}: {waited}");
        let seen = Mcp::data(&alice.call("session_get", session.clone()).await);
        assert_eq!(seen["state"], "idle", "try {n}");
    }
    println!(
        "{TRIES} prompts: none was followed by the state idle, and each was interrupted at once"
    );
}

#[tokio::test]
async fn a_failed_session_says_why_it_takes_no_prompt_and_what_to_do() {
    let world = World::new().await;
    let alice = world.client(&world.keys.alice);
    // Its agent offers no such model, so it cannot be started.
    let new = json!({ "agent": "echo", "model": "huge", "prompt": "say never" });
    let made = Mcp::data(&alice.call("session_create", new).await);
    let session = made["id"].as_str().unwrap();
    let wait = json!({ "sessions": [session], "timeout": 60 });
    let waited = Mcp::data(&alice.call("session_wait", wait).await);
    assert_eq!(waited["sessions"][0]["state"], "failed", "{waited}");
    let prompt = json!({ "session": session, "prompt": "say x" });
    let refused = alice.call("session_prompt", prompt).await;
    assert_eq!(Mcp::code(&refused), "CONFLICT");
    let error = &refused["structuredContent"]["error"];
    let (message, hint) = (
        error["message"].as_str().unwrap(),
        error["hint"].as_str().unwrap(),
    );
    assert!(
        message.starts_with("the session failed") && message.contains("huge"),
        "{message}"
    );
    assert!(hint.contains("session_fork"), "{hint}");
    let start = json!({ "session": session, "action": "start" });
    let refused = alice.call("session_manage", start).await;
    let message = refused["structuredContent"]["error"]["message"]
        .as_str()
        .unwrap();
    assert_eq!(message, "a session that is failed cannot be started");
}

#[tokio::test]
async fn hints_name_what_the_caller_can_call() {
    let world = World::new().await;
    let admin = world.client(&world.keys.admin);
    let limit = json!({ "key": "budget.session.turns", "value": 5 });
    Mcp::data(&admin.call("config_set", limit).await);
    let hint_for = async |key: &str| {
        let client = world.client(key);
        let made = Mcp::data(
            &client
                .call("session_create", json!({ "agent": "echo" }))
                .await,
        );
        let raise = json!({ "session": made["id"], "budget": { "turns": 9 } });
        let refused = client.call("session_update", raise).await;
        assert_eq!(Mcp::code(&refused), "FORBIDDEN");
        refused["structuredContent"]["error"]["hint"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    // A client key sees no settings.
    assert!(hint_for(&world.keys.alice).await.contains("config_get"));
    let hint = hint_for(&world.keys.alice_client).await;
    assert!(
        !hint.contains("config_get") && hint.contains("administrator"),
        "{hint}"
    );
}
