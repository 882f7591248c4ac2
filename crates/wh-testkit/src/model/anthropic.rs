//! Anthropic's Messages.

use serde_json::{Value, json};

use super::{
    Dialect, Frame,
    conversation::{Conversation, Reply, Tool},
    fresh, tokens,
};

/// The tool with which this family of agents finds the others.
const SEARCH: &str = "ToolSearch";

pub(super) const DIALECT: Dialect = Dialect {
    read,
    stream,
    whole,
};

fn read(request: &Value) -> Conversation {
    let loaded = request["messages"].to_string();
    let tools = request["tools"].as_array().into_iter().flatten();
    let names = |tool: &Value| {
        let name = tool["name"].as_str()?;
        // A deferred tool can be called once a search has named it.
        let found =
            loaded.contains(&json!({"type": "tool_reference", "tool_name": name}).to_string());
        (tool["defer_loading"] != true || found).then(|| name.to_owned())
    };
    let names: Vec<String> = tools.filter_map(names).collect();
    let format = [
        &request["output_config"]["format"]["schema"],
        &request["output_format"]["schema"],
    ];
    let mut conversation = Conversation {
        search: names.iter().find(|name| *name == SEARCH).cloned(),
        schema: format.into_iter().find(|it| it.is_object()).cloned(),
        ..Conversation::default()
    };
    let tool = |name| Tool {
        name,
        ..Tool::default()
    };
    conversation.tools = names.into_iter().map(tool).collect();
    for message in request["messages"].as_array().into_iter().flatten() {
        let content = &message["content"];
        let parts = || content.as_array().into_iter().flatten();
        match message["role"].as_str() {
            Some("assistant") => {
                let call = parts().find(|part| part["type"] == "tool_use");
                conversation.answered(call.and_then(|call| call["name"].as_str()));
            }
            Some("user") => {
                let texts = parts().filter_map(|part| part["text"].as_str());
                conversation.human(content.as_str().into_iter().chain(texts));
            }
            // What the agent tells the model in between.
            _ => {}
        }
    }
    conversation
}

fn block(reply: &Reply) -> Value {
    let (name, input) = match reply {
        Reply::Words(_) => return json!({"type": "text", "text": ""}),
        Reply::Call { tool, args } => (&tool.name, args.clone()),
        Reply::Search { with, query } => (with, json!({"query": format!("select:{query}")})),
    };
    json!({"type": "tool_use", "id": fresh("toolu_"), "name": name, "input": input})
}

fn stop_reason(reply: &Reply) -> &'static str {
    match reply {
        Reply::Words(_) => "end_turn",
        _ => "tool_use",
    }
}

fn usage() -> Value {
    json!({"input_tokens": tokens::INPUT, "cache_read_input_tokens": tokens::CACHED,
        "cache_creation_input_tokens": 0, "output_tokens": tokens::OUTPUT})
}

fn whole(reply: &Reply, request: &Value) -> Value {
    let mut block = block(reply);
    if let Reply::Words(words) = reply {
        block["text"] = words.whole().into();
    }
    json!({"id": fresh("msg_"), "type": "message", "role": "assistant", "model": request["model"],
        "content": [block], "stop_reason": stop_reason(reply), "stop_sequence": null, "usage": usage()})
}

fn stream(reply: &Reply, request: &Value) -> Vec<Frame> {
    let event = |data: Value| Frame::event(data["type"].as_str().unwrap_or_default(), &data);
    let delta =
        |delta: Value| event(json!({"type": "content_block_delta", "index": 0, "delta": delta}));
    let message = json!({"id": fresh("msg_"), "type": "message", "role": "assistant", "model": request["model"],
        "content": [], "stop_reason": null, "stop_sequence": null, "usage": usage()});
    let mut start = block(reply);
    let mut deltas = Vec::new();
    match reply {
        Reply::Words(words) => {
            for (wait, text) in words.pieces() {
                deltas.push(delta(json!({"type": "text_delta", "text": text})).after(wait));
            }
        }
        Reply::Call { .. } | Reply::Search { .. } => {
            let input = std::mem::replace(&mut start["input"], json!({})).to_string();
            deltas.push(delta(
                json!({"type": "input_json_delta", "partial_json": input}),
            ));
        }
    }
    let mut frames = vec![
        event(json!({"type": "message_start", "message": message})),
        event(json!({"type": "content_block_start", "index": 0, "content_block": start})),
    ];
    frames.extend(deltas);
    let stop = json!({"stop_reason": stop_reason(reply), "stop_sequence": null});
    frames.push(event(json!({"type": "content_block_stop", "index": 0})));
    frames.push(event(
        json!({"type": "message_delta", "delta": stop, "usage": usage()}),
    ));
    frames.push(event(json!({"type": "message_stop"})));
    frames
}
