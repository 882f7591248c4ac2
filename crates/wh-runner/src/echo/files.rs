//! Files that come with a prompt, as the echo agent tells of them.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::Value;

use crate::acp::prompt::mentioned;

/// Names each file of a prompt, with how it came and how much is in it.
pub(super) fn lines(params: &Value) -> String {
    let blocks = params["prompt"].as_array().map_or(&[][..], Vec::as_slice);
    let lines: Vec<String> = blocks.iter().filter_map(line).collect();
    match lines.is_empty() {
        true => "no files\n".to_owned(),
        false => lines.concat(),
    }
}

/// Tells whether a block is about a file, though it is text.
pub(super) fn is_mention(block: &Value) -> bool {
    block["text"].as_str().and_then(mentioned).is_some()
}

fn line(block: &Value) -> Option<String> {
    let kind = block["type"].as_str()?;
    let (about, bytes) = match kind {
        "image" => {
            let data = STANDARD.decode(block["data"].as_str()?).ok()?;
            (block, data.len())
        }
        "resource" => (
            &block["resource"],
            block["resource"]["text"].as_str()?.len(),
        ),
        "text" => {
            let (about, path) = mentioned(block["text"].as_str()?)?;
            let bytes = std::fs::metadata(path).ok()?.len();
            return Some(format!("path {about} {bytes} bytes\n"));
        }
        _ => return None,
    };
    let name = about["uri"].as_str()?.rsplit('/').next()?;
    let media_type = about["mimeType"].as_str()?;
    Some(format!("{kind} {name} {media_type} {bytes} bytes\n"))
}
