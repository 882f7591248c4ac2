//! Tools that answer by themselves: content of every kind, notifications, list changes.

use std::time::Duration;

use rmcp::{
    ErrorData, RoleServer,
    model::{
        AudioContent, CallToolRequestParams, CallToolResult, ClientCapabilities, ContentBlock,
        LoggingLevel, LoggingMessageNotificationParam, ProgressNotificationParam, ResourceContents,
        Tool,
    },
    service::RequestContext,
};
use serde_json::{Value, json};

use crate::handler::Fixtures;

/// One red pixel.
pub(crate) const PNG: &str = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
/// A sound file without samples.
const WAV: &str = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA=";
/// Long enough apart for a client to see separate notifications.
const STEP: Duration = Duration::from_millis(50);

/// Tools without arguments.
const PLAIN: &[(&str, &str)] = &[
    ("test_simple_text", "Answers with text."),
    ("test_image_content", "Answers with an image."),
    ("test_audio_content", "Answers with audio."),
    ("test_embedded_resource", "Answers with a resource."),
    (
        "test_multiple_content_types",
        "Answers with text, image and resource.",
    ),
    ("test_tool_with_logging", "Logs while it works."),
    ("test_error_handling", "Fails."),
    ("test_tool_with_progress", "Reports progress."),
    ("test_reconnection", "Answers after a while."),
    ("test_trigger_tool_change", "Announces a changed tool list."),
    (
        "test_trigger_prompt_change",
        "Announces a changed prompt list.",
    ),
    ("test_missing_capability", "Needs a client that can sample."),
    ("test_logging_tool", "Logs if the request asks for it."),
];

pub(crate) fn list() -> Vec<Tool> {
    let mut tools: Vec<_> = PLAIN
        .iter()
        .map(|(name, description)| tool(name, description, json!({"type": "object"})))
        .collect();
    tools.push(tool(
        "test_custom_header",
        "Has a parameter that is mirrored in a header.",
        json!({
            "type": "object",
            "properties": {"value": {"type": "string", "x-mcp-header": "Value"}},
            "required": ["value"],
        }),
    ));
    tools.push(tool(
        "json_schema_2020_12_tool",
        "Has a schema that uses JSON Schema 2020-12.",
        json_schema_2020_12(),
    ));
    tools
}

/// Builds a tool from a schema written as JSON.
pub(crate) fn tool(name: &'static str, description: &'static str, schema: Value) -> Tool {
    let Value::Object(schema) = schema else {
        unreachable!("schemas here are objects");
    };
    Tool::new(name, description, schema)
}

pub(crate) fn text(text: impl Into<String>) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(text)])
}

pub(crate) async fn call(
    fixtures: &Fixtures,
    call: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Result<CallToolResult, ErrorData> {
    Ok(match call.name.as_ref() {
        "test_simple_text" => text("This is a simple text response for testing."),
        "test_image_content" => {
            CallToolResult::success(vec![ContentBlock::image(PNG, "image/png")])
        }
        "test_audio_content" => CallToolResult::success(vec![ContentBlock::Audio(
            AudioContent::new(WAV, "audio/wav"),
        )]),
        "test_embedded_resource" => CallToolResult::success(vec![resource(
            "test://embedded-resource",
            "text/plain",
            "This is an embedded resource content.",
        )]),
        "test_multiple_content_types" => CallToolResult::success(vec![
            ContentBlock::text("Multiple content types test:"),
            ContentBlock::image(PNG, "image/png"),
            resource(
                "test://mixed-content-resource",
                "application/json",
                r#"{"test":"data","value":123}"#,
            ),
        ]),
        "test_tool_with_logging" => {
            for line in [
                "Tool execution started",
                "Tool processing data",
                "Tool execution completed",
            ] {
                log(context, LoggingLevel::Info, line).await;
                tokio::time::sleep(STEP).await;
            }
            text("Logged three lines.")
        }
        "test_logging_tool" => {
            if let Some(level) = context.meta.log_level() {
                log(context, level, "The request asked for this.").await;
            }
            text("Logged if asked to.")
        }
        "test_error_handling" => CallToolResult::error(vec![ContentBlock::text(
            "This tool intentionally returns an error for testing",
        )]),
        "test_tool_with_progress" => progress(context).await,
        "test_reconnection" => {
            tokio::time::sleep(2 * STEP).await;
            text("Reconnection test completed successfully.")
        }
        "test_trigger_tool_change" => {
            for sink in fixtures.sinks() {
                report(sink.notify_tool_list_changed().await);
            }
            text("Announced.")
        }
        "test_trigger_prompt_change" => {
            for sink in fixtures.sinks() {
                report(sink.notify_prompt_list_changed().await);
            }
            text("Announced.")
        }
        "test_missing_capability" => {
            let declared = context.meta.client_capabilities().unwrap_or_default();
            if declared.sampling.is_none() {
                return Err(ErrorData::missing_required_client_capability(
                    ClientCapabilities::builder().enable_sampling().build(),
                ));
            }
            text("The client can sample.")
        }
        "test_custom_header" => text(string_argument(call, "value").unwrap_or_default()),
        "json_schema_2020_12_tool" => text(format!("Called with {:?}.", call.arguments)),
        unknown => {
            return Err(ErrorData::invalid_params(
                format!("there is no tool {unknown:?}"),
                None,
            ));
        }
    })
}

pub(crate) fn string_argument(call: &CallToolRequestParams, name: &str) -> Option<String> {
    let value = call.arguments.as_ref()?.get(name)?;
    value.as_str().map(ToOwned::to_owned)
}

fn resource(uri: &str, mime_type: &str, text: &str) -> ContentBlock {
    ContentBlock::resource(ResourceContents::TextResourceContents {
        uri: uri.into(),
        mime_type: Some(mime_type.into()),
        text: text.into(),
        meta: None,
    })
}

async fn log(context: &RequestContext<RoleServer>, level: LoggingLevel, line: &str) {
    let message = LoggingMessageNotificationParam::new(level, json!(line)).with_logger("fixtures");
    report(context.peer.notify_logging_message(message).await);
}

async fn progress(context: &RequestContext<RoleServer>) -> CallToolResult {
    let Some(token) = context.meta.get_progress_token() else {
        return text("Nobody asked for progress.");
    };
    for done in [0.0, 50.0, 100.0] {
        let step = ProgressNotificationParam::new(token.clone(), done)
            .with_total(100.0)
            .with_message(format!("Completed step {done} of 100"));
        report(context.peer.notify_progress(step).await);
        tokio::time::sleep(STEP).await;
    }
    text("Reported progress.")
}

/// A client that has gone away misses its notification; the suite will say so.
fn report<E: std::fmt::Display>(sent: Result<(), E>) {
    if let Err(error) = sent {
        tracing::warn!(%error, "a notification could not be sent");
    }
}

fn json_schema_2020_12() -> Value {
    json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "address",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            },
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
        },
        "allOf": [{"anyOf": [{"required": ["name"]}, {"required": ["address"]}]}],
        "if": {"required": ["address"]},
        "then": {"properties": {"address": {"required": ["street"]}}},
        "else": {"required": ["name"]},
        "additionalProperties": false,
    })
}
