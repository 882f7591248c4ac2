//! How answers and refusals look. A contract chooses; one with a shape of its own adds it here.

use rmcp::model::{CallToolResult, ContentBlock};
use wh_app::AppError;

use super::tool::Written;
use crate::{error::tool_error, transport::structured};

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
pub(crate) fn error_line(_tool: &str, error: &AppError) -> CallToolResult {
    tool_error(error)
}
