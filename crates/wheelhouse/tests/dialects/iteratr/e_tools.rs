//! E3 to E12: the tools.

use serde_json::json;

use super::{Iteratr, text};
use crate::harness::Mcp;

#[tokio::test]
async fn e3_the_server_is_called_iteratr_tools_and_has_eight_tools() {
    let iteratr = Iteratr::new().await;
    let told = iteratr.client.request("server/discover", json!({})).await;
    let told = told["result"].to_string();
    assert!(told.contains("iteratr-tools"), "{told}");
    let listed = iteratr.client.request("tools/list", json!({})).await;
    let mut seen: Vec<_> = listed["result"]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| {
            let schema = &tool["inputSchema"];
            let required = schema["required"].as_array().cloned().unwrap_or_default();
            let names = schema["properties"]
                .as_object()
                .cloned()
                .unwrap_or_default();
            let mark = |name: &String| match required.contains(&json!(name)) {
                true => format!("{name}*"),
                false => name.clone(),
            };
            let mut names: Vec<_> = names.keys().map(mark).collect();
            names.sort_unstable();
            let line = format!("{} {}", tool["name"].as_str().unwrap(), names.join(" "));
            line.trim_end().to_owned()
        })
        .collect();
    seen.sort_unstable();
    // `cursor` is ours: the contract's lists end nowhere.
    let expected = [
        "iteration-summary summary*",
        "note-add notes*",
        "note-list cursor type",
        "session-complete",
        "task-add tasks*",
        "task-list cursor",
        "task-next",
        "task-update depends_on id* priority status",
    ];
    assert_eq!(seen, expected);
}

#[tokio::test]
async fn e4_task_add_takes_one_or_more_with_a_status() {
    let iteratr = Iteratr::new().await;
    let added = iteratr.add(&["first", "second"]).await;
    let expected =
        "added 2 tasks\n1 [remaining, priority 2] first\n2 [remaining, priority 2] second";
    assert_eq!(added, expected);
    let tasks = json!({ "tasks": [{ "content": "third", "status": "completed" }] });
    let added = iteratr.call("task-add", tasks).await;
    assert_eq!(added, "added 1 task\n3 [completed, priority 2] third");
    for wrong in [
        json!({}),
        json!({ "tasks": [] }),
        json!({ "tasks": "one" }),
        json!({ "tasks": ["one"] }),
        json!({ "tasks": [{ "status": "remaining" }] }),
        json!({ "tasks": [{ "content": "" }] }),
        json!({ "tasks": [{ "content": 7 }] }),
        json!({ "tasks": [{ "content": "x", "status": "someday" }] }),
    ] {
        let refused = iteratr.call("task-add", wrong.clone()).await;
        assert!(refused.starts_with("error: "), "{wrong}: {refused}");
    }
    assert!(!iteratr.call("task-list", json!({})).await.contains("4 ["));
}

#[tokio::test]
async fn e5_task_update_changes_only_what_is_set_and_zero_is_a_priority() {
    let iteratr = Iteratr::new().await;
    iteratr.add(&["first", "second"]).await;
    let update = async |arguments| iteratr.call("task-update", arguments).await;
    let urgent = update(json!({ "id": "2", "priority": 0 })).await;
    assert_eq!(urgent, "updated 2 [remaining, priority 0] second");
    let empty = json!({ "id": "2", "status": "in_progress", "depends_on": "" });
    let begun = update(empty).await;
    assert_eq!(begun, "updated 2 [in_progress, priority 0] second");
    let waits = update(json!({ "id": "2", "depends_on": "1" })).await;
    assert_eq!(
        waits,
        "updated 2 [in_progress, priority 0] second (depends on 1)"
    );
    // What is refused changes nothing.
    for (wrong, why) in [
        (json!({ "id": "1", "depends_on": "2" }), "through others"),
        (json!({ "id": "1", "depends_on": "1" }), "depend on itself"),
        (json!({ "id": "1", "depends_on": "9" }), "no task"),
        (
            json!({ "id": "9", "status": "completed" }),
            "task not found",
        ),
        (json!({ "id": "x", "status": "completed" }), "error: "),
        (json!({ "status": "completed" }), "id"),
        (json!({ "id": "1", "status": "someday" }), "remaining"),
        (json!({ "id": "1", "priority": 5 }), "0"),
        (json!({ "id": "1", "priority": -1 }), "0"),
        (json!({ "id": "1", "priority": 1.5 }), "whole"),
        (json!({ "id": "1", "priority": "high" }), "priority"),
        (json!({ "id": "1" }), "nothing to change"),
        (json!({ "id": [1], "status": "completed" }), "id"),
    ] {
        let refused = update(wrong.clone()).await;
        assert!(refused.starts_with("error: "), "{wrong}: {refused}");
        assert!(refused.contains(why), "{wrong}: {refused}");
    }
    let list = iteratr.call("task-list", json!({})).await;
    assert!(
        list.contains("1 [remaining, priority 2] first\n") || list.ends_with("] first"),
        "{list}"
    );
}

#[tokio::test]
async fn e6_task_list_groups_by_status() {
    let iteratr = Iteratr::new().await;
    assert_eq!(iteratr.call("task-list", json!({})).await, "no tasks");
    iteratr.add(&["a", "b", "c"]).await;
    let update = async |arguments| iteratr.call("task-update", arguments).await;
    update(json!({ "id": "3", "status": "completed" })).await;
    update(json!({ "id": "2", "priority": 1, "depends_on": "1" })).await;
    let expected = "remaining (2):\n- 2 [remaining, priority 1] b (depends on 1)\n\
                    - 1 [remaining, priority 2] a\ncompleted (1):\n- 3 [completed, priority 2] c";
    assert_eq!(iteratr.call("task-list", json!({})).await, expected);
}

#[tokio::test]
async fn e7_task_next_is_the_most_urgent_that_is_not_blocked() {
    let iteratr = Iteratr::new().await;
    let next = async || iteratr.call("task-next", json!({})).await;
    assert_eq!(next().await, "no tasks are left; call session-complete");
    iteratr.add(&["a", "b", "c"]).await;
    let update = async |arguments| iteratr.call("task-update", arguments).await;
    update(json!({ "id": "3", "priority": 0, "depends_on": "1,2" })).await;
    update(json!({ "id": "2", "priority": 1 })).await;
    for expected in [
        "2 [remaining, priority 1] b",
        "1 [remaining, priority 2] a",
        "3 [remaining, priority 0] c",
    ] {
        assert_eq!(next().await, expected);
        // Asking takes nothing.
        assert_eq!(next().await, expected);
        let id = &expected[..1];
        update(json!({ "id": id, "status": "completed" })).await;
    }
    iteratr.add(&["d"]).await;
    update(json!({ "id": "4", "status": "blocked" })).await;
    assert!(next().await.starts_with("no task can be begun now: 1 "));
}

#[tokio::test]
async fn e8_e9_notes_have_a_type_and_are_listed_by_it() {
    let iteratr = Iteratr::new().await;
    assert_eq!(iteratr.call("note-list", json!({})).await, "no notes");
    let notes = json!({ "notes": [
        { "content": "the tests need a port", "type": "learning" },
        { "content": "use the cache", "type": "tip" },
        { "content": "no way on", "type": "stuck" },
        { "content": "we sign tags", "type": "decision" },
    ] });
    assert_eq!(iteratr.call("note-add", notes).await, "added 4 notes");
    let all = iteratr.call("note-list", json!({})).await;
    let expected = "- [decision] we sign tags\n- [stuck] no way on\n- [tip] use the cache\n\
                    - [learning] the tests need a port";
    assert_eq!(all, expected);
    let tips = iteratr.call("note-list", json!({ "type": "tip" })).await;
    assert_eq!(tips, "- [tip] use the cache");
    assert_eq!(
        iteratr.call("note-list", json!({ "type": "" })).await,
        expected
    );
    for wrong in [
        json!({}),
        json!({ "notes": [] }),
        json!({ "notes": [{ "content": "x" }] }),
        json!({ "notes": [{ "type": "tip" }] }),
        json!({ "notes": [{ "content": "x", "type": "gossip" }] }),
    ] {
        let refused = iteratr.call("note-add", wrong).await;
        assert!(refused.starts_with("error: "), "{refused}");
    }
    let refused = iteratr.call("note-list", json!({ "type": "gossip" })).await;
    assert!(
        refused.starts_with("error: type: must be among learning"),
        "{refused}"
    );
}

#[tokio::test]
async fn e10_iteration_summary_is_kept_for_each_iteration() {
    let iteratr = Iteratr::new().await;
    for n in 1..=2 {
        let summary = json!({ "summary": format!("did {n}") });
        let said = iteratr.call("iteration-summary", summary).await;
        assert_eq!(said, format!("recorded the summary of iteration {n}"));
    }
    let refused = iteratr
        .call("iteration-summary", json!({ "summary": " " }))
        .await;
    assert!(refused.starts_with("error: summary: "), "{refused}");
    // A session has one, which it may put better.
    let url = format!("{}/mcp/iteratr", iteratr.world.server.url());
    let session = Mcp::new(&url, &iteratr.world.keys.session);
    for _ in 0..2 {
        let summary = json!({ "summary": "mine" });
        let said = text(&session.call("iteration-summary", summary).await);
        assert_eq!(said, "recorded the summary of iteration 1");
    }
}

#[tokio::test]
async fn e11_session_complete_is_refused_while_tasks_are_open() {
    let iteratr = Iteratr::new().await;
    iteratr.add(&["a", "b"]).await;
    let complete = async || iteratr.call("session-complete", json!({})).await;
    let refused = complete().await;
    assert!(
        refused.starts_with("error: 2 tasks are not done: #1 [remaining] a; #2"),
        "{refused}"
    );
    assert!(
        refused.contains("task-next"),
        "names of this contract: {refused}"
    );
    for id in ["1", "2"] {
        let done = json!({ "id": id, "status": "completed" });
        iteratr.call("task-update", done).await;
    }
    assert_eq!(complete().await, "the session is complete");
    assert_eq!(complete().await, "the session is complete");
}

#[tokio::test]
async fn e12_errors_are_words_and_not_marked_also_for_those_who_may_not() {
    let iteratr = Iteratr::new().await;
    let base = format!("{}/mcp/iteratr", iteratr.world.server.url());
    // A key has no list of its own.
    let key = Mcp::new(&base, &iteratr.world.keys.alice);
    let refused = text(&key.call("task-list", json!({})).await);
    assert!(
        refused.starts_with("error: the task list is not named"),
        "{refused}"
    );
    // A read key changes nothing.
    let url = format!("{base}?list=work");
    let read = Mcp::new(&url, &iteratr.world.keys.alice_read);
    let add = json!({ "tasks": [{ "content": "x" }] });
    let refused = text(&read.call("task-add", add.clone()).await);
    assert!(refused.starts_with("error: "), "{refused}");
    // Somebody else's list of the same name is another one.
    iteratr.add(&["mine"]).await;
    let bob = Mcp::new(&url, &iteratr.world.keys.bob);
    assert_eq!(text(&bob.call("task-list", json!({})).await), "no tasks");
    let done = json!({ "id": "1", "status": "completed" });
    let refused = text(&bob.call("task-update", done).await);
    assert!(refused.starts_with("error: task not found"), "{refused}");
    // A session's own list is that of its tree; somebody else's session has none to see.
    let session = Mcp::new(&base, &iteratr.world.keys.session);
    assert_eq!(
        text(&session.call("task-list", json!({})).await),
        "no tasks"
    );
    let theirs = format!("{base}?session={}", iteratr.world.bobs.id);
    let theirs = Mcp::new(&theirs, &iteratr.world.keys.session);
    let refused = text(&theirs.call("task-add", add).await);
    assert!(refused.starts_with("error: session not found"), "{refused}");
}

#[tokio::test]
async fn e9_every_note_is_listed_whole() {
    let iteratr = Iteratr::new().await;
    let long = format!("{}the end", "a lesson, ".repeat(1_200));
    for n in 0..6 {
        let content = format!("{n} {long}");
        let notes = json!({ "notes": [{ "content": content, "type": "learning" }] });
        iteratr.call("note-add", notes).await;
    }
    // Each answer holds as many as fit, whole, and says how to read the others.
    let mut request = json!({ "type": "learning" });
    let mut pages = Vec::new();
    loop {
        let listed = iteratr.call("note-list", request).await;
        let notes = listed.lines().filter(|line| line.starts_with("- "));
        pages.push(notes.map(str::to_owned).collect::<Vec<_>>());
        let Some((_, rest)) = listed.split_once("pass cursor \"") else {
            break;
        };
        assert!(listed.contains("showing 5 of 6; "), "{}", listed.len());
        request = json!({ "type": "learning", "cursor": rest.split('"').next() });
    }
    let sizes: Vec<_> = pages.iter().map(Vec::len).collect();
    assert_eq!(sizes, [5, 1]);
    let expected = (0..6).rev().map(|n| format!("- [learning] {n} {long}"));
    assert!(pages.concat().into_iter().eq(expected));
}
