//! Prompts and completion.

use serde_json::{Value, json};

use crate::harness::{Mcp, World, board};

async fn names(mcp: &Mcp) -> Vec<String> {
    let list = mcp.request("prompts/list", json!({})).await;
    let prompts = list["result"]["prompts"].as_array().unwrap();
    let name = |prompt: &Value| prompt["name"].as_str().unwrap().to_owned();
    prompts.iter().map(name).collect()
}

async fn get(mcp: &Mcp, name: &str, arguments: Value) -> Value {
    let params = json!({ "name": name, "arguments": arguments });
    mcp.request("prompts/get", params).await
}

async fn text(mcp: &Mcp, name: &str, arguments: Value) -> String {
    let prompt = get(mcp, name, arguments).await;
    let text = prompt["result"]["messages"][0]["content"]["text"].as_str();
    text.unwrap_or_else(|| panic!("{prompt}")).to_owned()
}

async fn refusal(mcp: &Mcp, name: &str, arguments: Value) -> String {
    let refused = get(mcp, name, arguments).await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    refused["error"]["message"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn callers_are_shown_the_prompts_they_could_follow() {
    let world = World::new().await;
    let alice = world.client(&world.keys.alice);
    assert_eq!(
        names(&alice).await,
        [
            "create-board",
            "delegate",
            "plan-loop",
            "review-branch",
            "summarize-session"
        ]
    );
    let agent = world.client(&world.keys.session);
    assert_eq!(
        names(&agent).await,
        [
            "delegate",
            "plan-loop",
            "review-branch",
            "summarize-session"
        ]
    );
    let reader = world.client(&world.keys.alice_read);
    assert_eq!(names(&reader).await, ["review-branch", "summarize-session"]);
    // What is not shown is not there.
    let not_theirs = refusal(&reader, "delegate", json!({ "task": "paint" })).await;
    let unknown = refusal(&reader, "no-such-prompt", json!({})).await;
    assert_eq!(not_theirs, unknown);
}

#[tokio::test]
async fn prompts_say_what_this_caller_can_do() {
    let world = World::new().await;
    let alice = world.client(&world.keys.alice);
    let agent = world.client(&world.keys.session);
    let task = json!({ "task": "paint the fence" });
    let keys = text(&alice, "delegate", task.clone()).await;
    assert!(keys.contains("paint the fence") && keys.contains("session_create"));
    assert!(
        keys.contains("echo"),
        "agents that are ready are named: {keys}"
    );
    let agents = text(&agent, "delegate", task).await;
    assert!(agents.contains("session_spawn") && agents.contains("callback"));
    let child = world.child.id.to_string();
    let under = json!({ "goal": "a blue fence", "agent": "echo", "session": child });
    let plan = text(&agent, "plan-loop", under).await;
    assert!(plan.contains(&format!("under session {child}")), "{plan}");
    // Who may start a loop is told how; an agent directs sessions of its own.
    let goal = json!({ "goal": "a blue fence" });
    let plan = text(&alice, "plan-loop", goal.clone()).await;
    assert!(
        plan.contains("loop_start") && plan.contains("echo"),
        "{plan}"
    );
    let plan = text(&agent, "plan-loop", goal).await;
    assert!(
        plan.contains("session_spawn") && !plan.contains("loop_start"),
        "{plan}"
    );
    let parent = world.parent.id.to_string();
    let summary = text(&alice, "summarize-session", json!({ "session": parent })).await;
    assert!(summary.contains("State: idle") && summary.contains(&child));
    // Nobody is told of sessions that are not theirs.
    let bobs = json!({ "session": world.bobs.id.to_string() });
    let hidden = refusal(&alice, "summarize-session", bobs).await;
    assert!(hidden.contains("session not found"), "{hidden}");
}

/// Makes the calls of a prompt's example one after the other, as they are written, and returns the id of the session that the first
/// one created and what the last one returned.
async fn follow(mcp: &Mcp, prompt: &str) -> (String, Value) {
    let calls = prompt.lines().filter_map(|line| {
        let (tool, arguments) = line.split_once(' ')?;
        wh_domain::Operation::parse(tool)?;
        arguments.starts_with('{').then_some((tool, arguments))
    });
    let (mut id, mut last) = (String::new(), Value::Null);
    for (n, (tool, arguments)) in calls.enumerate() {
        let arguments = arguments.replace("CHILD", &id);
        let arguments = serde_json::from_str(&arguments).unwrap();
        last = Mcp::data(&mcp.call(tool, arguments).await);
        if n == 0 {
            let field = prompt.split("new session as `").nth(1).unwrap();
            let field = field.split('`').next().unwrap();
            last[field].as_str().unwrap().clone_into(&mut id);
        }
    }
    (id, last)
}

#[tokio::test]
async fn the_example_of_delegate_returns_the_id_of_the_child() {
    let world = World::new().await;
    let alice = world.client(&world.keys.alice);
    let agent = world.client(&world.keys.session);
    let parent = world.parent.id.to_string();
    let task = json!({ "task": "write notes" });
    let under = json!({ "task": "write notes", "agent": "echo", "session": parent });
    for (mcp, arguments, is_child) in [
        (&alice, task.clone(), false),
        (&alice, under, true),
        (&agent, task, true),
    ] {
        let prompt = text(mcp, "delegate", arguments).await;
        let (id, said) = follow(mcp, &prompt).await;
        assert!(said.to_string().contains("Write NOTES.md"), "{said}");
        let session = json!({ "session": id });
        let child = Mcp::data(&alice.call("session_get", session).await);
        assert_eq!(child["state"], "idle", "{child}");
        assert_eq!(child["parent_id"] == parent.as_str(), is_child, "{child}");
    }
}

#[tokio::test]
async fn arguments_are_checked() {
    let world = World::new().await;
    let alice = world.client(&world.keys.alice);
    for (arguments, problem) in [
        (json!({}), "\"task\" is missing"),
        (json!({ "task": "" }), "\"task\" is empty"),
        (
            json!({ "task": "x".repeat(20_001) }),
            "\"task\" is too long",
        ),
        (
            json!({ "task": "x", "colour": "blue" }),
            "task, agent, session",
        ),
    ] {
        let refused = refusal(&alice, "delegate", arguments).await;
        assert!(refused.contains(problem), "{refused}");
    }
}

async fn completed(mcp: &Mcp, params: Value) -> Value {
    let completed = mcp.request("completion/complete", params).await;
    completed["result"]["completion"]["values"].clone()
}

fn of_prompt(prompt: &str, argument: &str, value: &str) -> Value {
    json!({
        "ref": { "type": "ref/prompt", "name": prompt },
        "argument": { "name": argument, "value": value },
    })
}

fn of_template(uri: &str, argument: &str, value: &str) -> Value {
    json!({
        "ref": { "type": "ref/resource", "uri": uri },
        "argument": { "name": argument, "value": value },
    })
}

#[tokio::test]
async fn ids_are_completed_by_name_and_only_within_reach() {
    let world = World::new().await;
    let alice = world.client(&world.keys.alice);
    let parent = world.parent.id.to_string();
    for prompt in ["summarize-session", "delegate", "plan-loop"] {
        let found = completed(&alice, of_prompt(prompt, "session", "par")).await;
        assert_eq!(found, json!([parent]), "{prompt}");
    }
    for template in ["session/{id}", "session/{id}/messages", "session/{id}/diff"] {
        let uri = format!("wheelhouse://{template}");
        let found = completed(&alice, of_template(&uri, "id", &parent[28..])).await;
        assert_eq!(found, json!([parent]), "{template}");
    }
    let echo = completed(&alice, of_prompt("delegate", "agent", "ech")).await;
    assert_eq!(echo, json!(["echo"]));
    let id = board(&alice, "fences").await;
    let uri = "wheelhouse://board/{id}";
    let found = completed(&alice, of_template(uri, "id", "fen")).await;
    assert_eq!(found, json!([id]));
    let bob = world.client(&world.keys.bob);
    for nothing in [
        of_template(uri, "id", "fen"),
        of_prompt("summarize-session", "session", "par"),
        of_prompt("summarize-session", "colour", ""),
        of_prompt("no-such-prompt", "session", ""),
        of_template("wheelhouse://user/{id}", "id", ""),
    ] {
        assert_eq!(completed(&bob, nothing).await, json!([]));
    }
}
