//! How a refusal or failure looks to an MCP client.

use rmcp::model::{CallToolResult, ContentBlock};
use wh_api::{ErrorBody, ErrorView};
use wh_app::AppError;

/// Shows an error the way every surface does.
pub(crate) fn error_body(error: &AppError) -> ErrorBody {
    ErrorBody {
        error: ErrorView {
            code: error.code.as_str().to_owned(),
            message: error.message.clone(),
            hint: error.hint.clone(),
            details: error.details.clone(),
        },
    }
}

/// Returns the result of a tool call that was refused or failed: one readable line, and the same as data.
pub(crate) fn tool_error(error: &AppError) -> CallToolResult {
    let mut result = CallToolResult::error(vec![ContentBlock::text(error_line(error))]);
    result.structured_content = serde_json::to_value(error_body(error)).ok();
    result
}

/// Returns one line: the code, what is wrong, and what to do.
pub(crate) fn error_line(error: &AppError) -> String {
    let mut line = format!("{}: {}", error.code.as_str(), error.message);
    if let Some(hint) = &error.hint {
        line.push_str(" (");
        line.push_str(hint);
        line.push(')');
    }
    line
}
