//! Measures one user's calls beside another user who sends many at once, and prints the figures as JSON.
//!
//! `bench-fairness [SECONDS]` starts a server of its own and lists sessions on one connection for that long (default 10): undisturbed,
//! and beside a second user with 16 and with 128 calls under way at any time. The three are measured in turn, in several rounds, so that
//! other programs on the machine disturb each of them alike. The second user's client is this program again, with the scheduling
//! policy `SCHED_IDLE`: it gives up the processor to whoever needs it, so the server's queues are measured and not those of a machine
//! that runs clients too.

use std::io::{BufRead, BufReader};
use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use serde_json::json;
use wh_testkit::plain_http::{Calls, Connection};
use wh_testkit::server::TestServer;

const SECONDS: u64 = 10;
const ROUNDS: u32 = 5;
/// Between two measured calls.
const INTERVAL: Duration = Duration::from_millis(2);
/// Calls of the second user that are under way at any time.
const CONCURRENT: [u32; 2] = [16, 128];

fn main() -> Result<()> {
    let arguments: Vec<_> = std::env::args().skip(1).collect();
    if let [mode, host, key, concurrent] = arguments.as_slice()
        && mode == "load"
    {
        return load(host, key, concurrent.parse()?);
    }
    let seconds = match arguments.first() {
        Some(text) => text.parse().context("the number of seconds")?,
        None => SECONDS,
    };
    measure(Duration::from_secs(seconds))
}

#[expect(
    clippy::print_stdout,
    reason = "the figures are what this program is for"
)]
fn measure(time: Duration) -> Result<()> {
    let server = TestServer::start();
    let host = server.url().trim_start_matches("http://").to_owned();
    let (quiet_key, busy_key) = (server.key("full"), member_key(&server)?);
    let list = || -> Result<Calls> {
        let mut connection = Connection::open(&host)?;
        let path = "/api/v1/sessions";
        Calls::measure(time / ROUNDS, INTERVAL, || connection.get(path, &quiet_key))
    };
    // The first calls fill caches.
    list()?;
    let mut quiet = Calls::default();
    let mut loaded = CONCURRENT.map(|concurrent| (concurrent, Calls::default()));
    for _ in 0..ROUNDS {
        quiet.extend(list()?);
        for (concurrent, calls) in &mut loaded {
            let loading = Load::start(&host, &busy_key, *concurrent)?;
            calls.extend(list()?);
            drop(loading);
        }
    }
    let beside = loaded.map(|(concurrent, calls)| {
        json!({
            "concurrent": concurrent,
            "calls": calls.latencies.len(),
            "refused": calls.refused,
            "p50_ms": calls.p50(),
            "p99_ms": calls.p99(),
            "p99_ratio": calls.p99() / quiet.p99(),
        })
    });
    let figures = json!({
        "p50_quiet_ms": quiet.p50(),
        "p99_quiet_ms": quiet.p99(),
        "beside": beside,
    });
    println!("{figures:#}");
    Ok(())
}

/// Creates a second user and returns a key of theirs.
fn member_key(server: &TestServer) -> Result<String> {
    let run = |arguments: &[&str]| -> Result<serde_json::Value> {
        let output = server.command().args(arguments).arg("--json").output()?;
        serde_json::from_slice(&output.stdout)
            .with_context(|| format!("wheelhouse {}", arguments.join(" ")))
    };
    run(&["user", "create", "busy"])?;
    let key = run(&[
        "key", "create", "--name", "busy", "--scope", "full", "--user", "busy",
    ])?;
    let key = key["key"].as_str().context("the answer has no key")?;
    Ok(key.to_owned())
}

/// A process that keeps calls under way until it is dropped.
struct Load {
    process: Child,
}

impl Load {
    fn start(host: &str, key: &str, concurrent: u32) -> Result<Self> {
        let program = std::env::current_exe()?;
        #[expect(clippy::disallowed_methods, reason = "this program starts itself")]
        let mut command = std::process::Command::new("chrt");
        command.args(["--idle", "0"]).arg(program);
        command.args(["load", host, key, &concurrent.to_string()]);
        let mut process = command.stdout(Stdio::piped()).spawn()?;
        let output = process.stdout.take().context("stdout is piped")?;
        let this = Self { process };
        let mut line = String::new();
        BufReader::new(output).read_line(&mut line)?;
        anyhow::ensure!(line.trim() == "ready", "the load said {line:?}");
        Ok(this)
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        self.process.kill().ok();
        self.process.wait().ok();
    }
}

/// Lists sessions and creates boards without a pause; half of the connections each.
#[expect(clippy::print_stdout, reason = "says that all connections are in use")]
fn load(host: &str, key: &str, concurrent: u32) -> Result<()> {
    let started = std::sync::Barrier::new(concurrent as usize + 1);
    thread::scope(|scope| {
        for number in 0..concurrent {
            let started = &started;
            scope.spawn(move || -> Result<()> {
                let mut connection = Connection::open(host)?;
                started.wait();
                loop {
                    if number % 2 == 0 {
                        connection.get("/api/v1/sessions", key)?;
                    } else {
                        let board = format!(r#"{{"name":"load {number}"}}"#);
                        connection.post("/api/v1/boards", key, &board)?;
                    }
                }
            });
        }
        started.wait();
        println!("ready");
    });
    Ok(())
}
