//! Tools of the legacy revisions that ask the client something while they run.

use rmcp::{
    ErrorData, RoleServer,
    model::{
        CallToolRequestParams, CallToolResult, ContentBlock, CreateMessageRequestParams,
        ElicitRequestParams, SamplingMessage, Tool,
    },
    service::RequestContext,
};
use serde_json::{Value, json};

use crate::tools::{string_argument, text, tool};

pub(crate) fn list() -> Vec<Tool> {
    let asks = |argument: &str| {
        json!({
            "type": "object",
            "properties": {argument: {"type": "string"}},
            "required": [argument],
        })
    };
    vec![
        tool("test_sampling", "Asks the client's model.", asks("prompt")),
        tool("test_elicitation", "Asks the user.", asks("message")),
        tool(
            "test_elicitation_sep1034_defaults",
            "Asks the user and suggests answers.",
            json!({"type": "object"}),
        ),
        tool(
            "test_elicitation_sep1330_enums",
            "Asks the user to choose.",
            json!({"type": "object"}),
        ),
    ]
}

/// Runs the tool if it is one of these.
pub(crate) async fn call(
    call: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Option<Result<CallToolResult, ErrorData>> {
    let (question, schema) = match call.name.as_ref() {
        "test_sampling" => return Some(sample(call, context).await),
        "test_elicitation" => (
            string_argument(call, "message").unwrap_or_default(),
            json!({
                "username": {"type": "string", "description": "User's response"},
                "email": {"type": "string", "description": "User's email address"},
            }),
        ),
        "test_elicitation_sep1034_defaults" => ("Accept or change these.".into(), defaults()),
        "test_elicitation_sep1330_enums" => ("Choose.".into(), enums()),
        _ => return None,
    };
    Some(elicit(question, schema, context).await)
}

async fn sample(
    call: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResult, ErrorData> {
    let prompt = string_argument(call, "prompt").unwrap_or_default();
    let request = CreateMessageRequestParams::new(vec![SamplingMessage::user_text(prompt)], 100);
    Ok(match context.peer.create_message(request).await {
        Ok(answer) => text(format!("LLM response: {:?}", answer.message.content)),
        Err(error) => CallToolResult::error(vec![ContentBlock::text(error.to_string())]),
    })
}

async fn elicit(
    message: String,
    properties: Value,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResult, ErrorData> {
    let requested_schema =
        serde_json::from_value(json!({"type": "object", "properties": properties}))
            .map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    let request = ElicitRequestParams::FormElicitationParams {
        meta: None,
        message,
        requested_schema,
    };
    Ok(match context.peer.create_elicitation(request).await {
        Ok(answer) => text(format!(
            "User response: action={:?}, content={:?}",
            answer.action, answer.content
        )),
        Err(error) => CallToolResult::error(vec![ContentBlock::text(error.to_string())]),
    })
}

fn defaults() -> Value {
    json!({
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {
            "type": "string",
            "enum": ["active", "inactive", "pending"],
            "default": "active",
        },
        "verified": {"type": "boolean", "default": true},
    })
}

fn enums() -> Value {
    let titled = json!([
        {"const": "value1", "title": "First Option"},
        {"const": "value2", "title": "Second Option"},
        {"const": "value3", "title": "Third Option"},
    ]);
    let plain = json!(["option1", "option2", "option3"]);
    json!({
        "untitledSingle": {"type": "string", "enum": plain},
        "titledSingle": {"type": "string", "oneOf": titled},
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": plain}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled}},
    })
}
