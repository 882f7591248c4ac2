//! Gemini's generateContent.

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
    let config = &request["generationConfig"];
    let schema = [&config["responseJsonSchema"], &config["responseSchema"]];
    let groups = request["tools"].as_array().into_iter().flatten();
    let tools = groups
        .filter_map(|group| group["functionDeclarations"].as_array())
        .flatten();
    let tool = |tool: &Value| {
        let name = tool["name"].as_str()?.to_owned();
        Some(Tool {
            name,
            ..Tool::default()
        })
    };
    let mut conversation = Conversation {
        schema: schema.into_iter().find(|it| it.is_object()).cloned(),
        tools: tools.filter_map(tool).collect(),
        ..Conversation::default()
    };
    for content in request["contents"].as_array().into_iter().flatten() {
        let parts = || content["parts"].as_array().into_iter().flatten();
        if content["role"] == "model" {
            let call = parts().find_map(|part| part["functionCall"]["name"].as_str());
            conversation.answered(call);
        } else {
            conversation.human(parts().filter_map(|part| part["text"].as_str()));
        }
    }
    conversation
}

fn chunk(request: &Value, parts: &[Value], finish: Option<&str>) -> Value {
    let mut candidate = json!({"index": 0, "content": {"role": "model", "parts": parts}});
    if let Some(finish) = finish {
        candidate["finishReason"] = json!(finish);
    }
    let input = tokens::INPUT + tokens::CACHED;
    let usage = json!({"promptTokenCount": input, "cachedContentTokenCount": tokens::CACHED,
        "candidatesTokenCount": tokens::OUTPUT, "totalTokenCount": input + tokens::OUTPUT});
    json!({"candidates": [candidate], "usageMetadata": usage, "responseId": fresh("r_"),
        "modelVersion": request["model"].as_str().unwrap_or("scripted")})
}

fn call(reply: &Reply) -> Option<Value> {
    match reply {
        Reply::Call { tool, args } => {
            Some(json!({"functionCall": {"id": fresh("call_"), "name": tool.name, "args": args}}))
        }
        Reply::Words(_) | Reply::Search { .. } => None,
    }
}

fn whole(reply: &Reply, request: &Value) -> Value {
    let part = match (reply, call(reply)) {
        (_, Some(call)) => call,
        (Reply::Words(words), _) => json!({"text": words.whole()}),
        (_, None) => json!({"text": ""}),
    };
    chunk(request, &[part], Some("STOP"))
}

fn stream(reply: &Reply, request: &Value) -> Vec<Frame> {
    let Reply::Words(words) = reply else {
        return vec![Frame::data(&whole(reply, request))];
    };
    let mut frames: Vec<Frame> = words
        .pieces()
        .into_iter()
        .map(|(wait, text)| {
            Frame::data(&chunk(request, &[json!({"text": text})], None)).after(wait)
        })
        .collect();
    frames.push(Frame::data(&chunk(
        request,
        &[json!({"text": ""})],
        Some("STOP"),
    )));
    frames
}
