//! Agor. Tests carry the numbers of its requirements: A1 transport, A2 identity, A3 tools, A4 answers.

mod a1_transport;
mod a2_context;
mod a2_identity;
mod a3_boards;
mod a3_sessions;
mod a3_spawn;
mod a3_tasks;
mod a3_worktrees;
mod a4_answers;

use std::time::Duration;

use reqwest::StatusCode;
use serde_json::{Value, json};
use wh_testkit::git::repository;

use crate::harness::{Mcp, World};

/// Long enough for anything.
const PATIENCE: Duration = Duration::from_secs(60);

/// A server with people, sessions and keys, and clients of the dialect.
struct Agor {
    world: World,
    /// Somebody's full key.
    alice: Mcp,
    /// The token of that user's session `parent`.
    session: Mcp,
    admin: Mcp,
    bob: Mcp,
}

impl Agor {
    async fn new() -> Self {
        let world = World::new().await;
        let client = |key: &str| Mcp::new(&format!("{}/mcp/agor", world.server.url()), key);
        Self {
            alice: client(&world.keys.alice),
            session: client(&world.keys.session),
            admin: client(&world.keys.admin),
            bob: client(&world.keys.bob),
            world,
        }
    }

    /// Adds a repository and returns its id.
    async fn repo(&self) -> String {
        let dir = repository(&self.world.server.home().join("team/app"));
        let ours = self.world.client(&self.world.keys.alice);
        let source = dir.to_str().unwrap();
        let added = ours.call("repo_add", json!({ "source": source })).await;
        Mcp::data(&added)["id"].as_str().unwrap().to_owned()
    }

    /// Makes a worktree and returns its id.
    async fn worktree(&self, repo: &str, branch: &str) -> String {
        let new = json!({ "repoId": repo, "branch": branch });
        let made = data(&self.alice.call("agor_worktrees_create", new).await);
        made["entity_id"].as_str().unwrap().to_owned()
    }

    /// Makes a board and returns its id.
    async fn board(&self, name: &str) -> String {
        let new = json!({ "name": name, "ownerId": self.world.alice.id.to_string() });
        let made = data(&self.alice.call("agor_boards_create", new).await);
        made["boardId"].as_str().unwrap().to_owned()
    }

    /// Makes a board with zones by our own tools: the contract has none for that. Returns its id and those of the zones.
    async fn board_with_zones(&self, name: &str, zones: &[&str]) -> (String, Vec<String>) {
        let zones: Vec<_> = zones
            .iter()
            .map(|zone| json!({ "name": zone, "color": "#3b82f6" }))
            .collect();
        let ours = self.world.client(&self.world.keys.alice);
        let new = json!({ "name": name, "zones": zones });
        let made = Mcp::data(&ours.call("board_create", new).await);
        let zones = made["zones"].as_array().unwrap().iter();
        let zones = zones.map(|zone| zone["id"].as_str().unwrap().to_owned());
        (made["id"].as_str().unwrap().to_owned(), zones.collect())
    }

    fn parent(&self) -> String {
        self.world.parent.id.to_string()
    }

    /// Spawns a session below `parent` and returns its id.
    async fn spawn(&self, parent: &str, prompt: &str) -> String {
        let new = json!({ "parentId": parent, "prompt": prompt });
        let spawned = data(&self.alice.call("agor_sessions_spawn", new).await);
        spawned["sessionId"].as_str().unwrap().to_owned()
    }

    async fn get(&self, session: &str) -> Value {
        let get = json!({ "sessionId": session });
        data(&self.alice.call("agor_sessions_get", get).await)
    }

    /// Polls, as the contract says, until a session has a status.
    async fn until(&self, session: &str, status: &str) -> Value {
        polled(async || self.get(session).await, status).await
    }

    /// Polls until the first task of a session is under way.
    async fn until_at_work(&self, session: &str) {
        let first = async || {
            let list = json!({ "sessionId": session });
            data(&self.alice.call("agor_tasks_list", list).await)["data"][0].clone()
        };
        polled(first, "running").await;
    }
}

/// Looks until what is seen has a status.
async fn polled(look: impl AsyncFn() -> Value, status: &str) -> Value {
    let polled = async {
        loop {
            let seen = look().await;
            if seen["status"] == status {
                return seen;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    let polled = tokio::time::timeout(PATIENCE, polled).await;
    polled.unwrap_or_else(|_| panic!("it never was {status}"))
}

/// Sends a request to an address that carries all there is to know, and returns what came of it.
async fn at_address(url: &str, method: &str, params: Value) -> (StatusCode, Value) {
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let mut post = http
        .post(url)
        .header("accept", "application/json, text/event-stream");
    if method != "initialize" {
        post = post.header("mcp-protocol-version", "2025-06-18");
    }
    let answer = post.json(&body).send().await.unwrap();
    let status = answer.status();
    (status, answer.json().await.unwrap_or_default())
}

/// Returns what the answer of a call says, which must be indented JSON in one text.
#[track_caller]
fn data(result: &Value) -> Value {
    assert_ne!(result["isError"], true, "{result}");
    let content = result["content"].as_array().unwrap();
    assert_eq!((content.len(), &content[0]["type"]), (1, &json!("text")));
    serde_json::from_str(content[0]["text"].as_str().unwrap()).unwrap()
}

/// Returns the message of a call that must be refused with a code.
#[track_caller]
fn refusal<'a>(result: &'a Value, code: &str) -> &'a str {
    assert_eq!(Mcp::code(result), code, "{result}");
    let text = result["content"][0]["text"].as_str().unwrap();
    let message = &result["structuredContent"]["error"]["message"];
    let message = message.as_str().unwrap();
    assert_eq!(text, format!("Error: {message}"));
    message
}

/// Returns the names of an object's fields, in their order.
fn fields(value: &Value) -> Vec<&str> {
    value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect()
}

/// Returns the values of one field of every entry of a list.
fn column<'a>(list: &'a Value, name: &str) -> Vec<&'a str> {
    let rows = list["data"].as_array().unwrap().iter();
    rows.map(|row| row[name].as_str().unwrap()).collect()
}

#[track_caller]
fn assert_time(value: &Value) {
    value.as_str().unwrap().parse::<jiff::Timestamp>().unwrap();
}
