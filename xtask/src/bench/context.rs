//! What a caller's context window pays: bytes and tokens of `tools/list` per scope and role, and of typical answers. Unlike times
//! these do not depend on the machine, so what has a bound and exceeds it fails.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::fixture::{Programs, Running, Seeded};
use super::request::{self, McpRequest};
use crate::ui;
use crate::workspace::Workspace;

const SESSIONS: u32 = 100;
const MESSAGES: u32 = 20;

/// Scopes of keys, then roles of sessions.
const CALLERS: [&str; 9] = [
    "full", "read", "client", "general", "planning", "coding", "review", "worker", "lead",
];

/// What `tools/list` may cost by default: tools and bytes.
const KEY_TOOLS_MAX: (usize, usize) = (18, 16_000);
const SESSION_TOOLS_MAX: (usize, usize) = (14, 12_000);
const LEAD_TOOLS_MAX: (usize, usize) = (18, 20_000);

/// Tokens of the answers that are read again and again.
const SESSION_LIST_TOKENS_MAX: usize = 2_000;
/// Beyond the agent's own words.
const MESSAGE_LIST_TOKENS_MAX: usize = 500;

pub(super) fn run(_workspace: &Workspace, programs: &Programs) -> Result<String> {
    let seeded = programs.seed_with("context", SESSIONS, MESSAGES, 0, Duration::ZERO)?;
    let product = programs.serve(&seeded.dir)?;
    let lists = tool_lists(programs, &seeded, &product)?;
    let answers = answers(programs, &seeded, &product)?;
    Ok(format!("{lists}\n\n{answers}"))
}

/// Measures `tools/list` as each caller is shown it by default, and all of it.
fn tool_lists(programs: &Programs, seeded: &Seeded, product: &Running) -> Result<String> {
    let (mut rows, mut shown) = (vec![], vec![]);
    for caller in CALLERS {
        for toolset in ["default", "all"] {
            let request = McpRequest::new("tools/list", json!({})).with_key(seeded.key_of(caller)?);
            let url = format!("{}/mcp?toolsets={toolset}", product.url);
            let result = result_of(&request::post(&url, &request)?)?;
            let tools = result["tools"]
                .as_array()
                .context("tools/list lists none")?;
            let bytes = result["tools"].to_string().len();
            let (tools_max, bytes_max) = match caller {
                "full" | "read" | "client" => KEY_TOOLS_MAX,
                "lead" => LEAD_TOOLS_MAX,
                _ => SESSION_TOOLS_MAX,
            };
            if toolset == "default" && (tools.len() > tools_max || bytes > bytes_max) {
                bail!(
                    "{caller} is shown {} tools of {bytes} bytes; at most {tools_max} of {bytes_max}",
                    tools.len()
                );
            }
            shown.push(tools.iter().map(shown_of).collect::<String>());
            rows.push(vec![
                format!("{caller}, {toolset}"),
                tools.len().to_string(),
                bytes.to_string(),
            ]);
        }
    }
    let tokens = programs.count_tokens(&shown)?;
    for (row, (text, tokens)) in rows.iter_mut().zip(shown.iter().zip(tokens)) {
        row.extend([text.len().to_string(), tokens.to_string()]);
    }
    let header = ["tools/list", "tools", "bytes", "shown to models", "tokens"];
    Ok(ui::table(&header, &rows))
}

/// Returns what a client shows its model of a tool; schemas of answers are for the client itself.
fn shown_of(tool: &Value) -> String {
    ["name", "description", "inputSchema"]
        .iter()
        .map(|part| tool[part].to_string())
        .collect()
}

/// An answer to measure.
struct Ask {
    name: &'static str,
    caller: &'static str,
    arguments: Value,
    tokens_max: Option<usize>,
}

fn asks(seeded: &Seeded) -> Result<Vec<Ask>> {
    let (board, session) = (seeded.board()?, seeded.session()?);
    let ask = |name, arguments| Ask {
        name,
        caller: "full",
        arguments,
        tokens_max: None,
    };
    let bounded = |name, caller, arguments, most| Ask {
        caller,
        tokens_max: Some(most),
        ..ask(name, arguments)
    };
    let (sessions, messages) = (SESSION_LIST_TOKENS_MAX, MESSAGE_LIST_TOKENS_MAX);
    let one = json!({ "session": session });
    Ok(vec![
        bounded("session_list", "full", json!({}), sessions),
        bounded("session_list of 10", "full", json!({"limit": 10}), sessions),
        bounded("message_list", "full", one.clone(), messages),
        bounded("message_list by an agent", "session", one.clone(), messages),
        ask(
            "message_list after 0",
            json!({"session": session, "after": "0"}),
        ),
        ask(
            "message_list summarize",
            json!({"session": session, "summarize": true}),
        ),
        ask("session_get", one.clone()),
        ask("session_tree", one),
        ask("session_search", json!({"query": "said"})),
        ask("approval_list", json!({})),
        ask("agent_list", json!({})),
        ask("board_get", json!({"board": board})),
        ask("board_list", json!({})),
        ask("audit_list", json!({})),
        ask("tool_search", json!({"query": "board"})),
    ])
}

/// Measures what tools answer. What an agent said is not counted: it is what was asked for.
fn answers(programs: &Programs, seeded: &Seeded, product: &Running) -> Result<String> {
    let (mut bytes, mut texts) = (vec![], vec![]);
    let asks = asks(seeded)?;
    for ask in &asks {
        let tool = ask.name.split(' ').next().unwrap_or(ask.name);
        let request = McpRequest::tool(tool, &ask.arguments).with_key(seeded.key_of(ask.caller)?);
        let result = result_of(&request::post(&format!("{}/mcp", product.url), &request)?)?;
        bytes.push(result.to_string().len());
        texts.push(result.to_string());
        texts.push(words_of(&result["structuredContent"]));
    }
    let tokens = programs.count_tokens(&texts)?;
    let mut rows = vec![];
    for ((ask, bytes), tokens) in asks.iter().zip(bytes).zip(tokens.chunks(2)) {
        let own = tokens[0] - tokens[1];
        if let Some(most) = ask.tokens_max.filter(|most| own > *most) {
            bail!("{} costs {own} tokens; at most {most}", ask.name);
        }
        rows.push(vec![
            ask.name.to_owned(),
            bytes.to_string(),
            tokens[0].to_string(),
            own.to_string(),
            ask.tokens_max.map_or("-".to_owned(), |it| it.to_string()),
        ]);
    }
    let header = ["answer", "bytes", "tokens", "beyond words", "at most"];
    Ok(ui::table(&header, &rows))
}

/// Returns what agents said in an answer.
fn words_of(data: &Value) -> String {
    let messages = data["messages"].as_array().into_iter().flatten();
    let said = messages.filter(|message| message["kind"] == "agent");
    said.filter_map(|message| message["text"].as_str())
        .collect()
}

fn result_of(answer: &str) -> Result<Value> {
    let mut answer: Value = serde_json::from_str(answer).context("reading the answer")?;
    let result = answer["result"].take();
    if result.is_null() || result["isError"] == true {
        bail!("the server refused: {answer}{result}");
    }
    Ok(result)
}
