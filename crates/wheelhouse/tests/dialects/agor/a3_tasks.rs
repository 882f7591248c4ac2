//! A3: tasks, which are turns, and the list of tools.

use serde_json::json;

use super::{Agor, assert_time, column, data, fields, refusal};

#[tokio::test]
async fn a3_9_tasks_list_shows_the_prompts_of_a_session() {
    let agor = Agor::new().await;
    let spawned = agor.spawn(&agor.parent(), "say one").await;
    agor.until(&spawned, "completed").await;
    let ours = agor.world.client(&agor.world.keys.alice);
    let more = json!({ "session": spawned, "prompt": "say two", "wait": 60 });
    crate::harness::Mcp::data(&ours.call("session_prompt", more).await);
    let list = json!({ "sessionId": spawned });
    let tasks = data(&agor.alice.call("agor_tasks_list", list).await);
    assert_eq!(fields(&tasks), ["total", "limit", "skip", "data"]);
    assert_eq!(tasks["total"], 2);
    assert_eq!(column(&tasks, "prompt"), ["say two", "say one"]);
    let task = &tasks["data"][1];
    assert_eq!(
        fields(task),
        ["task_id", "prompt", "status", "session_id", "created_at"]
    );
    assert_eq!(task["status"], "completed");
    assert_eq!(task["session_id"], spawned);
    assert_time(&task["created_at"]);
    let one = json!({ "sessionId": spawned, "limit": 1 });
    let one = data(&agor.alice.call("agor_tasks_list", one).await);
    assert_eq!((&one["total"], &one["limit"]), (&json!(2), &json!(1)));
    assert_eq!(column(&one, "prompt"), ["say two"]);
    // A session that names none means itself; a key must name one.
    let own = data(&agor.session.call("agor_tasks_list", json!({})).await);
    assert_eq!(own["total"], 0);
    let refused = agor.alice.call("agor_tasks_list", json!({})).await;
    refusal(&refused, "FORBIDDEN");
    let hint = refused["content"][1]["text"].as_str().unwrap();
    assert!(hint.contains("sessionId"), "{hint}");
}

#[tokio::test]
async fn a3_10_tasks_get_shows_all_of_a_task() {
    let agor = Agor::new().await;
    let words = "say ".to_owned() + &"long ".repeat(1_000);
    let spawned = agor.spawn(&agor.parent(), &words).await;
    let seen = agor.until(&spawned, "completed").await;
    let get = json!({ "taskId": seen["tasks"][0] });
    let task = data(&agor.alice.call("agor_tasks_get", get).await);
    let expected = [
        "task_id",
        "prompt",
        "status",
        "session_id",
        "created_at",
        "number",
        "created_by",
        "created_by_session",
        "error",
        "completed_at",
        "git_state",
    ];
    assert_eq!(fields(&task), expected);
    assert_eq!(task["prompt"].as_str().unwrap().trim(), words.trim());
    assert_eq!(
        (&task["status"], &task["number"]),
        (&json!("completed"), &json!(1))
    );
    // In a list it is cut.
    let list = json!({ "sessionId": spawned });
    let list = data(&agor.alice.call("agor_tasks_list", list).await);
    assert!(column(&list, "prompt")[0].len() < 2_100);
    let nowhere = "00000000-0000-7000-8000-000000000000";
    let refused = agor
        .alice
        .call("agor_tasks_get", json!({ "taskId": nowhere }))
        .await;
    let expected = format!("Task not found: {nowhere}");
    assert_eq!(refusal(&refused, "NOT_FOUND"), expected);
}

#[tokio::test]
async fn a3_17_the_tools_are_those_of_the_contract() {
    let agor = Agor::new().await;
    let listed = agor.admin.request("tools/list", json!({})).await;
    let listed = listed["result"]["tools"].as_array().unwrap().clone();
    let mut seen: Vec<_> = listed
        .iter()
        .map(|tool| {
            let schema = &tool["inputSchema"];
            let required = schema["required"].as_array().cloned().unwrap_or_default();
            let properties = schema["properties"].as_object().cloned();
            let names = properties.unwrap_or_default();
            let mark = |name: &String| match required.contains(&json!(name)) {
                true => format!("{name}*"),
                false => name.clone(),
            };
            let mut names: Vec<_> = names.keys().map(mark).collect();
            names.sort_unstable();
            format!("{} {}", tool["name"].as_str().unwrap(), names.join(" "))
        })
        .collect();
    seen.sort_unstable();
    let expected = [
        "agor_boards_create description name* ownerId*",
        "agor_boards_duplicate boardId* includeWorktrees newName*",
        "agor_boards_get boardId*",
        "agor_boards_list limit ownerId skip",
        "agor_sessions_create agent* boardId* worktreeId zoneId",
        "agor_sessions_fork prompt sessionId* taskId",
        "agor_sessions_genealogy depth sessionId*",
        "agor_sessions_get includeMessages sessionId*",
        "agor_sessions_list boardId limit skip status worktreeId",
        "agor_sessions_search limit query* skip",
        "agor_sessions_spawn agent parentId* prompt* sync zoneId",
        "agor_sessions_update description sessionId title",
        "agor_tasks_get taskId*",
        "agor_tasks_list limit sessionId skip",
        "agor_users_create avatarUrl email username",
        "agor_users_get userId*",
        "agor_worktrees_create branch* name repoId*",
        "agor_worktrees_get worktreeId*",
        "agor_worktrees_list limit repoId skip",
    ];
    assert_eq!(seen, expected);
    // The one that only a session has.
    let listed = agor.session.request("tools/list", json!({})).await;
    let own = listed["result"]["tools"].to_string();
    assert!(own.contains("agor_sessions_get_current"));
}
