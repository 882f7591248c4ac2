//! What the echo agent does with a prompt.

use std::{
    io::Write,
    path::Path,
    sync::{Arc, PoisonError},
    time::Duration,
};

use serde_json::{Value, json, value::RawValue};
use tokio_util::sync::CancellationToken;

use super::{Commit, Session, peer::Peer};
use crate::{
    acp::wire,
    beneath::{Access, write_beneath},
};

/// Said at once by `flood`.
const FLOOD_BYTES: usize = 4 << 10;

pub(super) struct Turn {
    session: Arc<Session>,
    peer: Arc<Peer>,
    cancelled: CancellationToken,
    /// What came with the prompt, a line each.
    files: String,
    commits: Arc<dyn Commit>,
    calls: u64,
}

impl Turn {
    pub(super) fn new(
        session: Arc<Session>,
        peer: Arc<Peer>,
        cancelled: CancellationToken,
        files: String,
        commits: Arc<dyn Commit>,
    ) -> Self {
        Self {
            session,
            peer,
            cancelled,
            files,
            commits,
            calls: 0,
        }
    }

    /// Does every line of the prompt and answers it.
    pub(super) async fn run(mut self, id: Box<RawValue>, prompt: String) {
        self.session.transcript.add(&prompt);
        let cancelled = self.cancelled.clone();
        let finished = tokio::select! {
            () = cancelled.cancelled() => false,
            () = self.lines(&prompt) => true,
        };
        let reason = if finished { "end_turn" } else { "cancelled" };
        let words = prompt.split_whitespace().count();
        let usage = json!({"totalTokens": words * 2, "inputTokens": words, "outputTokens": words});
        let answer = json!({"stopReason": reason, "usage": usage});
        self.peer.send(wire::result(&id, &answer)).await;
    }

    async fn lines(&mut self, prompt: &str) {
        for line in prompt.lines().filter(|line| !line.trim().is_empty()) {
            self.line(line.trim()).await;
        }
    }

    async fn line(&mut self, line: &str) {
        let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
        match verb {
            "say" => self.say(&format!("{rest}\n")).await,
            "write" => self.write(rest).await,
            "commit" => self.commit(rest).await,
            "ask" => self.ask(rest).await,
            "question" => self.question(rest).await,
            "sleep" => tokio::time::sleep(seconds(rest)).await,
            "count" => self.count(rest).await,
            "call" => {
                let (tool, arguments) = rest.split_once(' ').unwrap_or((rest, "{}"));
                self.call(tool, arguments).await;
            }
            "spawn" => {
                let arguments = json!({"prompt": rest}).to_string();
                self.call("session_spawn", &arguments).await;
            }
            "stderr" => {
                // One write, so that the runner reads a whole line.
                std::io::stderr()
                    .write_all(format!("{rest}\n").as_bytes())
                    .ok();
            }
            "cost" => self.cost(dollars(rest)).await,
            "files" => self.say(&self.files.clone()).await,
            "flood" => self.flood(rest.parse().unwrap_or(0)).await,
            "crash" => std::process::abort(),
            _ => self.say(&format!("{line}\n")).await,
        }
    }

    async fn say(&self, text: &str) {
        self.peer.say(&self.session.id, text).await;
    }

    /// Shows a tool call and returns its id.
    async fn tool(&mut self, title: &str, kind: &str) -> String {
        self.calls += 1;
        let id = format!("{}-{}", uuid::Uuid::now_v7().simple(), self.calls);
        let update = json!({"sessionUpdate": "tool_call", "toolCallId": id, "title": title,
            "kind": kind, "status": "in_progress"});
        self.peer.update(&self.session.id, &update).await;
        id
    }

    async fn tool_done(&self, id: &str, failed: Option<&str>, content: Value) {
        let status = if failed.is_some() {
            "failed"
        } else {
            "completed"
        };
        let mut update = json!({"sessionUpdate": "tool_call_update", "toolCallId": id, "status": status,
            "content": content});
        if let Some(why) = failed {
            update["content"] = text_content(why);
        }
        self.peer.update(&self.session.id, &update).await;
    }

    async fn write(&mut self, rest: &str) {
        let (path, text) = rest.split_once(' ').unwrap_or((rest, ""));
        let id = self.tool(&format!("Write {path}"), "edit").await;
        let new = format!("{text}\n");
        let written = write_beneath(
            &self.session.cwd,
            Path::new(path),
            new.as_bytes(),
            Access::Usual,
        );
        let path = self.session.cwd.join(path);
        let failed = written.as_ref().err().map(ToString::to_string);
        let old = written.ok().flatten();
        let diff = json!([{"type": "diff", "path": path, "oldText": old, "newText": new}]);
        self.tool_done(&id, failed.as_deref(), diff).await;
    }

    async fn commit(&mut self, message: &str) {
        let id = self.tool(&format!("Commit: {message}"), "execute").await;
        let failed = self.commits.commit(message).await.err();
        self.tool_done(&id, failed.as_deref(), json!([])).await;
    }

    async fn ask(&mut self, title: &str) {
        let id = self.tool(title, "other").await;
        let params = json!({"sessionId": self.session.id,
            "toolCall": {"toolCallId": id, "title": title},
            "options": [{"optionId": "allow", "name": "Allow", "kind": "allow_once"},
                        {"optionId": "always", "name": "Always allow", "kind": "allow_always"},
                        {"optionId": "reject", "name": "Reject", "kind": "reject_once"}]});
        let answer = self.peer.ask("session/request_permission", &params).await;
        let chosen = answer["outcome"]["optionId"].as_str().unwrap_or("nothing");
        let failed = (chosen == "reject").then_some("it was not allowed");
        self.tool_done(&id, failed, json!([])).await;
        self.say(&format!("{title}: {chosen}\n")).await;
    }

    async fn question(&self, text: &str) {
        let schema = json!({"type": "object", "properties": {"answer": {"type": "string"}}, "required": ["answer"]});
        let params = json!({"sessionId": self.session.id, "mode": "form", "message": text, "requestedSchema": schema});
        let answer = self.peer.ask("elicitation/create", &params).await;
        let words = answer["content"]["answer"].as_str().unwrap_or("no answer");
        self.say(&format!("{words}\n")).await;
    }

    async fn count(&self, rest: &str) {
        let (count, pause) = rest.split_once(' ').unwrap_or((rest, "0"));
        let pause = Duration::from_millis(pause.parse().unwrap_or(0));
        for number in 1..=count.parse::<u64>().unwrap_or(0) {
            self.say(&format!("{number} ")).await;
            tokio::time::sleep(pause).await;
        }
    }

    async fn call(&mut self, tool: &str, arguments: &str) {
        let id = self.tool(tool, "other").await;
        let arguments = serde_json::from_str(arguments).map_err(|error| error.to_string());
        let result = match (&self.session.tools, arguments) {
            (_, Err(error)) => Err(format!("the arguments are not JSON: {error}")),
            (None, _) => Err("this session has no tools".to_owned()),
            (Some(tools), Ok(arguments)) => tools.call(tool, arguments).await,
        };
        let failed = result.as_ref().err().map(String::as_str);
        let text = result.as_deref().unwrap_or_default();
        self.tool_done(&id, failed, text_content(text)).await;
        match &result {
            Ok(text) => self.say(&format!("{text}\n")).await,
            Err(why) => self.say(&format!("{tool} failed: {why}\n")).await,
        }
    }

    /// Tells what everything has cost so far, as agents do.
    async fn cost(&self, more: f64) {
        let total = {
            let cost = self.session.cost.lock();
            let mut cost = cost.unwrap_or_else(PoisonError::into_inner);
            *cost += more;
            *cost
        };
        let update = json!({"sessionUpdate": "usage_update", "used": 0, "size": 0,
            "cost": {"amount": total, "currency": "USD"}});
        self.peer.update(&self.session.id, &update).await;
    }

    async fn flood(&self, bytes: usize) {
        let text = "0123456789abcde\n".repeat(FLOOD_BYTES / 16);
        let mut left = bytes;
        while left > 0 {
            let part = left.min(FLOOD_BYTES);
            self.say(&text[..part]).await;
            left -= part;
        }
    }
}

fn text_content(text: &str) -> Value {
    json!([{"type": "content", "content": {"type": "text", "text": text}}])
}

/// Returns what a prompt that was said earlier had told of its cost.
pub(super) fn cost_of(prompt: &str) -> f64 {
    let lines = prompt.lines().map(str::trim);
    lines
        .filter_map(|line| line.strip_prefix("cost "))
        .map(dollars)
        .sum()
}

fn dollars(text: &str) -> f64 {
    let amount: f64 = text.trim().parse().unwrap_or(0.0);
    if amount.is_finite() {
        amount.max(0.0)
    } else {
        0.0
    }
}

fn seconds(text: &str) -> Duration {
    Duration::try_from_secs_f64(text.parse().unwrap_or(0.0)).unwrap_or_default()
}
