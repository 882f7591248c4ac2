//! Long calls as tasks: for clients that declare them, durable, and only for whom they belong to.

use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::{Mcp, World};

/// How often a task is asked after, at most.
const LOOKS_MAX: u32 = 600;

fn with_tasks(client: Mcp) -> Mcp {
    let extensions = json!({ "io.modelcontextprotocol/tasks": {} });
    client.capable_of(json!({ "extensions": extensions, "elicitation": { "form": {} } }))
}

async fn session(client: &Mcp) -> String {
    let made = client
        .call("session_create", json!({ "agent": "echo" }))
        .await;
    Mcp::data(&made)["id"].as_str().unwrap().to_owned()
}

/// Begins a prompt and returns its task.
async fn begin(client: &Mcp, session: &str, prompt: &str) -> String {
    let arguments = json!({ "session": session, "prompt": prompt, "wait": 60 });
    let begun = client.call("session_prompt", arguments).await;
    assert_eq!(begun["resultType"], "task", "{begun}");
    assert_eq!(begun["status"], "working", "{begun}");
    assert!(begun["pollIntervalMs"].is_u64(), "{begun}");
    begun["taskId"].as_str().unwrap().to_owned()
}

async fn look(client: &Mcp, task: &str) -> Value {
    client.request("tasks/get", json!({ "taskId": task })).await
}

/// Waits until a task is in another state than working.
async fn settled(client: &Mcp, task: &str) -> Value {
    let mut now = Value::Null;
    for _ in 0..LOOKS_MAX {
        now = look(client, task).await;
        assert!(now["result"].is_object(), "{now}");
        if now["result"]["status"] != "working" {
            return now["result"].clone();
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    panic!("the task goes on and on: {now}");
}

#[tokio::test]
async fn a_task_ends_with_what_the_call_would_have_said() {
    let world = World::new().await;
    let alice = with_tasks(world.client(&world.keys.alice));
    let discovered = alice.request("server/discover", json!({})).await;
    let extensions = &discovered["result"]["capabilities"]["extensions"];
    assert!(
        extensions["io.modelcontextprotocol/tasks"].is_object(),
        "{discovered}"
    );
    let session = session(&alice).await;
    let task = begin(&alice, &session, "say hello from the task").await;
    let done = settled(&alice, &task).await;
    assert_eq!(done["status"], "completed", "{done}");
    let view = &done["result"]["structuredContent"];
    assert!(
        view["words"]
            .as_str()
            .unwrap()
            .contains("hello from the task"),
        "{done}"
    );
    assert_eq!(view["turn"]["state"], "completed");
    // A child is begun as a task too.
    let spawn = json!({ "parent": session, "prompt": "say below", "wait": 60 });
    let spawned = alice.call("session_spawn", spawn).await;
    let child = settled(&alice, spawned["taskId"].as_str().unwrap()).await;
    assert!(child.to_string().contains("below"), "{child}");
    // Without a wish to wait there is nothing to wait for, and without the extension there are no tasks.
    let at_once = json!({ "session": session, "prompt": "say x" });
    assert_eq!(
        alice.call("session_prompt", at_once).await["resultType"],
        "complete"
    );
    let plain = world.client(&world.keys.alice);
    let waited = json!({ "session": session, "prompt": "say y", "wait": 60 });
    assert_eq!(
        plain.call("session_prompt", waited).await["resultType"],
        "complete"
    );
    let refused = look(&plain, &task).await;
    assert_eq!(refused["error"]["code"], -32021, "{refused}");
}

#[tokio::test]
async fn what_an_agent_asks_is_asked_by_the_task() {
    let world = World::new().await;
    let alice = with_tasks(world.client(&world.keys.alice));
    let session = session(&alice).await;
    let task = begin(&alice, &session, "ask open it\nquestion which colour?").await;
    for content in [json!({ "decision": "allow" }), json!({ "text": "teal" })] {
        let asks = settled(&alice, &task).await;
        assert_eq!(asks["status"], "input_required", "{asks}");
        let requests = asks["inputRequests"].as_object().unwrap();
        let (key, request) = requests.iter().next().unwrap();
        assert_eq!(request["method"], "elicitation/create");
        let response = json!({ "action": "accept", "content": content });
        let update = json!({ "taskId": task, "inputResponses": { key: response } });
        let done = alice.request("tasks/update", update).await;
        assert!(done["result"].is_object(), "{done}");
    }
    let done = settled(&alice, &task).await;
    assert_eq!(done["status"], "completed", "{done}");
    assert!(done.to_string().contains("teal"), "{done}");
    let nothing = json!({ "taskId": task, "inputResponses": { "x": {} } });
    let refused = alice.request("tasks/update", nothing).await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
}

#[tokio::test]
async fn a_task_outlives_the_server_and_ends_when_told() {
    let mut world = World::new().await;
    let alice = with_tasks(world.client(&world.keys.alice));
    let session = session(&alice).await;
    let task = begin(&alice, &session, "sleep 2\nsay later").await;
    world.server.kill9();
    world.server.restart();
    let alice = with_tasks(world.client(&world.keys.alice));
    let done = settled(&alice, &task).await;
    assert!(
        done["status"] == "completed" && done.to_string().contains("later"),
        "{done}"
    );
    let running = begin(&alice, &session, "sleep 60").await;
    let waiting = begin(&alice, &session, "say never").await;
    for task in [&waiting, &running] {
        let cancelled = alice
            .request("tasks/cancel", json!({ "taskId": task }))
            .await;
        assert!(cancelled["result"].is_object(), "{cancelled}");
        assert_eq!(settled(&alice, task).await["status"], "cancelled");
    }
}

/// Begins to wait for sessions and returns the task.
async fn begin_wait(client: &Mcp, arguments: Value) -> String {
    let begun = client.call("session_wait", arguments).await;
    assert_eq!(begun["resultType"], "task", "{begun}");
    begun["taskId"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_wait_is_a_task_that_stays_as_it_ended() {
    let mut world = World::new().await;
    let alice = with_tasks(world.client(&world.keys.alice));
    let (quick, slow) = (session(&alice).await, session(&alice).await);
    let both = json!([quick, slow]);
    begin(&alice, &slow, "sleep 60").await;
    begin(&alice, &quick, "sleep 2\nsay soon").await;
    let any = begin_wait(&alice, json!({ "sessions": both, "wait_for": "any" })).await;
    let all = begin_wait(&alice, json!({ "sessions": both, "timeout": 300 })).await;
    let short = begin_wait(&alice, json!({ "sessions": [slow], "timeout": 1 })).await;
    assert_eq!(look(&alice, &any).await["result"]["status"], "working");
    // Neither the server's death nor what follows changes what they come to.
    world.server.kill9();
    world.server.restart();
    let alice = with_tasks(world.client(&world.keys.alice));
    let met = settled(&alice, &any).await;
    let view = &met["result"]["structuredContent"];
    assert_eq!(
        (&met["status"], &view["done"]),
        (&json!("completed"), &json!(true)),
        "{met}"
    );
    assert_eq!(view["sessions"][0]["last_words"], "soon\n", "{met}");
    assert_eq!(view["sessions"][1]["done"], false, "{met}");
    begin(&alice, &quick, "sleep 60").await;
    assert_eq!(settled(&alice, &any).await, met);
    let late = settled(&alice, &short).await;
    let view = &late["result"]["structuredContent"];
    assert_eq!(
        (&late["status"], &view["done"]),
        (&json!("completed"), &json!(false)),
        "{late}"
    );
    // Whoever waits no more says so, and nobody else can.
    let bob = with_tasks(world.client(&world.keys.bob));
    let cancel = json!({ "taskId": all });
    let refused = bob.request("tasks/cancel", cancel.clone()).await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    assert_eq!(look(&bob, &all).await["error"], refused["error"]);
    assert_eq!(look(&alice, &all).await["result"]["status"], "working");
    alice.request("tasks/cancel", cancel).await;
    assert_eq!(settled(&alice, &all).await["status"], "cancelled");
    let nobody = json!({ "sessions": ["nonsense"] });
    let refused = alice.call("session_wait", nobody).await;
    assert_eq!(refused["isError"], true, "{refused}");
}

#[tokio::test]
async fn a_task_that_is_cancelled_as_it_begins_ends() {
    const ROUNDS: u64 = 30;
    let world = World::new().await;
    let alice = with_tasks(world.client(&world.keys.alice));
    let session = session(&alice).await;
    for round in 0..ROUNDS {
        let task = begin(&alice, &session, "sleep 60").await;
        // From before the agent has it until after it has said so.
        tokio::time::sleep(Duration::from_micros(round * 300)).await;
        let cancel = json!({ "taskId": task });
        alice.request("tasks/cancel", cancel).await;
        assert_eq!(settled(&alice, &task).await["status"], "cancelled");
    }
    let task = begin(&alice, &session, "say still here").await;
    assert_eq!(settled(&alice, &task).await["status"], "completed");
}

#[tokio::test]
async fn tasks_that_wait_end_at_once_though_the_one_before_them_is_just_beginning() {
    const ROUNDS: u64 = 20;
    let world = World::new().await;
    let alice = with_tasks(world.client(&world.keys.alice));
    let session = session(&alice).await;
    for round in 0..ROUNDS {
        let running = begin(&alice, &session, "sleep 600").await;
        let kept = begin(&alice, &session, "say next").await;
        let waiting = begin(&alice, &session, "say never").await;
        tokio::time::sleep(Duration::from_micros(round * 300)).await;
        for task in [&waiting, &running] {
            alice
                .request("tasks/cancel", json!({ "taskId": task }))
                .await;
            assert_eq!(settled(&alice, task).await["status"], "cancelled");
        }
        assert_eq!(settled(&alice, &kept).await["status"], "completed");
    }
}

#[tokio::test]
async fn a_task_of_somebody_else_is_not_there() {
    let world = World::new().await;
    let alice = with_tasks(world.client(&world.keys.alice));
    let bob = with_tasks(world.client(&world.keys.bob));
    let session = session(&alice).await;
    let task = begin(&alice, &session, "say mine").await;
    let absent = "turn-01a1e008-2d7a-7083-8711-772bc1fc7d37";
    let same = look(&bob, absent).await;
    assert_eq!(same["error"]["code"], -32602, "{same}");
    assert_eq!(look(&bob, &task).await["error"], same["error"]);
    for method in ["tasks/cancel", "tasks/update"] {
        let params = |task: &str| json!({ "taskId": task, "inputResponses": {} });
        let refused = bob.request(method, params(&task)).await;
        assert_eq!(
            refused["error"],
            bob.request(method, params(absent)).await["error"]
        );
        assert_eq!(refused["error"]["code"], -32602, "{method} {refused}");
    }
    let nonsense = look(&alice, "nonsense").await;
    assert_eq!(nonsense["error"]["code"], -32602, "{nonsense}");
    assert_eq!(settled(&alice, &task).await["status"], "completed");
}
