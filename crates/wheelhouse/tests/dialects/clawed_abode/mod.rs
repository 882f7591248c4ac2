//! Clawed Abode. Tests carry the numbers of its requirements: C1 keys, C2 transport, C3 tools, C4 context.

mod c1_keys;
mod c2_transport;
mod c3_prompts;
mod c3_sessions;
mod c3_tools;
mod c4_context;

use std::{process::Output, time::Duration};

use serde_json::{Value, json};
use wh_api::{KeyCreatedView, RepoAddRequest};
use wh_client::Client;
use wh_testkit::{git::repository, server::TestServer};

use crate::harness::Mcp;

/// Both addresses of the dialect.
const ADDRESSES: [&str; 2] = ["/mcp/clawed-abode", "/api/mcp"];

/// Long enough for anything.
const PATIENCE_MS: u64 = 60_000;

/// A server with a repository and a key of the dialect.
struct Abode {
    server: TestServer,
    /// The administrator, on the local socket.
    admin: Client,
    key: String,
}

impl Abode {
    async fn new() -> Self {
        let server = TestServer::start();
        let admin = server.client();
        let dir = repository(&server.home().join("team/app"));
        let source = dir.to_str().unwrap().to_owned();
        let add = RepoAddRequest {
            source,
            ..RepoAddRequest::default()
        };
        admin.repo_add(&add).await.unwrap();
        let key = create_key(&server, &["--scope", "full"]).key.unwrap();
        Self { server, admin, key }
    }

    /// Returns a client with a key at one of the addresses, whose new sessions have the built-in agent.
    fn client(&self, address: &str, key: &str) -> Mcp {
        Mcp::new(&format!("{}{address}?agent=echo", self.server.url()), key)
    }

    /// Calls a tool with the full key at an address and returns what the text says.
    async fn call_at(&self, address: &str, tool: &str, arguments: Value) -> Value {
        let result = self.client(address, &self.key).call(tool, arguments).await;
        data(&result)
    }

    /// Calls a tool with the full key.
    async fn call(&self, tool: &str, arguments: Value) -> Value {
        self.call_at(ADDRESSES[0], tool, arguments).await
    }

    /// Makes a session of the dialect and waits until its agent is at rest.
    async fn session(&self, name: &str) -> String {
        let new = json!({ "name": name, "repoFullName": "team/app", "branch": "main" });
        let made = self.call("create_session", new).await;
        let id = made["sessionId"].as_str().unwrap().to_owned();
        self.rest(&id).await;
        id
    }

    /// Polls, as the contract says, until a session is made and not at work.
    async fn rest(&self, session: &str) -> Value {
        self.until(session, |it| {
            it["status"] != "creating" && it["isClaudeRunning"] == false
        })
        .await
    }

    /// Polls until something holds for a session.
    async fn until(&self, session: &str, holds: impl Fn(&Value) -> bool) -> Value {
        for _ in 0..(PATIENCE_MS / 50) {
            let seen = self
                .call("get_session", json!({ "sessionId": session }))
                .await;
            if holds(&seen) {
                return seen;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        panic!("it never came to hold");
    }

    /// Sends a prompt and waits for what comes of it.
    async fn prompt(&self, session: &str, prompt: &str) -> Value {
        let arguments = json!({
            "sessionId": session, "prompt": prompt, "waitForCompletion": true, "timeoutMs": PATIENCE_MS,
        });
        self.call("send_prompt", arguments).await
    }

    /// Makes a key that is bound to a session.
    fn internal_key(&self, session: &str) -> KeyCreatedView {
        create_key(&self.server, &["--session", session])
    }
}

/// Makes a key of the dialect by the command line.
fn create_key(server: &TestServer, more: &[&str]) -> KeyCreatedView {
    let output = key_command(
        server,
        &["create", "--dialect", "clawed-abode", "--name", "c"],
        more,
    );
    let said = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("no key was made: {said}"))
}

fn key_command(server: &TestServer, arguments: &[&str], more: &[&str]) -> Output {
    let mut command = server.command();
    command.arg("key").args(arguments).args(more).arg("--json");
    command.output().unwrap()
}

/// Returns what the answer of a call says, which must be JSON in a text and, if it is an object, structured content too.
#[track_caller]
fn data(result: &Value) -> Value {
    assert_ne!(result["isError"], true, "{result}");
    let text = result["content"][0]["text"].as_str().unwrap();
    let data: Value = serde_json::from_str(text).unwrap();
    let structured = result.get("structuredContent");
    assert_eq!(structured, Some(&data).filter(|data| data.is_object()));
    data
}

/// Returns the names of an object's fields.
fn fields(value: &Value) -> Vec<&str> {
    let mut names: Vec<_> = value
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    names.sort_unstable();
    names
}
