//! Lists of tasks, and the orders that cannot be.

use serde_json::{Value, json};

use crate::harness::{Mcp, World};

#[tokio::test]
async fn tasks_that_wait_for_each_other_are_refused() {
    let world = World::new().await;
    let agent = world.client(&world.keys.session);
    let add = json!({ "tasks": [
        { "content": "first" },
        { "content": "second", "depends_on": ["+1"] },
        { "content": "third", "depends_on": ["+2"] },
    ] });
    Mcp::data(&agent.call("task_add", add).await);
    let list = async || Mcp::data(&agent.call("task_list", json!({})).await);
    let before = list().await;
    let depends = |task: &str, on: &[&str]| json!({ "task": task, "depends_on": on });
    for (task, on) in [
        // On itself, on its successor, and on the successor of that.
        ("1", &["1"][..]),
        ("1", &["2"]),
        ("1", &["3"]),
        ("2", &["3"]),
    ] {
        let refused = agent.call("task_update", depends(task, on)).await;
        assert_eq!(Mcp::code(&refused), "INVALID_INPUT");
        let hint = refused["structuredContent"]["error"]["hint"]
            .as_str()
            .unwrap();
        assert!(hint.contains("task_list"), "{hint}");
    }
    // A refused call adds none of its tasks.
    let circle = json!({ "tasks": [
        { "content": "fourth", "depends_on": ["+2"] },
        { "content": "fifth", "depends_on": ["+1"] },
    ] });
    assert_eq!(
        Mcp::code(&agent.call("task_add", circle).await),
        "INVALID_INPUT"
    );
    assert_eq!(list().await, before, "nothing was changed");
    // What is no circle is taken, and the order is kept.
    Mcp::data(&agent.call("task_update", depends("3", &["1", "2"])).await);
    let next = Mcp::data(&agent.call("task_next", json!({})).await);
    assert_eq!(text(&next["task"], "content"), "first", "{next}");
}

fn text<'a>(value: &'a Value, field: &str) -> &'a str {
    value[field].as_str().unwrap_or_default()
}
