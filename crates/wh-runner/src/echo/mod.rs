//! The built-in agent `echo`: an ACP agent on stdio that needs no model and always does the same.
//!
//! Each line of a prompt is a command; [`HELP`] lists them. It is what the demo and most tests run, and it uses the same protocol,
//! permissions and tools as any other agent.

mod commands;
mod files;
mod mcp;
mod peer;
mod stdio;
mod transcript;

use std::{
    io,
    path::PathBuf,
    pin::Pin,
    sync::{Arc, Mutex},
};

use serde_json::{Value, json};
use tokio::io::BufReader;
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use self::{commands::Turn, mcp::Tools, peer::Peer, transcript::Transcript};
use crate::acp::{
    lines::{Line, Lines},
    wire::{self, Message},
};

/// What the agent understands, for people.
pub const HELP: &str = "\
say TEXT           says TEXT
write PATH TEXT    writes TEXT and a newline to PATH below the working directory
commit MESSAGE     commits everything in the session's worktree
ask TITLE          asks for permission
question TEXT      asks the user TEXT
sleep SECONDS      waits
count N MS         says 1 to N, waiting MS milliseconds after each
call TOOL JSON     calls one of our MCP tools with the session's own token
spawn PROMPT       starts a child session with PROMPT
stderr TEXT        writes TEXT to its stderr
cost DOLLARS       tells that the conversation has cost DOLLARS more
files              says which files came with the prompt
flood BYTES        says BYTES bytes as fast as it can
crash              ends at once, as a crash would
anything else      is said back";

/// The longest line that is read.
const LINE_BYTES_MAX: usize = 16 << 20;

/// Commits what lies in the session's worktree. The agent does not look for a repository itself: what lies in its working
/// directory could name any program to run.
pub trait Commit: Send + Sync {
    /// Commits every change, or says why not.
    fn commit(
        &self,
        message: &str,
    ) -> Pin<Box<dyn Future<Output = Result<(), String>> + Send + '_>>;
}

/// For sessions that work in no worktree.
#[derive(Clone, Copy, Debug)]
pub struct NoWorktree;

impl Commit for NoWorktree {
    fn commit(&self, _: &str) -> Pin<Box<dyn Future<Output = Result<(), String>> + Send + '_>> {
        let refused =
            "this session has no worktree, so nothing is committed; start it with a repository";
        Box::pin(async move { Err(refused.to_owned()) })
    }
}

/// The conversation this process has.
struct Session {
    id: String,
    cwd: PathBuf,
    tools: Option<Tools>,
    transcript: Transcript,
    /// What was told of the conversation's cost, in dollars.
    cost: Mutex<f64>,
}

/// Speaks ACP on stdin and stdout until stdin ends.
pub async fn serve_stdio(commits: Arc<dyn Commit>) -> io::Result<()> {
    let tasks = TaskTracker::new();
    let peer = Arc::new(Peer::stdout(&tasks));
    let mut lines = Lines::new(BufReader::new(stdio::input()), LINE_BYTES_MAX);
    let mut session: Option<Arc<Session>> = None;
    let mut turn = CancellationToken::new();
    while let Some(line) = lines.next().await? {
        let Line::Whole(line) = line else { continue };
        let text = String::from_utf8_lossy(&line);
        match wire::read(&text) {
            Some(Message::Response { id, result }) => peer.answered(id, result.ok()),
            Some(Message::Notification { method, .. }) if method == "session/cancel" => {
                turn.cancel();
            }
            Some(Message::Request { id, method, params }) => {
                let params: Value = serde_json::from_str(params).unwrap_or_default();
                match (method.as_str(), &session) {
                    ("session/prompt", Some(session)) => {
                        turn = CancellationToken::new();
                        let files = files::lines(&params);
                        let run = Turn::new(
                            session.clone(),
                            peer.clone(),
                            turn.clone(),
                            files,
                            commits.clone(),
                        );
                        let (id, words) = (id.to_owned(), prompt_text(&params));
                        tasks.spawn(run.run(id, words));
                    }
                    _ => match open(&peer, &method, &params).await {
                        Ok((answer, opened)) => {
                            session = opened.map(Arc::new).or(session);
                            peer.send(wire::result(id, &answer)).await;
                        }
                        Err((code, why)) => peer.send(wire::error(id, code, why)).await,
                    },
                }
            }
            _ => {}
        }
    }
    turn.cancel();
    Ok(())
}

type Opened = Result<(Value, Option<Session>), (i64, String)>;

/// Answers everything that is not a prompt.
async fn open(peer: &Peer, method: &str, params: &Value) -> Opened {
    let cwd = PathBuf::from(params["cwd"].as_str().unwrap_or("."));
    let tools = Tools::from_servers(&params["mcpServers"]);
    match method {
        "initialize" => Ok((introduction(), None)),
        "session/new" => {
            let id = uuid::Uuid::now_v7().to_string();
            let transcript = Transcript::new(&id);
            let answer = json!({"sessionId": id, "modes": modes(), "configOptions": [model_option(MODELS[0])]});
            Ok((
                answer,
                Some(Session {
                    id,
                    cwd,
                    tools,
                    transcript,
                    cost: Mutex::default(),
                }),
            ))
        }
        "session/load" | "session/resume" => {
            let id = params["sessionId"].as_str().unwrap_or_default().to_owned();
            let Some((transcript, said)) = Transcript::find(&id) else {
                return Err((
                    wire::INVALID_PARAMS,
                    "there is no such conversation".to_owned(),
                ));
            };
            let cost = said.iter().map(|prompt| commands::cost_of(prompt)).sum();
            if method == "session/load" {
                for text in said {
                    peer.say(&id, &text).await;
                }
            }
            Ok((
                json!({"modes": modes(), "configOptions": [model_option(MODELS[0])]}),
                Some(Session {
                    id,
                    cwd,
                    tools,
                    transcript,
                    cost: Mutex::new(cost),
                }),
            ))
        }
        "session/set_mode" => Ok((json!({}), None)),
        "session/set_config_option" => match params["value"].as_str() {
            Some(model) if params["configId"] == "model" && MODELS.contains(&model) => {
                Ok((json!({"configOptions": [model_option(model)]}), None))
            }
            _ => Err((wire::INVALID_PARAMS, "there is no such option".to_owned())),
        },
        "session/prompt" => Err((wire::INVALID_PARAMS, "open a conversation first".to_owned())),
        _ => Err((
            wire::METHOD_NOT_FOUND,
            format!("echo does not know {method}"),
        )),
    }
}

fn introduction() -> Value {
    json!({
        "protocolVersion": 1,
        "agentCapabilities": {
            "loadSession": true,
            "mcpCapabilities": {"http": true},
            "promptCapabilities": {"image": true, "embeddedContext": true},
            "sessionCapabilities": {"resume": {}},
        },
        "agentInfo": {"name": "echo", "title": "Echo", "version": env!("CARGO_PKG_VERSION")},
    })
}

/// The names of models that it offers. They do the same, and show how a model is chosen.
const MODELS: [&str; 2] = ["echo-1", "echo-2"];

fn model_option(current: &str) -> Value {
    let choices = MODELS.map(|model| json!({"value": model, "name": model}));
    json!({"id": "model", "name": "Model", "category": "model", "type": "select",
        "currentValue": current, "options": choices})
}

fn modes() -> Value {
    json!({"currentModeId": "default", "availableModes": [{"id": "default", "name": "Default"}]})
}

fn prompt_text(params: &Value) -> String {
    let blocks = params["prompt"].as_array().map_or(&[][..], Vec::as_slice);
    let texts: Vec<_> = blocks
        .iter()
        .filter(|block| !files::is_mention(block))
        .filter_map(|block| block["text"].as_str())
        .collect();
    texts.join("\n")
}
