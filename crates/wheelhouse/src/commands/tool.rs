//! `wheelhouse tool`: the MCP tools, from a shell.

use std::io::Read;

use clap::{Args, Subcommand};
use serde_json::{Map, Value, json};
use wh_api::ErrorBody;

use crate::bridge::McpCaller;
use crate::context::Context;
use crate::exit::{CliError, CliResult};
use crate::ui::{Table, Ui};

/// The most bytes of arguments; the server takes no more in one message.
const ARGUMENT_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// List and call the MCP tools of the server
#[derive(Debug, Subcommand)]
#[command(after_help = "\
Examples:
  wheelhouse tool list
  wheelhouse tool call board_create '{\"name\": \"Sprint\"}'
  wheelhouse tool call board_create @arguments.json
  echo '{}' | wheelhouse tool call board_list -")]
pub(crate) enum ToolCommand {
    /// List every tool you may call
    List,
    /// Call a tool and print its answer
    Call(CallArgs),
}

#[derive(Debug, Args)]
pub(crate) struct CallArgs {
    /// The tool, such as board_list
    name: String,
    /// Its arguments: a JSON object, @FILE, or - for standard input; none unless given
    #[arg(value_name = "JSON")]
    arguments: Option<String>,
}

pub(crate) async fn run(cx: &Context, command: ToolCommand) -> CliResult {
    match command {
        ToolCommand::List => list(cx).await,
        ToolCommand::Call(args) => {
            let arguments = arguments(args.arguments.as_deref())?;
            let mut caller = McpCaller::open(&cx.client()?).await?;
            let params = json!({ "name": args.name, "arguments": arguments });
            let result = caller.request("tools/call", params).await?;
            answer(cx, &result)
        }
    }
}

async fn list(cx: &Context) -> CliResult {
    let mut caller = McpCaller::open(&cx.client()?).await?;
    let mut tools = Vec::new();
    let mut params = json!({});
    loop {
        let page = caller.request("tools/list", params).await?;
        tools.extend(page["tools"].as_array().cloned().unwrap_or_default());
        match page["nextCursor"].as_str() {
            Some(cursor) => params = json!({ "cursor": cursor }),
            None => break,
        }
    }
    cx.ui
        .answer(&json!({ "tools": tools }), |ui| table(ui, &tools))
}

fn table(ui: &Ui, tools: &[Value]) -> CliResult {
    let mut table = Table::new(&["TOOL", "CHANGES", "ABOUT"]);
    for tool in tools {
        let about = tool["description"].as_str().unwrap_or_default();
        let about = about.split(". ").next().unwrap_or_default();
        let reads = tool["annotations"]["readOnlyHint"].as_bool() == Some(true);
        let changes = if reads { "-" } else { "yes" };
        table.row([tool["name"].as_str().unwrap_or_default(), changes, about]);
    }
    ui.table(&table, "no tools that you may call")
}

/// Prints the structured answer; a refusal is an error like any other.
fn answer(cx: &Context, result: &Value) -> CliResult {
    let structured = &result["structuredContent"];
    if result["isError"].as_bool() == Some(true) {
        if let Ok(body) = serde_json::from_value::<ErrorBody>(structured.clone()) {
            return Err(body.error.into());
        }
        return Err(CliError::failed(text_of(result)));
    }
    let shown = if structured.is_null() {
        result
    } else {
        structured
    };
    cx.ui.answer(shown, |ui| {
        let text = serde_json::to_string_pretty(shown).unwrap_or_default();
        for line in text.lines() {
            ui.line(line)?;
        }
        Ok(())
    })
}

fn text_of(result: &Value) -> String {
    let content = result["content"].as_array();
    let texts = content
        .into_iter()
        .flatten()
        .filter_map(|part| part["text"].as_str());
    texts.collect::<Vec<_>>().join(" ")
}

fn arguments(given: Option<&str>) -> CliResult<Map<String, Value>> {
    let text = match given {
        None => return Ok(Map::new()),
        Some("-") => read(std::io::stdin().lock(), "standard input")?,
        Some(text) => match text.strip_prefix('@') {
            Some(path) => {
                let file = std::fs::File::open(path)
                    .map_err(|error| CliError::usage(format!("cannot read {path}: {error}")))?;
                read(file, path)?
            }
            None => text.to_owned(),
        },
    };
    let refuse = |why: String| {
        CliError::usage(format!("the arguments are not a JSON object: {why}"))
            .hint("quote them for the shell, as in '{\"name\": \"Sprint\"}'")
    };
    match serde_json::from_str(&text) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(_) => Err(refuse("they are another kind of value".to_owned())),
        Err(error) => Err(refuse(error.to_string())),
    }
}

fn read(source: impl Read, name: &str) -> CliResult<String> {
    let mut text = String::new();
    source
        .take(ARGUMENT_BYTES_MAX)
        .read_to_string(&mut text)
        .map_err(|error| CliError::usage(format!("cannot read {name}: {error}")))?;
    Ok(text)
}
