//! How a refusal or failure looks to an MCP client: advice names tools and their arguments.

use std::borrow::Cow;

use rmcp::{
    ErrorData,
    model::{CallToolResult, ContentBlock},
};
use wh_api::{ErrorBody, ErrorView};
use wh_app::{AppError, Reason, RequestReason};
use wh_domain::{Advice, ArgumentValue, ErrorCode};

use crate::tools::CATALOGUE;

/// Renders an error for a client of our own tools.
pub(crate) fn error_view(error: &AppError) -> ErrorView {
    let own = in_discovery(&error.reason).map(Cow::Borrowed);
    let rendered = error.hint.iter().filter_map(rendered);
    let hint = match own {
        Some(own) => Advice::join([own]),
        None => Advice::join(rendered),
    };
    view(error, hint)
}

/// Returns an error with a hint that is rendered already.
pub(crate) fn view(error: &AppError, hint: Option<String>) -> ErrorView {
    ErrorView {
        code: error.code().as_str().to_owned(),
        message: error.to_string(),
        hint,
        advice: Vec::new(),
        details: error.details.clone(),
    }
}

/// Returns the advice that names a tool of ours which is no operation.
fn in_discovery(reason: &Reason) -> Option<&'static str> {
    match reason {
        Reason::Request(RequestReason::UnknownTool) => {
            Some("to list the tools you may call, call tool_search")
        }
        Reason::Request(RequestReason::Arguments { .. }) => {
            Some("to see the tool's input schema, call tool_search")
        }
        _ => None,
    }
}

/// Renders advice; `None` if there is no tool for it.
fn rendered(advice: &Advice) -> Option<Cow<'_, str>> {
    match advice {
        Advice::Call(suggestion) => {
            let tool = CATALOGUE.get(suggestion.operation.name())?;
            let arguments = suggestion.arguments.iter().copied();
            Some(call(&suggestion.purpose, tool.name(), arguments).into())
        }
        Advice::Argument {
            name,
            value,
            purpose,
        } => Some(argument(purpose, name, *value).into()),
        advice => Some(advice.text()),
    }
}

/// Renders the advice to call a tool.
pub(crate) fn call<'a>(
    purpose: &str,
    tool: &str,
    arguments: impl IntoIterator<Item = (&'a str, ArgumentValue)>,
) -> String {
    let arguments = arguments.into_iter();
    let arguments: Vec<_> = arguments
        .map(|(name, value)| format!("\"{name}\": {}", json(value)))
        .collect();
    match arguments.is_empty() {
        true => format!("to {purpose}, call {tool}"),
        false => format!("to {purpose}, call {tool} {{{}}}", arguments.join(", ")),
    }
}

/// Renders the advice to repeat the call with or without an argument.
pub(crate) fn argument(purpose: &str, name: &str, value: Option<ArgumentValue>) -> String {
    match value {
        Some(value) => format!("to {purpose}, set {name} to {}", json(value)),
        None => format!("to {purpose}, omit {name}"),
    }
}

/// Writes a value as JSON, and a placeholder as it is.
fn json(value: ArgumentValue) -> String {
    match value {
        ArgumentValue::Flag(value) => value.to_string(),
        ArgumentValue::Text(text) => format!("\"{text}\""),
        ArgumentValue::Placeholder(name) => name.to_owned(),
        ArgumentValue::Placeholders(name) => format!("[{name}]"),
    }
}

/// Why a request that is not a call was refused: by the application, or by the protocol.
pub(crate) enum Refused {
    App(AppError),
    Protocol(ErrorData),
}

impl From<AppError> for Refused {
    fn from(error: AppError) -> Self {
        Self::App(error)
    }
}

impl From<ErrorData> for Refused {
    fn from(error: ErrorData) -> Self {
        Self::Protocol(error)
    }
}

impl Refused {
    /// Returns the error of the protocol, with the application's errors as `view` renders them.
    pub(crate) fn into_data(self, view: impl FnOnce(&AppError) -> ErrorView) -> ErrorData {
        match self {
            Self::App(error) => protocol_error(view(&error)),
            Self::Protocol(error) => error,
        }
    }
}

/// Shows a refusal where the protocol has no result to carry it.
pub(crate) fn protocol_error(error: ErrorView) -> ErrorData {
    let line = error_line(&error);
    let is_ours = ErrorCode::parse(&error.code).is_some_and(ErrorCode::is_ours);
    let data = serde_json::to_value(ErrorBody { error }).ok();
    match is_ours {
        true => ErrorData::internal_error(line, data),
        false => ErrorData::invalid_params(line, data),
    }
}

/// Returns the result of a tool call that was refused or failed.
pub(crate) fn tool_error(error: &AppError) -> CallToolResult {
    tool_refusal(error_view(error))
}

/// Returns one readable line, and the same as data.
pub(crate) fn tool_refusal(error: ErrorView) -> CallToolResult {
    let mut result = CallToolResult::error(vec![ContentBlock::text(error_line(&error))]);
    result.structured_content = serde_json::to_value(ErrorBody { error }).ok();
    result
}

/// Returns one line: the code, what is wrong, and what to do.
pub(crate) fn error_line(error: &ErrorView) -> String {
    let mut line = format!("{}: {}", error.code, error.message);
    if let Some(hint) = &error.hint {
        line.push_str(" (");
        line.push_str(hint);
        line.push(')');
    }
    line
}

#[cfg(test)]
#[path = "error_tests.rs"]
mod tests;
