//! iteratr. Tests carry the numbers of its requirements: E1 to E3 and E15 how it is served, E4 to E12 its tools, E13 and E14 how agents
//! are given it.

mod e_agents;
mod e_serve;
mod e_tools;

use serde_json::{Value, json};

use crate::harness::{Mcp, World};

/// A server and a client of one list.
struct Iteratr {
    world: World,
    client: Mcp,
}

impl Iteratr {
    async fn new() -> Self {
        let world = World::new().await;
        let url = format!("{}/mcp/iteratr?list=work", world.server.url());
        let client = Mcp::new(&url, &world.keys.alice);
        Self { world, client }
    }

    /// Calls a tool and returns its words.
    async fn call(&self, tool: &str, arguments: Value) -> String {
        text(&self.client.call(tool, arguments).await)
    }

    /// Adds tasks of these contents.
    async fn add(&self, contents: &[&str]) -> String {
        let tasks: Vec<_> = contents.iter().map(|it| json!({ "content": it })).collect();
        self.call("task-add", json!({ "tasks": tasks })).await
    }
}

/// Returns the words of an answer, which is never marked as an error.
#[track_caller]
fn text(result: &Value) -> String {
    assert_ne!(result["isError"], true, "{result}");
    assert!(result.get("structuredContent").is_none(), "{result}");
    let content = result["content"].as_array().unwrap();
    assert_eq!((content.len(), &content[0]["type"]), (1, &json!("text")));
    content[0]["text"].as_str().unwrap().to_owned()
}
