//! An ACP agent that does as it is told, and misbehaves as it is told: each line of a prompt is a command. It uses the standard
//! library and JSON alone, so that a test of the protocol does not test the protocol's crate against itself.
//!
//! `say TEXT`, `ask TITLE`, `offer KINDS TITLE` (asks with these options alone, such as `allow_always,reject_once`), `answers` (how many of its requests were answered, and how often again), `permission JSON` (a tool call as ACP has it; `pad` of its input is a number of bytes), `call ID TITLE` (announces a tool call, which stays in progress), `question JSON` (parameters of an elicitation, such as a `toolCallId`), `count N MS`, `chatter MS` (says a word every so often from then on, whatever else it does), `flood BYTES`, `errors BYTES` (to stderr), `line BYTES` (one line), `garbage`, `update` (of a tool call that was never announced),
//! `commands NAMES` (announces commands, separated by commas), `files` (asks the client to write one), `fork KIND MARK` (a child `sleep MARK` that ignores signals), `env NAME`, `socket PATH` (asks a server there who it is), `hang` (deaf to everything),
//! `shell COMMAND` (runs it and says what it printed), `crash`, `exit CODE`. Started with `--no-models` it offers no choice of models.

use std::{
    collections::HashSet,
    io::{BufRead, Write},
    process::Stdio,
    sync::mpsc::{Receiver, RecvError, RecvTimeoutError, channel},
    time::Duration,
};

use serde_json::{Value, json};

/// The name of the one conversation this agent has.
const SESSION: &str = "scripted-1";

/// Speaks ACP on stdio until stdin ends.
pub fn main() {
    let (send, lines) = channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { break };
            if let Ok(message) = serde_json::from_str(&line)
                && send.send(message).is_err()
            {
                break;
            }
        }
    });
    let mut agent = Agent {
        lines,
        asked: 0,
        answered: HashSet::new(),
        repeated: 0,
    };
    while let Ok(message) = agent.receive() {
        agent.message(&message);
    }
}

struct Agent {
    lines: Receiver<Value>,
    asked: u64,
    /// The requests that were answered.
    answered: HashSet<u64>,
    /// Answers to requests that were answered before.
    repeated: u64,
}

impl Agent {
    /// Waits for the next message, and counts it when it is an answer.
    fn receive(&mut self) -> Result<Value, RecvError> {
        let message = self.lines.recv()?;
        if message["method"].is_null()
            && let Some(id) = message["id"].as_u64()
            && !self.answered.insert(id)
        {
            self.repeated += 1;
        }
        Ok(message)
    }

    fn message(&mut self, message: &Value) {
        let id = &message["id"];
        let result = match message["method"].as_str() {
            Some("initialize") => json!({
                "protocolVersion": 1,
                "agentCapabilities": {"loadSession": true, "mcpCapabilities": {"http": true}, "sessionCapabilities": {"resume": {}}},
                "agentInfo": {"name": "scripted", "version": "1"},
            }),
            Some("session/new") if std::env::args().any(|it| it == "--no-models") => {
                json!({"sessionId": SESSION})
            }
            Some("session/new") => json!({"sessionId": SESSION, "modes": {
                "currentModeId": "ask", "availableModes": [{"id": "ask", "name": "Ask"}, {"id": "auto", "name": "Auto"}]},
                "models": {"currentModelId": "m-small", "availableModels": [{"modelId": "m-small", "name": "Small"},
                    {"modelId": "m-large", "name": "Large"}, {"modelId": "m-closed", "name": "Closed"}]}}),
            Some("session/set_model") if message["params"]["modelId"] == "m-closed" => {
                let error = json!({"code": -32000, "message": "your plan does not include it"});
                say(&json!({"jsonrpc": "2.0", "id": id, "error": error}));
                return;
            }
            Some("session/set_model") => json!({}),
            Some("session/load") => {
                chunk("replayed before the answer");
                say(&json!({"jsonrpc": "2.0", "id": id, "result": {}}));
                chunk("replayed after the answer");
                return;
            }
            Some("session/resume" | "session/set_mode") => json!({}),
            Some("session/prompt") => {
                let text = message["params"]["prompt"][0]["text"]
                    .as_str()
                    .unwrap_or("");
                let text = text.to_owned();
                let cancelled = text.lines().any(|line| !self.command(line));
                let reason = if cancelled { "cancelled" } else { "end_turn" };
                json!({"stopReason": reason, "usage": {"totalTokens": 3, "inputTokens": 1, "outputTokens": 2}})
            }
            _ => return,
        };
        say(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
    }

    /// Does one line of a prompt. Returns whether the turn goes on.
    fn command(&mut self, line: &str) -> bool {
        let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
        match verb {
            "say" => chunk(rest),
            "ask" => return self.ask(json!({"title": rest, "kind": "edit"}), &usual_options()),
            "offer" => {
                let (kinds, title) = rest.split_once(' ').unwrap_or((rest, "it"));
                let option = |kind: &str| json!({"optionId": kind, "name": format!("option {kind}"), "kind": kind});
                let options = kinds.split(',').map(option).collect();
                return self.ask(json!({"title": title, "kind": "edit"}), &options);
            }
            "answers" => {
                let (answered, repeated) = (self.answered.len(), self.repeated);
                chunk(&format!("answered {answered} repeated {repeated}."));
            }
            "permission" => {
                let call = serde_json::from_str(rest).unwrap_or_default();
                return self.ask(call, &usual_options());
            }
            "call" => {
                let (id, title) = rest.split_once(' ').unwrap_or((rest, "it"));
                update(
                    &json!({"sessionUpdate": "tool_call", "toolCallId": id, "title": title, "status": "in_progress"}),
                );
            }
            "question" => return self.question(serde_json::from_str(rest).unwrap_or_default()),
            "count" => return self.count(rest),
            "chatter" => chatter(rest),
            "flood" => flood(rest.parse().unwrap_or(0)),
            "errors" => errors(rest.parse().unwrap_or(0)),
            "line" => chunk(&"x".repeat(rest.parse().unwrap_or(0))),
            "garbage" => raw(b"this is \xff not the protocol\n"),
            "update" => update(
                &json!({"sessionUpdate": "tool_call_update", "toolCallId": "t1",
                "title": "Late", "status": "completed"}),
            ),
            "commands" => {
                let command =
                    |name: &str| json!({"name": name, "description": format!("does {name}")});
                let commands: Vec<_> = rest.split(',').map(command).collect();
                update(
                    &json!({"sessionUpdate": "available_commands_update", "availableCommands": commands}),
                );
            }
            "newer" => update(&json!({"sessionUpdate": "invented_tomorrow", "x": 1})),
            "files" => {
                let params = json!({"sessionId": SESSION, "path": "/tmp/x", "content": "x"});
                let answer = self.request("fs/write_text_file", &params);
                chunk(answer["error"]["message"].as_str().unwrap_or("no error"));
            }
            "fork" => fork(rest),
            "socket" => chunk(&ask_socket(rest).unwrap_or_else(|error| error.to_string())),
            "env" => chunk(&std::env::var(rest).unwrap_or_else(|_| "unset".to_owned())),
            "shell" => chunk(&shell(rest)),
            "hang" => loop {
                std::thread::sleep(Duration::from_secs(60));
            },
            "crash" => std::process::abort(),
            "exit" => std::process::exit(rest.parse().unwrap_or(0)),
            _ => chunk(line),
        }
        true
    }

    fn ask(&mut self, mut call: Value, options: &Value) -> bool {
        if let Some(bytes) = call["rawInput"]["pad"].as_u64() {
            call["rawInput"]["pad"] = json!("x".repeat(usize::try_from(bytes).unwrap_or(0)));
        }
        self.asked += 1;
        if call["toolCallId"].is_null() {
            call["toolCallId"] = json!(format!("ask-{}", self.asked));
        }
        let params = json!({"sessionId": SESSION,
            "toolCall": call,
            "options": options});
        let answer = self.request("session/request_permission", &params);
        let outcome = &answer["result"]["outcome"];
        chunk(outcome["optionId"].as_str().unwrap_or("nothing"));
        outcome["outcome"] != "cancelled"
    }

    fn question(&mut self, mut params: Value) -> bool {
        params["sessionId"] = json!(SESSION);
        params["mode"] = json!("form");
        params["requestedSchema"] =
            json!({"type": "object", "properties": {"answer": {"type": "string"}}});
        let answer = self.request("elicitation/create", &params);
        chunk(
            answer["result"]["content"]["answer"]
                .as_str()
                .unwrap_or("no answer"),
        );
        answer["result"]["action"] == "accept"
    }

    fn count(&mut self, rest: &str) -> bool {
        let (count, pause) = rest.split_once(' ').unwrap_or((rest, "0"));
        let pause = Duration::from_millis(pause.parse().unwrap_or(0));
        for number in 1..=count.parse::<u64>().unwrap_or(0) {
            chunk(&format!("{number} "));
            match self.lines.recv_timeout(pause) {
                Ok(message) if message["method"] == "session/cancel" => return false,
                Err(RecvTimeoutError::Disconnected) => std::process::exit(0),
                Ok(_) | Err(RecvTimeoutError::Timeout) => {}
            }
        }
        true
    }

    fn request(&mut self, method: &str, params: &Value) -> Value {
        self.asked += 1;
        let id = self.asked;
        say(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        while let Ok(message) = self.receive() {
            if message["id"] == id && message["method"].is_null() {
                return message;
            }
        }
        std::process::exit(0)
    }
}

fn usual_options() -> Value {
    json!([{"optionId": "yes-1", "name": "Yes", "kind": "allow_once"},
           {"optionId": "no-1", "name": "No", "kind": "reject_once"}])
}

/// Runs a command as an obedient agent would, and returns everything it printed.
#[expect(clippy::disallowed_methods, reason = "an agent runs its own commands")]
fn shell(command: &str) -> String {
    let output = std::process::Command::new("/bin/sh")
        .args(["-c", command])
        .stdin(Stdio::null())
        .output();
    match output {
        Ok(output) => format!(
            "{}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        ),
        Err(error) => format!("cannot run a shell: {error}"),
    }
}

/// Asks a server on a Unix socket who is calling, without a credential, and returns the whole answer.
fn ask_socket(path: &str) -> std::io::Result<String> {
    use std::io::Read;
    let mut stream = std::os::unix::net::UnixStream::connect(path)?;
    stream.write_all(b"GET /api/v1/whoami HTTP/1.1\r\nConnection: close\r\n\r\n")?;
    let mut answer = String::new();
    stream.read_to_string(&mut answer)?;
    Ok(answer)
}

/// Starts a child that ignores signals and sleeps for `MARK` seconds, by which it can be found.
#[expect(
    clippy::disallowed_methods,
    reason = "a test's agent starts what it likes"
)]
fn fork(rest: &str) {
    let (kind, mark) = rest.split_once(' ').unwrap_or((rest, "1000"));
    let sleep = format!("trap '' TERM INT HUP; exec sleep {mark}");
    let script = match kind {
        "setsid" => format!("setsid sh -c \"{sleep}\" &"),
        "double" => format!("(sh -c \"{sleep}\" &) &"),
        "nohup" => format!("nohup sh -c \"{sleep}\" >/dev/null 2>&1 &"),
        "env" => format!("env -i /bin/sh -c \"{sleep}\" &"),
        "escape" => format!("(env -i setsid /bin/sh -c \"{sleep}\" &) &"),
        _ => format!("sh -c \"{sleep}\" &"),
    };
    let mut shell = std::process::Command::new("/bin/sh");
    shell
        .arg("-c")
        .arg(script)
        .stdin(Stdio::null())
        .stdout(Stdio::null());
    let started = shell.status().is_ok_and(|status| status.success());
    chunk(if started { "forked " } else { "not forked " });
}

/// Says a word every `pause` milliseconds for as long as the agent lives.
fn chatter(pause: &str) {
    let pause = Duration::from_millis(pause.parse().unwrap_or(100));
    std::thread::spawn(move || {
        loop {
            chunk("hm ");
            std::io::stderr().write_all(b"hm\n").ok();
            std::thread::sleep(pause);
        }
    });
}

fn flood(bytes: u64) {
    let text = "0123456789abcde\n".repeat(256);
    let mut left = bytes;
    while left > 0 {
        chunk(&text);
        left = left.saturating_sub(text.len() as u64);
    }
}

/// Writes lines to stderr that are all different.
fn errors(bytes: u64) {
    let mut stderr = std::io::stderr().lock();
    for first in (0..bytes / 16).step_by(256) {
        let lines: String = (first..first + 256)
            .map(|it| format!("{it:015}\n"))
            .collect();
        if stderr.write_all(lines.as_bytes()).is_err() {
            return;
        }
    }
    stderr.write_all(b"no more errors\n").ok();
}

fn chunk(text: &str) {
    update(
        &json!({"sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}),
    );
}

fn update(update: &Value) {
    let params = json!({"sessionId": SESSION, "update": update});
    say(&json!({"jsonrpc": "2.0", "method": "session/update", "params": params}));
}

fn say(message: &Value) {
    raw(format!("{message}\n").as_bytes());
}

fn raw(bytes: &[u8]) {
    let mut stdout = std::io::stdout().lock();
    if stdout
        .write_all(bytes)
        .and_then(|()| stdout.flush())
        .is_err()
    {
        std::process::exit(0);
    }
}
