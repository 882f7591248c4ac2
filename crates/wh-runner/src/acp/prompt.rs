//! A prompt in ACP's words.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use crate::{beneath::read_plain, event::Capabilities, link::PromptPart};

/// The longest file whose text goes into the prompt itself; a longer one the agent reads where it lies.
const EMBEDDED_BYTES_MAX: u64 = 64 << 10;

/// The largest image that is sent; more than a prompt can carry.
const IMAGE_BYTES_MAX: u64 = 64 << 20;

/// What stands between what a file is and where it lies.
const LIES_AT: &str = " that comes with this prompt is at ";

/// Returns the blocks of a prompt: its words, then each file in the best way that the agent says it takes. With `images_alone`
/// nothing is embedded beside an image.
pub(crate) fn blocks(
    text: &str,
    files: &[PromptPart],
    can: Capabilities,
    images_alone: bool,
) -> Vec<Value> {
    let mut blocks = vec![json!({"type": "text", "text": text})];
    let has_image = can.images && files.iter().any(is_image);
    let embedded = can.embedded && !(images_alone && has_image);
    let can = Capabilities { embedded, ..can };
    blocks.extend(files.iter().map(|file| block(file, can)));
    blocks
}

fn is_image(file: &PromptPart) -> bool {
    file.media_type.starts_with("image/")
}

fn block(file: &PromptPart, can: Capabilities) -> Value {
    if is_image(file) && can.images {
        let data = read_plain(&file.path, IMAGE_BYTES_MAX).unwrap_or_default();
        if !data.is_empty() {
            let (uri, data) = (file_uri(file), STANDARD.encode(&data));
            return json!({"type": "image", "mimeType": file.media_type, "data": data, "uri": uri});
        }
    }
    let about = mention(file);
    match short_text(file) {
        Some(text) if can.embedded => {
            let uri = file_uri(file);
            let resource = json!({"uri": uri, "mimeType": file.media_type, "text": text});
            json!({"type": "resource", "resource": resource})
        }
        Some(text) => json!({"type": "text", "text": format!("{about}\nIt says:\n{text}")}),
        None => json!({"type": "text", "text": about}),
    }
}

/// Returns what a file says, if that fits into a prompt.
fn short_text(file: &PromptPart) -> Option<String> {
    let is_text = file.media_type == "text/plain";
    let bytes = is_text.then(|| read_plain(&file.path, EMBEDDED_BYTES_MAX));
    let text = String::from_utf8(bytes.flatten()?).ok()?;
    Some(text).filter(|text| !text.is_empty())
}

/// Names a file that is not in the prompt itself. ACP has links for this, but agents take them for more than that: opencode fails a
/// turn over a type it does not know, and Gemini CLI stops to ask before its model was told anything.
fn mention(file: &PromptPart) -> String {
    let PromptPart {
        name, media_type, ..
    } = file;
    let path = file.path.display();
    format!("The file {name} ({media_type}){LIES_AT}{path}")
}

/// Returns what a block of text says of a file, and where that lies; nothing for any other text.
pub(crate) fn mentioned(text: &str) -> Option<(&str, &str)> {
    let line = text.lines().next()?;
    line.strip_prefix("The file ")?.split_once(LIES_AT)
}

/// Returns the address of a file, with everything but plain characters as `%XX`.
fn file_uri(file: &PromptPart) -> String {
    use std::{fmt::Write, os::unix::ffi::OsStrExt};
    let mut uri = "file://".to_owned();
    for &byte in file.path.as_os_str().as_bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'-' | b'_' | b'.' | b'~' => {
                uri.push(byte.into());
            }
            _ => write!(uri, "%{byte:02X}").unwrap_or_default(),
        }
    }
    uri
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_file_goes_the_best_way_the_agent_takes() {
        let dir = tempfile::tempdir().unwrap();
        let part = |name: &str, media_type: &str, data: &[u8]| {
            let path = dir.path().join(name);
            std::fs::write(&path, data).unwrap();
            PromptPart {
                name: name.to_owned(),
                media_type: media_type.to_owned(),
                path,
            }
        };
        let files = [
            part("a b.png", "image/png", b"pixels"),
            part("notes.txt", "text/plain", b"buy milk"),
            part(
                "long.txt",
                "text/plain",
                &vec![b'x'; EMBEDDED_BYTES_MAX as usize + 1],
            ),
            part("tool.bin", "application/octet-stream", b"\0"),
        ];
        let kinds = |can, images_alone| {
            let blocks = blocks("look", &files, can, images_alone);
            let kind = |block: &Value| block["type"].as_str().unwrap().to_owned();
            blocks.iter().map(kind).collect::<Vec<_>>()
        };
        let links = ["text"; 4];
        assert_eq!(kinds(Capabilities::default(), false)[1..], links);
        let can = Capabilities {
            images: true,
            embedded: true,
            ..Capabilities::default()
        };
        assert_eq!(
            kinds(can, false),
            ["text", "image", "resource", "text", "text"]
        );
        assert_eq!(kinds(can, true), ["text", "image", "text", "text", "text"]);
        let without_image = blocks("look", &files[1..], can, true);
        assert_eq!(without_image[1]["resource"]["text"], "buy milk");
        let said = blocks("look", &files, can, true);
        assert_eq!(said[1]["data"], "cGl4ZWxz");
        assert!(said[1]["uri"].as_str().unwrap().ends_with("/a%20b.png"));
        let notes = said[2]["text"].as_str().unwrap();
        assert!(notes.ends_with("\nIt says:\nbuy milk"), "{notes}");
        let path = dir.path().join("tool.bin");
        let path = path.to_str().unwrap();
        let about = ("tool.bin (application/octet-stream)", path);
        assert_eq!(mentioned(said[4]["text"].as_str().unwrap()), Some(about));
    }

    #[test]
    fn a_file_that_is_gone_is_still_named() {
        let file = PromptPart {
            name: "gone.png".to_owned(),
            media_type: "image/png".to_owned(),
            path: "/nowhere/gone.png".into(),
        };
        let can = Capabilities {
            images: true,
            ..Capabilities::default()
        };
        let said = block(&file, can);
        let said = said["text"].as_str().unwrap();
        assert!(said.ends_with("/nowhere/gone.png"), "{said}");
    }
}
