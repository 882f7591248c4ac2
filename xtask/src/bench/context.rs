//! Bytes of `tools/list` and of typical answers: what a caller's context window pays, per scope and toolset.

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::fixture::Programs;
use super::request::{self, McpRequest};
use crate::ui;
use crate::workspace::Workspace;

const SESSIONS: u32 = 100;
const SCOPES: [&str; 4] = ["full", "read", "client", "session"];
const TOOLSETS: [&str; 7] = [
    "default",
    "all",
    "session",
    "board",
    "repo",
    "admin",
    "discovery",
];

/// About how many bytes of JSON make a token. An estimate: no tokenizer is built for this.
const BYTES_PER_TOKEN: usize = 4;

pub(super) fn run(_workspace: &Workspace, programs: &Programs) -> Result<String> {
    let seeded = programs.seed("context", SESSIONS, 0)?;
    let product = programs.serve(&seeded.dir)?;
    let mut lists = vec![];
    for scope in SCOPES {
        for toolset in TOOLSETS {
            let request = McpRequest::new("tools/list", json!({})).with_key(seeded.key_of(scope)?);
            let url = format!("{}/mcp?toolsets={toolset}", product.url);
            let result = result_of(&request::post(&url, &request)?)?;
            let tools = result["tools"]
                .as_array()
                .context("tools/list lists none")?;
            // A client shows its model the tools and their inputs; schemas of answers are for the client itself.
            let shown: usize = tools.iter().map(shown_bytes).sum();
            lists.push(vec![
                format!("{scope}, {toolset}"),
                tools.len().to_string(),
                result.to_string().len().to_string(),
                shown.to_string(),
                tokens(shown),
            ]);
        }
    }
    let calls = [
        ("board_get", json!({"board": seeded.board()?})),
        ("board_list", json!({})),
        ("session_list of 50", json!({"limit": 50})),
        ("session_list of 10", json!({"limit": 10})),
        ("audit_list of 50", json!({"limit": 50})),
        ("tool_search", json!({"query": "board"})),
    ];
    let mut answers = vec![];
    for (name, arguments) in calls {
        let tool = name.split(' ').next().unwrap_or(name);
        let request = McpRequest::tool(tool, &arguments).with_key(seeded.key()?);
        let url = format!("{}/mcp", product.url);
        let result = result_of(&request::post(&url, &request)?)?;
        let shown = result["structuredContent"].to_string().len();
        answers.push(vec![
            name.to_owned(),
            String::new(),
            result.to_string().len().to_string(),
            shown.to_string(),
            tokens(shown),
        ]);
    }
    let lists = ui::table(
        &[
            "tools/list",
            "tools",
            "bytes",
            "name+description+input",
            "tokens (bytes/4)",
        ],
        &lists,
    );
    let answers = ui::table(
        &["answer", "", "bytes", "data alone", "tokens (bytes/4)"],
        &answers,
    );
    Ok(format!("{lists}\n\n{answers}"))
}

fn shown_bytes(tool: &Value) -> usize {
    ["name", "description", "inputSchema"]
        .iter()
        .map(|part| tool[part].to_string().len())
        .sum()
}

fn tokens(bytes: usize) -> String {
    bytes.div_ceil(BYTES_PER_TOKEN).to_string()
}

fn result_of(answer: &str) -> Result<Value> {
    let mut answer: Value = serde_json::from_str(answer).context("reading the answer")?;
    let result = answer["result"].take();
    if result.is_null() || result["isError"] == true {
        anyhow::bail!("the server refused: {answer}{result}");
    }
    Ok(result)
}
