//! Tools that reach the tools which are not listed: a caller's context window is the scarcest resource in this field.

use std::sync::Arc;

use rmcp::model::{JsonObject, Tool as ToolModel, ToolAnnotations};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use wh_app::{App, OpContext, RequestReason, Result};
use wh_domain::Principal;

use super::{Answer, CATALOGUE, Tool, json, read_arguments};
use crate::{
    schema::{answer_schema_of, schema_of},
    toolset::Toolset,
};

/// The most tools one search returns.
const FOUND_MAX: usize = 8;

/// What to look for.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ToolSearchRequest {
    /// Words from the tool's name or description, such as "revoke key"; all tools' names unless given.
    #[serde(default)]
    query: Option<String>,
}

/// Tools that fit, best first.
#[derive(Debug, Serialize, JsonSchema)]
struct ToolSearchView {
    tools: Vec<FoundTool>,
    /// Names of the others you may call.
    others: Vec<String>,
}

/// A tool and how to call it.
#[derive(Debug, Serialize, JsonSchema)]
struct FoundTool {
    name: String,
    description: String,
    input_schema: Value,
}

/// A tool to call.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ToolCallRequest {
    /// The tool's name, as tool_search returns it.
    name: String,
    /// Its arguments.
    #[serde(default)]
    arguments: JsonObject,
}

pub(super) fn tools() -> Vec<Tool> {
    let search = ToolModel::new(
        "tool_search",
        "Finds tools that are not listed (users, keys, settings, audit and more) and returns their schemas; call them with tool_call.",
        schema_of::<ToolSearchRequest>(),
    )
    .with_raw_output_schema(answer_schema_of::<ToolSearchView>())
    .with_annotations(ToolAnnotations::new().read_only(true).open_world(false));
    let call = ToolModel::new(
        "tool_call",
        "Calls any tool by name, listed or not, and returns what that tool returns.",
        schema_of::<ToolCallRequest>(),
    )
    .with_annotations(ToolAnnotations::new().read_only(false).open_world(false));
    vec![
        discovery(search, |_, cx, arguments| {
            Box::pin(std::future::ready(tool_search(&cx.principal, arguments)))
        }),
        discovery(call, |app, cx, arguments| {
            Box::pin(tool_call(app, cx, arguments))
        }),
    ]
}

fn discovery(
    model: ToolModel,
    handler: impl Fn(
        Arc<App>,
        OpContext,
        JsonObject,
    ) -> futures::future::BoxFuture<'static, Result<Answer>>
    + Send
    + Sync
    + 'static,
) -> Tool {
    Tool {
        operation: None,
        set: Toolset::Discovery,
        common_for_keys: true,
        common_for_sessions: true,
        common_for_leads: true,
        common_for_workers: true,
        model,
        model_for_agents: None,
        handler: Box::new(handler),
    }
}

fn tool_search(principal: &Principal, arguments: JsonObject) -> Result<Answer> {
    let request: ToolSearchRequest = read_arguments(arguments)?;
    let query = request.query.unwrap_or_default().to_lowercase();
    let words: Vec<_> = query
        .split(|c: char| !c.is_alphanumeric())
        .filter(|w| !w.is_empty())
        .collect();
    let allowed = CATALOGUE
        .values()
        .filter(|tool| tool.set != Toolset::Discovery && tool.is_allowed(principal));
    let mut scored: Vec<_> = allowed.map(|tool| (score(tool, &words), tool)).collect();
    // Stable: equal scores stay in the order of names.
    scored.sort_by_key(|(score, _)| std::cmp::Reverse(*score));
    let fits = scored
        .iter()
        .take_while(|(score, _)| *score > 0)
        .count()
        .min(FOUND_MAX);
    let (found, rest) = scored.split_at(fits);
    let mut others: Vec<_> = rest
        .iter()
        .map(|(_, tool)| tool.name().to_owned())
        .collect();
    others.sort();
    let view = ToolSearchView {
        tools: found
            .iter()
            .map(|(_, tool)| found_tool(tool, principal))
            .collect(),
        others,
    };
    let names: Vec<_> = view.tools.iter().map(|tool| tool.name.as_str()).collect();
    let line = match names.as_slice() {
        [] => "no tool fits those words; `others` names all there are".to_owned(),
        names => names.join(", "),
    };
    let data = json(&view)?;
    Ok(Answer { line, data })
}

/// Counts how well a tool fits: a word in its name counts more than one in its description.
fn score(tool: &Tool, words: &[&str]) -> usize {
    let description = tool
        .model()
        .description
        .as_deref()
        .unwrap_or_default()
        .to_lowercase();
    let fit = |word: &&str| match (tool.name().contains(*word), description.contains(*word)) {
        (true, _) => 4,
        (false, true) => 1,
        (false, false) => 0,
    };
    words.iter().map(fit).sum()
}

fn found_tool(tool: &Tool, principal: &Principal) -> FoundTool {
    FoundTool {
        name: tool.name().to_owned(),
        description: tool
            .model()
            .description
            .as_deref()
            .unwrap_or_default()
            .to_owned(),
        input_schema: Value::Object((*tool.model_for(principal).input_schema).clone()),
    }
}

async fn tool_call(app: Arc<App>, cx: OpContext, arguments: JsonObject) -> Result<Answer> {
    let request: ToolCallRequest = read_arguments(arguments)?;
    let found = CATALOGUE.get(request.name.as_str());
    match found.filter(|tool| tool.set != Toolset::Discovery) {
        Some(tool) => tool.call(app, cx, request.arguments).await,
        None => Err(RequestReason::UnknownTool.into()),
    }
}
