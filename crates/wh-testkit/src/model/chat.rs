//! OpenAI's Chat Completions, which many other models speak too.

use serde_json::{Value, json};

use super::{
    Dialect, Frame,
    conversation::{Conversation, Reply, Tool},
    fresh, tokens,
};

pub(super) const DIALECT: Dialect = Dialect {
    read,
    stream,
    whole,
};

fn read(request: &Value) -> Conversation {
    let schema = &request["response_format"]["json_schema"]["schema"];
    let tools = request["tools"].as_array().into_iter().flatten();
    let tool = |tool: &Value| {
        let name = tool["function"]["name"].as_str()?.to_owned();
        Some(Tool {
            name,
            ..Tool::default()
        })
    };
    let mut conversation = Conversation {
        schema: schema.is_object().then(|| schema.clone()),
        tools: tools.filter_map(tool).collect(),
        ..Conversation::default()
    };
    for message in request["messages"].as_array().into_iter().flatten() {
        match message["role"].as_str() {
            Some("user") => {
                let content = &message["content"];
                let parts = content.as_array().into_iter().flatten();
                let parts = parts.filter_map(|part| part["text"].as_str());
                conversation.human(content.as_str().into_iter().chain(parts));
            }
            Some("assistant") => {
                conversation.answered(message["tool_calls"][0]["function"]["name"].as_str());
            }
            _ => {}
        }
    }
    conversation
}

fn tool_call(reply: &Reply) -> Option<Value> {
    match reply {
        Reply::Call { tool, args } => {
            Some(json!({"index": 0, "id": fresh("call_"), "type": "function",
            "function": {"name": tool.name, "arguments": args.to_string()}}))
        }
        Reply::Words(_) | Reply::Search { .. } => None,
    }
}

fn usage() -> Value {
    let input = tokens::INPUT + tokens::CACHED;
    json!({"prompt_tokens": input, "prompt_tokens_details": {"cached_tokens": tokens::CACHED},
        "completion_tokens": tokens::OUTPUT, "total_tokens": input + tokens::OUTPUT})
}

fn finish_reason(reply: &Reply) -> &'static str {
    match reply {
        Reply::Words(_) => "stop",
        _ => "tool_calls",
    }
}

fn whole(reply: &Reply, request: &Value) -> Value {
    let mut message = json!({"role": "assistant", "content": null});
    if let Reply::Words(words) = reply {
        message["content"] = words.whole().into();
    }
    if let Some(call) = tool_call(reply) {
        message["tool_calls"] = json!([call]);
    }
    let choice = json!({"index": 0, "message": message, "finish_reason": finish_reason(reply)});
    json!({"id": fresh("chat_"), "object": "chat.completion", "created": 1_780_000_000,
        "model": request["model"], "choices": [choice], "usage": usage()})
}

fn stream(reply: &Reply, request: &Value) -> Vec<Frame> {
    let id = fresh("chat_");
    let chunk = |choices: Value, usage: Value| {
        Frame::data(
            &json!({"id": id, "object": "chat.completion.chunk", "created": 1_780_000_000,
            "model": request["model"], "choices": choices, "usage": usage}),
        )
    };
    let delta = |delta: Value, finish: Value| {
        let choice = json!({"index": 0, "delta": delta, "finish_reason": finish});
        chunk(json!([choice]), Value::Null)
    };
    let mut frames = vec![delta(
        json!({"role": "assistant", "content": ""}),
        Value::Null,
    )];
    if let Reply::Words(words) = reply {
        for (wait, text) in words.pieces() {
            frames.push(delta(json!({"content": text}), Value::Null).after(wait));
        }
    }
    if let Some(call) = tool_call(reply) {
        frames.push(delta(json!({"tool_calls": [call]}), Value::Null));
    }
    frames.push(delta(json!({}), finish_reason(reply).into()));
    frames.push(chunk(json!([]), usage()));
    frames.push(Frame::raw("data: [DONE]\n\n".to_owned()));
    frames
}
