//! E1, E2, E15 and E16: a list served to the programs of the machine, and the command line beside it.

use std::{
    hash::{BuildHasher, RandomState},
    io::{BufRead, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use reqwest::{Client, StatusCode, header};
use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};
use wh_testkit::server::{TestServer, command};

/// `wheelhouse loop serve`, ended with the test.
struct Served {
    child: Child,
    url: String,
}

impl Served {
    /// Starts it and waits for the address, which is the first thing it says.
    fn start(mut command: Command, list: &str) -> Self {
        command.args(["loop", "serve", "--session", list]);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut url = String::new();
        let said = child.stdout.as_mut().unwrap();
        BufReader::new(said).read_line(&mut url).unwrap();
        let url = url.trim().to_owned();
        Self { child, url }
    }

    /// Interrupts it and waits until it has ended well.
    fn stop(&mut self) {
        let pid = Pid::from_raw(self.child.id().try_into().unwrap()).unwrap();
        kill_process(pid, Signal::TERM).unwrap();
        let deadline = Instant::now() + Duration::from_secs(30);
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                assert!(status.success(), "{status}");
                return;
            }
            assert!(Instant::now() < deadline, "it did not end");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

fn http() -> Client {
    Client::builder().no_proxy().build().unwrap()
}

/// Sends a request without any credential, as the contract's clients do.
async fn post(url: &str, method: &str, params: Value) -> Value {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let mut post = http()
        .post(url)
        .header("accept", "application/json, text/event-stream");
    if method != "initialize" {
        post = post.header("mcp-protocol-version", "2025-06-18");
    }
    let answer = post.json(&body).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::OK);
    answer.json().await.unwrap()
}

async fn call(url: &str, tool: &str, arguments: Value) -> String {
    let params = json!({ "name": tool, "arguments": arguments });
    let answer = post(url, "tools/call", params).await;
    super::text(&answer["result"])
}

fn run_json(server: &TestServer, arguments: &[&str]) -> Value {
    let output = server.command().args(arguments).arg("--json").output();
    let output = output.unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{said}"))
}

#[tokio::test]
async fn e1_e2_e15_e16_a_list_is_served_on_a_port_of_its_own_until_interrupted() {
    // Setting a client up also sets TLS up, which reqwest wants even for plain HTTP.
    let server = TestServer::start();
    drop(server.client());
    let mut served = Served::start(server.command(), "my work");
    let port = served.url.strip_prefix("http://localhost:").unwrap();
    assert!(port.ends_with("/mcp"), "{}", served.url);
    // It listens once it has said so, and asks for no key.
    let hello = json!({
        "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" },
    });
    let answer = post(&served.url, "initialize", hello).await;
    assert_eq!(answer["result"]["serverInfo"]["name"], "iteratr-tools");
    let listed = post(&served.url, "tools/list", json!({})).await;
    assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), 8);
    let tasks = json!({ "tasks": [{ "content": "write it" }] });
    call(&served.url, "task-add", tasks).await;
    // E16: the same list on the command line.
    let list = run_json(&server, &["task", "ls", "--list", "my work"]);
    assert_eq!(list["groups"][0]["tasks"][0]["content"], "write it");
    let note = [
        "note", "add", "--list", "my work", "--kind", "tip", "slowly",
    ];
    run_json(&server, &note);
    assert_eq!(
        call(&served.url, "note-list", json!({})).await,
        "- [tip] slowly"
    );
    let next = run_json(&server, &["task", "next", "--list", "my work", "--claim"]);
    assert_eq!(next["task"]["claimed_by"], "caller");
    let update = [
        "task",
        "update",
        "--list",
        "my work",
        "1",
        "--status",
        "completed",
    ];
    assert_eq!(run_json(&server, &update)["status"], "completed");
    let complete = call(&served.url, "session-complete", json!({})).await;
    assert_eq!(complete, "the session is complete");
    served.stop();
    assert!(http().post(&served.url).send().await.is_err());
    let keys = run_json(&server, &["key", "list"]);
    let keys = keys["keys"].as_array().unwrap().iter();
    let mut left = keys.filter(|key| key["name"] == "loop serve my work");
    assert!(left.all(|key| key["status"] == "revoked"));
}

#[tokio::test]
async fn e2_pages_of_a_browser_are_not_let_in() {
    let server = TestServer::start();
    drop(server.client());
    let served = Served::start(server.command(), "work");
    let send = async |name: header::HeaderName, value: &str| {
        let post = http().post(&served.url).header(name, value).body("{}");
        post.send().await.unwrap().status()
    };
    let origin = send(header::ORIGIN, "http://evil.example").await;
    assert_eq!(origin, StatusCode::FORBIDDEN);
    let host = send(header::HOST, "evil.example").await;
    assert_eq!(host, StatusCode::FORBIDDEN);
    let elsewhere = served.url.replace("/mcp", "/api/v1/keys");
    let answer = http().get(elsewhere).send().await.unwrap();
    assert_eq!(answer.status(), StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn e1_without_a_server_it_is_one_itself() {
    let home = tempfile::Builder::new().prefix("wh-").tempdir().unwrap();
    let own = |home: &Path| {
        let mut own = command(home);
        own.arg("--data-dir").arg(home.join("data"));
        own
    };
    drop(TestServer::start().client());
    let tasks = json!({ "tasks": [{ "content": "kept" }] });
    let mut served = Served::start(own(home.path()), "work");
    call(&served.url, "task-add", tasks).await;
    served.stop();
    let mut served = Served::start(own(home.path()), "work");
    let list = call(&served.url, "task-list", json!({})).await;
    assert_eq!(list, "remaining (1):\n- 1 [remaining, priority 2] kept");
    served.stop();
}

/// A call that the port repeats, because the server was killed before it answered, adds its task once.
#[tokio::test]
async fn e1_a_killed_server_adds_no_task_twice() {
    const ROUNDS: u64 = 15;
    let mut server = TestServer::start();
    drop(server.client());
    let mut served = Served::start(server.command(), "work");
    let seed = RandomState::new().hash_one(0) >> 32;
    println!("seed {seed}, {ROUNDS} rounds");
    let mut state = seed | 1;
    for round in 0..ROUNDS {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let delay = Duration::from_micros((state >> 33) % 12_000);
        let url = served.url.clone();
        let tasks = json!({ "tasks": [{ "content": format!("task {round}.") }] });
        let killed = async {
            tokio::time::sleep(delay).await;
            server.kill9();
            server.restart();
        };
        let (added, ()) = tokio::join!(call(&url, "task-add", tasks), killed);
        assert!(added.starts_with("added 1 task"), "{added}");
    }
    let list = call(&served.url, "task-list", json!({})).await;
    for round in 0..ROUNDS {
        let found = list.matches(&format!("task {round}.")).count();
        assert_eq!(found, 1, "task {round}, seed {seed}: {list}");
    }
    served.stop();
}
