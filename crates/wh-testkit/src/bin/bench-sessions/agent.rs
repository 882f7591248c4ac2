//! The built-in agent by itself: how long a prompt takes when nobody stands between.

use std::{process::Stdio, time::Instant};

use anyhow::{Context, Result};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{ChildStdin, ChildStdout, Command};
use wh_testkit::server::binary;

/// Times `count` prompts, in milliseconds.
pub(crate) async fn round_trips(count: usize) -> Result<Vec<f64>> {
    let place = tempfile::tempdir()?;
    #[expect(
        clippy::disallowed_methods,
        reason = "this measures the program by itself"
    )]
    let mut command = Command::new(binary());
    let mut child = command
        .args(["agent", "echo"])
        .current_dir(place.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    let mut agent = Agent {
        stdin: child.stdin.take().context("no stdin")?,
        lines: BufReader::new(child.stdout.take().context("no stdout")?).lines(),
        next: 0,
    };
    agent
        .ask(
            "initialize",
            json!({"protocolVersion": 1, "clientCapabilities": {}}),
        )
        .await?;
    let opened = json!({"cwd": place.path(), "mcpServers": []});
    let opened = agent.ask("session/new", opened).await?;
    let session = opened["sessionId"].clone();
    let mut times = Vec::new();
    for _ in 0..count {
        let begun = Instant::now();
        let prompt = json!([{"type": "text", "text": "say hello"}]);
        let params = json!({"sessionId": session, "prompt": prompt});
        agent.ask("session/prompt", params).await?;
        times.push(begun.elapsed().as_secs_f64() * 1e3);
    }
    Ok(times)
}

struct Agent {
    stdin: ChildStdin,
    lines: Lines<BufReader<ChildStdout>>,
    next: u64,
}

impl Agent {
    /// Sends a request and returns its result; what comes before is not of interest here.
    async fn ask(&mut self, method: &str, params: Value) -> Result<Value> {
        self.next += 1;
        let id = self.next;
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.stdin
            .write_all(format!("{request}\n").as_bytes())
            .await?;
        loop {
            let line = self.lines.next_line().await?.context("the agent ended")?;
            let mut message: Value = serde_json::from_str(&line)?;
            if message["id"] == id {
                return Ok(message["result"].take());
            }
        }
    }
}
