//! How answers and refusals look. A contract chooses; one with a shape of its own adds it here.

use rmcp::model::{CallToolResult, ContentBlock};
use wh_api::ErrorView;

use super::tool::Written;
use crate::{error::tool_refusal, transport::structured};

/// To whom an answer is shown.
pub(crate) struct Shown<'a> {
    /// Whether the client's revision knows structured content.
    pub(crate) knows_structure: bool,
    pub(crate) extensions: &'a http::Extensions,
}

/// The data as JSON in a text, and beside it as structured content if it is an object, which older revisions insist on.
pub(crate) fn json_text(written: Written, shown: Shown<'_>) -> CallToolResult {
    let mut content = vec![ContentBlock::text(written.json.clone())];
    content.extend(written.note.map(ContentBlock::text));
    let mut result = CallToolResult::success(content);
    if shown.knows_structure && written.json.starts_with('{') {
        result.structured_content = structured(shown.extensions, written.json).ok();
    }
    result
}

/// One readable line marked as an error, and the same as data.
pub(crate) fn error_line(error: ErrorView, _knows_structure: bool) -> CallToolResult {
    tool_refusal(error)
}

/// The data as indented JSON in a text, and nothing beside it.
pub(crate) fn indented_text(written: Written, _shown: Shown<'_>) -> CallToolResult {
    let read = serde_json::from_str::<serde_json::Value>(&written.json);
    let indented = read.and_then(|value| serde_json::to_string_pretty(&value));
    let mut content = vec![ContentBlock::text(indented.unwrap_or(written.json))];
    content.extend(written.note.map(ContentBlock::text));
    CallToolResult::success(content)
}

/// `Error: ` and what is wrong, then what to do next in a text of its own; and code, message and details as data: as structured
/// content, and for a client of a revision without it as the last text.
pub(crate) fn error_text(error: ErrorView, knows_structure: bool) -> CallToolResult {
    let mut content = vec![ContentBlock::text(format!("Error: {}", error.message))];
    if let Some(hint) = error.hint {
        content.push(ContentBlock::text(hint));
    }
    let data = serde_json::json!({
        "error": {
            "code": error.code,
            "message": error.message,
            "details": error.details,
        },
    });
    if !knows_structure {
        content.push(ContentBlock::text(data.to_string()));
        return CallToolResult::error(content);
    }
    let mut result = CallToolResult::error(content);
    result.structured_content = Some(data);
    result
}

/// The words of an answer that is nothing but words.
pub(crate) fn plain_text(written: Written, _shown: Shown<'_>) -> CallToolResult {
    let words = serde_json::from_str(&written.json).unwrap_or(written.json);
    CallToolResult::success(vec![ContentBlock::text(words)])
}

/// `error: `, what is wrong and what to do, as an answer like any other: the contract has agents read it and try again.
pub(crate) fn error_words(error: ErrorView, _knows_structure: bool) -> CallToolResult {
    let hint = error
        .hint
        .map_or_else(String::new, |hint| format!(" ({hint})"));
    let words = format!("error: {}{hint}", error.message);
    CallToolResult::success(vec![ContentBlock::text(words)])
}
