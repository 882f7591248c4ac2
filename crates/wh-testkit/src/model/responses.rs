//! OpenAI's Responses.

use serde_json::{Value, json};

use super::{
    Dialect, Frame,
    conversation::{Conversation, Reply, Tool},
    fresh, tokens,
};

/// How this protocol calls the search for deferred tools: a sort of item, not a tool with a name.
const SEARCH: &str = "tool_search";

pub(super) const DIALECT: Dialect = Dialect {
    read,
    stream,
    whole,
};

fn read(request: &Value) -> Conversation {
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let (declared, input) = (list(&request["tools"]), list(&request["input"]));
    let found = input
        .iter()
        .filter(|item| item["type"] == "tool_search_output");
    let found: Vec<Value> = found.flat_map(|item| list(&item["tools"])).collect();
    // What a search has found is loaded, though it is still marked as deferred.
    let at_once = declared.iter().filter(|tool| tool["defer_loading"] != true);
    let mut conversation = Conversation {
        search: declared
            .iter()
            .any(|tool| tool["type"] == SEARCH)
            .then(|| SEARCH.to_owned()),
        schema: Some(&request["text"]["format"]["schema"])
            .filter(|schema| schema.is_object())
            .cloned(),
        tools: at_once.chain(&found).flat_map(tools).collect(),
        ..Conversation::default()
    };
    for item in &input {
        match (item["type"].as_str(), item["role"].as_str()) {
            (Some("message") | None, Some("user")) => {
                let parts = item["content"].as_array().into_iter().flatten();
                let parts = parts.filter_map(|part| part["text"].as_str());
                conversation.human(item["content"].as_str().into_iter().chain(parts));
            }
            (Some("message") | None, Some("assistant")) => conversation.answered(None),
            (Some("function_call" | "custom_tool_call"), _) => {
                conversation.answered(item["name"].as_str());
            }
            (Some("tool_search_call"), _) => conversation.answered(Some(SEARCH)),
            _ => {}
        }
    }
    if let Some(text) = request["input"].as_str() {
        conversation.human(std::iter::once(text));
    }
    conversation
}

/// Returns the tools that one declaration stands for.
fn tools(declared: &Value) -> Vec<Tool> {
    let tool = |tool: &Value, namespace: Option<&str>| Tool {
        name: tool["name"].as_str().unwrap_or_default().to_owned(),
        namespace: namespace.map(str::to_owned),
        is_free: tool["type"] == "custom",
    };
    match (declared["type"].as_str(), declared["name"].as_str()) {
        (Some("namespace"), namespace) => {
            let inside = declared["tools"].as_array().into_iter().flatten();
            inside.map(|inner| tool(inner, namespace)).collect()
        }
        (Some("function" | "custom"), Some(_)) => vec![tool(declared, None)],
        _ => Vec::new(),
    }
}

/// Returns the one item that an answer consists of.
fn item(reply: &Reply) -> Value {
    match reply {
        Reply::Words(words) => {
            json!({"type": "message", "id": fresh("msg_"), "role": "assistant", "status": "completed",
            "content": [{"type": "output_text", "text": words.whole(), "annotations": []}]})
        }
        Reply::Call { tool, args } if tool.is_free => {
            json!({"type": "custom_tool_call", "id": fresh("ctc_"),
            "status": "completed", "call_id": fresh("call_"), "name": tool.name, "input": args["input"]})
        }
        Reply::Call { tool, args } => {
            let mut item = json!({"type": "function_call", "id": fresh("fc_"), "status": "completed",
                "call_id": fresh("call_"), "name": tool.name, "arguments": args.to_string()});
            if let Some(namespace) = &tool.namespace {
                item["namespace"] = json!(namespace);
            }
            item
        }
        // The search is by words, not by names.
        Reply::Search { query, .. } => {
            let words = json!({"query": query.replace('_', " "), "limit": 8});
            json!({"type": "tool_search_call", "id": fresh("ts_"), "call_id": fresh("call_"),
                "status": "completed", "execution": "client", "arguments": words})
        }
    }
}

fn response(request: &Value, status: &str, output: &[Value]) -> Value {
    let input = tokens::INPUT + tokens::CACHED;
    let usage = json!({"input_tokens": input, "input_tokens_details": {"cached_tokens": tokens::CACHED},
        "output_tokens": tokens::OUTPUT, "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": input + tokens::OUTPUT});
    json!({"id": fresh("resp_"), "object": "response", "created_at": 1_780_000_000, "status": status,
        "model": request["model"], "output": output, "usage": usage})
}

fn whole(reply: &Reply, request: &Value) -> Value {
    response(request, "completed", &[item(reply)])
}

fn stream(reply: &Reply, request: &Value) -> Vec<Frame> {
    let event = |mut data: Value, kind: &str| {
        data["type"] = json!(kind);
        Frame::event(kind, &data)
    };
    let item = item(reply);
    let mut begun = item.clone();
    if let Reply::Words(_) = reply {
        (begun["content"], begun["status"]) = (json!([]), json!("in_progress"));
    }
    let mut frames = vec![
        event(
            json!({"response": response(request, "in_progress", &[])}),
            "response.created",
        ),
        event(
            json!({"output_index": 0, "item": begun}),
            "response.output_item.added",
        ),
    ];
    if let Reply::Words(words) = reply {
        for (wait, text) in words.pieces() {
            let delta = json!({"item_id": item["id"], "output_index": 0, "content_index": 0, "delta": text});
            frames.push(event(delta, "response.output_text.delta").after(wait));
        }
    }
    frames.push(event(
        json!({"output_index": 0, "item": item}),
        "response.output_item.done",
    ));
    let response = response(request, "completed", &[item]);
    frames.push(event(json!({"response": response}), "response.completed"));
    frames
}
