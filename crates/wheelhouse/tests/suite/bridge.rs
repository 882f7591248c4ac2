//! `wheelhouse mcp`: lines in, lines out, through restarts.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use wh_testkit::server::TestServer;

use crate::harness::{Home, run};

const WITHIN: Duration = Duration::from_secs(30);

/// An MCP client on the stdio of `wheelhouse mcp`.
struct McpClient {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<Value>,
}

impl McpClient {
    fn start(command: &mut Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let output = BufReader::new(child.stdout.take().unwrap());
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in output.lines().map_while(Result::ok) {
                // Nothing but MCP may be on stdout.
                let message = serde_json::from_str(&line).expect("every line is JSON");
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Self {
            input: child.stdin.take(),
            child,
            lines,
        }
    }

    fn send(&mut self, message: &Value) {
        let input = self.input.as_mut().unwrap();
        writeln!(input, "{message}").unwrap();
    }

    #[track_caller]
    fn next(&self) -> Value {
        self.lines.recv_timeout(WITHIN).expect("an answer comes")
    }

    #[track_caller]
    fn call(&mut self, id: u64, method: &str, params: Value) -> Value {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }));
        let answer = self.next();
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    fn introduce(&mut self) {
        self.introduce_to("wheelhouse");
    }

    /// Begins the conversation with a server of this name.
    #[track_caller]
    fn introduce_to(&mut self, server: &str) {
        let params = json!({
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": { "name": "suite", "version": "1" },
        });
        let answer = self.call(0, "initialize", params);
        assert_eq!(answer["result"]["serverInfo"]["name"], server, "{answer}");
        self.send(&json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }));
    }

    fn tool(&mut self, id: u64, name: &str, arguments: Value) -> Value {
        self.call(
            id,
            "tools/call",
            json!({ "name": name, "arguments": arguments }),
        )
    }

    /// Closes the input, as a client does that ends, and returns the exit code.
    fn end(mut self) -> i32 {
        drop(self.input.take());
        self.child.wait().unwrap().code().unwrap()
    }
}

impl Drop for McpClient {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

#[test]
fn lines_reach_the_running_server() {
    let server = TestServer::start();
    let mut client = McpClient::start(server.command().args(["mcp", "--toolsets", "board"]));
    client.introduce();
    let list = client.call(1, "tools/list", json!({}));
    let tools = list["result"]["tools"].as_array().unwrap();
    assert!(
        tools.iter().any(|tool| tool["name"] == "board_duplicate"),
        "{list}"
    );
    assert!(
        !tools.iter().any(|tool| tool["name"] == "session_list"),
        "{list}"
    );
    let made = client.tool(2, "board_create", json!({ "name": "by stdio" }));
    assert_eq!(made["result"]["structuredContent"]["name"], "by stdio");
    assert_eq!(client.end(), 0);
}

#[test]
fn a_dialect_is_spoken_on_lines() {
    let server = TestServer::start();
    let mut client = McpClient::start(server.command().args(["mcp", "--dialect", "agor"]));
    client.introduce_to("agor");
    let list = client.call(1, "tools/list", json!({}));
    assert_eq!(list["result"]["tools"][0]["name"], "agor_sessions_list");
    let boards = client.tool(2, "agor_boards_list", json!({}));
    let text = boards["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("\"total\": 0"), "{boards}");
    let prompts = client.call(3, "prompts/list", json!({}));
    assert!(prompts["result"]["prompts"].is_array(), "{prompts}");
    assert_eq!(client.end(), 0);
    // Parameters of the address choose the list, as over HTTP.
    let with_list = ["mcp", "--dialect", "iteratr?list=release notes"];
    let mut client = McpClient::start(server.command().args(with_list));
    client.introduce_to("iteratr-tools");
    let tasks = json!({ "tasks": [{ "content": "by stdio" }] });
    client.tool(1, "task-add", tasks);
    let listed = run(&server, &["task", "ls", "--list", "release notes"]);
    assert!(listed.stdout.contains("by stdio"), "{listed:?}");
    let refused = run(&server, &["mcp", "--dialect", "other"]);
    assert_eq!(refused.code, 2, "{refused:?}");
    assert!(
        refused.stderr.contains("agor, clawed-abode, iteratr"),
        "{refused:?}"
    );
}

#[test]
fn a_dialect_has_the_session_of_its_environment() {
    let server = TestServer::start();
    let mut native = McpClient::start(server.command().arg("mcp"));
    native.introduce_to("wheelhouse");
    let mut session = |id| {
        let made = native.tool(id, "session_create", json!({ "agent": "echo" }));
        let id = &made["result"]["structuredContent"]["id"];
        id.as_str().unwrap_or_else(|| panic!("{made}")).to_owned()
    };
    let (one, other) = (session(1), session(2));
    assert_eq!(native.end(), 0);
    let current = |dialect: &str, session: Option<&str>| {
        let mut command = server.command();
        command.env_remove("AGOR_SESSION_ID");
        command.envs(session.map(|id| ("AGOR_SESSION_ID", id)));
        let mut client = McpClient::start(command.args(["mcp", "--dialect", dialect]));
        client.introduce_to("agor");
        let answer = client.tool(1, "agor_sessions_get_current", json!({}));
        assert_eq!(client.end(), 0);
        answer["result"].to_string()
    };
    let is_of = |answer: String, id: &str| {
        let named = format!("\\\"session_id\\\": \\\"{id}\\\"");
        assert!(answer.contains(&named), "{named}: {answer}");
    };
    is_of(current("agor", Some(&one)), &one);
    // What is written behind the name comes first.
    is_of(
        current(&format!("agor?sessionId={other}"), Some(&one)),
        &other,
    );
    for nothing in [None, Some("")] {
        let refused = current("agor", nothing);
        assert!(refused.contains("\"isError\":true"), "{refused}");
    }
}

#[test]
fn a_task_is_told_of_on_lines_too() {
    let server = TestServer::start();
    let mut client = McpClient::start(server.command().arg("mcp"));
    let with_meta = |mut params: Value| {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "suite", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": { "extensions": { "io.modelcontextprotocol/tasks": {} } },
        });
        params
    };
    let tool =
        |name: &str, arguments: Value| with_meta(json!({ "name": name, "arguments": arguments }));
    let made = client.call(
        1,
        "tools/call",
        tool("session_create", json!({ "agent": "echo" })),
    );
    let session = &made["result"]["structuredContent"]["id"];
    let prompt = json!({ "session": session, "prompt": "sleep 1\nsay done", "wait": 60 });
    let begun = client.call(2, "tools/call", tool("session_prompt", prompt));
    let task = &begun["result"]["taskId"];
    assert!(task.is_string(), "{begun}");
    let filter = json!({ "notifications": { "taskIds": [task] } });
    let listen = |id: u64, params: Value| json!({ "jsonrpc": "2.0", "id": id, "method": "subscriptions/listen", "params": params });
    client.send(&listen(3, with_meta(filter.clone())));
    let told = client.next();
    assert_eq!(
        told["method"], "notifications/subscriptions/acknowledged",
        "{told}"
    );
    assert_eq!(
        told["params"]["notifications"]["taskIds"],
        json!([task]),
        "{told}"
    );
    let ended = loop {
        let news = client.next();
        assert_eq!(news["method"], "notifications/tasks", "{news}");
        if news["params"]["status"] != "working" {
            break news;
        }
    };
    assert_eq!(ended["params"]["status"], "completed", "{ended}");
    // A client that does not know tasks is told so.
    let mut plain = with_meta(filter);
    plain["_meta"]["io.modelcontextprotocol/clientCapabilities"] = json!({});
    client.send(&listen(4, plain));
    let refused = client.next();
    assert_eq!(
        (&refused["id"], &refused["error"]["code"]),
        (&json!(4), &json!(-32021)),
        "{refused}"
    );
}

#[test]
fn a_restart_of_the_server_is_survived() {
    let mut server = TestServer::start();
    let mut client = McpClient::start(server.command().arg("mcp"));
    client.introduce();
    client.tool(1, "board_create", json!({ "name": "before" }));
    for round in 0..3 {
        match round {
            0 => server.restart(),
            _ => {
                server.kill9();
                // Asked while nobody serves: held until somebody does.
                let params = json!({ "name": "board_list", "arguments": {} });
                let id = 50 + round;
                client.send(&json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }));
                thread::sleep(Duration::from_millis(300));
                server.restart();
                let answer = client.next();
                assert_eq!(answer["id"], id, "{answer}");
            }
        }
        let list = client.tool(100 + round, "board_list", json!({}));
        assert_eq!(
            list["result"]["structuredContent"]["boards"][0]["name"], "before",
            "{list}"
        );
    }
    assert_eq!(client.end(), 0);
}

#[test]
fn what_the_server_owed_is_answered_with_an_error() {
    let mut server = TestServer::start();
    let mut client = McpClient::start(server.command().arg("mcp"));
    // A request that stays open until its server ends.
    let params = json!({ "_meta": stateless(), "notifications": { "resourcesListChanged": true } });
    client.send(
        &json!({ "jsonrpc": "2.0", "id": "s", "method": "subscriptions/listen", "params": params }),
    );
    assert!(client.next()["method"].is_string());
    server.kill9();
    let answer = client.next();
    assert_eq!(
        (&answer["id"], &answer["error"]["code"]),
        (&json!("s"), &json!(-32000))
    );
    assert!(
        answer["error"]["message"]
            .as_str()
            .unwrap()
            .contains("again"),
        "{answer}"
    );
    server.restart();
    assert!(
        client.call(1, "server/discover", json!({ "_meta": stateless() }))["result"].is_object()
    );
}

#[test]
fn what_is_followed_is_followed_on_the_next_server() {
    let mut server = TestServer::start();
    let mut client = McpClient::start(server.command().arg("mcp"));
    client.introduce();
    let made = client.tool(1, "board_create", json!({ "name": "followed" }));
    let board = made["result"]["structuredContent"]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let uri = format!("wheelhouse://board/{board}");
    let subscribed = client.call(2, "resources/subscribe", json!({ "uri": uri }));
    assert!(subscribed["result"].is_object(), "{subscribed}");
    server.restart();
    assert!(client.call(3, "ping", json!({}))["result"].is_object());
    assert!(run(&server, &["board", "update", &board, "--name", "changed"]).code == 0);
    let told = client.next();
    assert_eq!(told["method"], "notifications/resources/updated", "{told}");
    assert_eq!(told["params"]["uri"], uri);
}

/// What a client of the stateless revision sends with every request.
fn stateless() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "suite", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

#[test]
fn without_a_server_one_is_embedded() {
    let home = Home::new();
    let mut command = wh_testkit::server::command(home.path());
    let mut client = McpClient::start(command.arg("mcp"));
    client.introduce();
    client.tool(1, "board_create", json!({ "name": "embedded" }));
    // While it serves, others find it.
    assert!(home.run(&["board", "list"]).stdout.contains("embedded"));
    let mut second = McpClient::start(wh_testkit::server::command(home.path()).arg("mcp"));
    second.introduce();
    let list = second.tool(1, "board_list", json!({}));
    assert_eq!(
        list["result"]["structuredContent"]["boards"][0]["name"],
        "embedded"
    );
    assert_eq!(second.end(), 0);
    assert_eq!(client.end(), 0);
    assert_eq!(home.run(&["board", "list"]).code, 6);
    assert!(
        !home
            .path()
            .join(".local/share/wheelhouse/server.json")
            .exists()
    );
}

#[test]
fn a_stateless_client_needs_no_introduction() {
    let server = TestServer::start();
    let mut client = McpClient::start(server.command().arg("mcp"));
    let answer = client.call(1, "server/discover", json!({ "_meta": stateless() }));
    assert!(answer["result"].is_object(), "{answer}");
    // An answer to no question, and what is not JSON, end nothing.
    writeln!(client.input.as_mut().unwrap(), "nonsense").unwrap();
    assert_eq!(client.next()["error"]["code"], -32700);
    assert_eq!(client.end(), 0);
}

#[test]
fn a_server_elsewhere_is_called_with_a_key() {
    let server = TestServer::start();
    let elsewhere = Home::new();
    let key = server.key("full");
    let mut command = wh_testkit::server::command(elsewhere.path());
    command
        .env("WHEELHOUSE_KEY", &key)
        .args(["--url", server.url(), "mcp"]);
    let mut client = McpClient::start(&mut command);
    client.introduce();
    assert!(client.tool(1, "board_list", json!({}))["result"].is_object());
    assert_eq!(client.end(), 0);
    let refused = elsewhere.run(&["--url", server.url(), "mcp"]);
    assert_eq!(
        (refused.code, refused.stdout.as_str()),
        (4, ""),
        "{refused:?}"
    );
}

#[test]
fn an_end_before_the_first_line_is_no_error() {
    let server = TestServer::start();
    assert_eq!(McpClient::start(server.command().arg("mcp")).end(), 0);
}
