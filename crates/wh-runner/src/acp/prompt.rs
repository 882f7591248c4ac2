//! A prompt in ACP's words.

use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use crate::{event::Capabilities, link::PromptPart};

/// The longest file whose text goes into the prompt itself; a longer one the agent reads where it lies.
const EMBEDDED_BYTES_MAX: usize = 64 << 10;

/// Returns the blocks of a prompt: its words, then each file in the best way that the agent says it takes.
pub(crate) fn blocks(text: &str, files: &[PromptPart], can: Capabilities) -> Vec<Value> {
    let mut blocks = vec![json!({"type": "text", "text": text})];
    blocks.extend(files.iter().map(|file| block(file, can)));
    blocks
}

fn block(file: &PromptPart, can: Capabilities) -> Value {
    let is_image = file.media_type.starts_with("image/");
    let is_text = file.media_type == "text/plain";
    let data = match (is_image && can.images) || (is_text && can.embedded) {
        true => std::fs::read(&file.path).unwrap_or_default(),
        false => Vec::new(),
    };
    let uri = file_uri(file);
    if is_image && !data.is_empty() {
        let data = STANDARD.encode(&data);
        return json!({"type": "image", "mimeType": file.media_type, "data": data, "uri": uri});
    }
    match String::from_utf8(data) {
        Ok(text) if !text.is_empty() && text.len() <= EMBEDDED_BYTES_MAX => {
            let resource = json!({"uri": uri, "mimeType": file.media_type, "text": text});
            json!({"type": "resource", "resource": resource})
        }
        _ => {
            json!({"type": "resource_link", "name": file.name, "uri": uri, "mimeType": file.media_type})
        }
    }
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
                &vec![b'x'; EMBEDDED_BYTES_MAX + 1],
            ),
            part("tool.bin", "application/octet-stream", b"\0"),
        ];
        let kinds = |can| {
            let blocks = blocks("look", &files, can);
            let kind = |block: &Value| block["type"].as_str().unwrap().to_owned();
            blocks.iter().map(kind).collect::<Vec<_>>()
        };
        let links = ["resource_link"; 4];
        assert_eq!(kinds(Capabilities::default())[1..], links);
        let can = Capabilities {
            images: true,
            embedded: true,
            ..Capabilities::default()
        };
        let best = [
            "text",
            "image",
            "resource",
            "resource_link",
            "resource_link",
        ];
        assert_eq!(kinds(can), best);
        let said = blocks("look", &files, can);
        assert_eq!(said[1]["data"], "cGl4ZWxz");
        assert!(said[1]["uri"].as_str().unwrap().ends_with("/a%20b.png"));
        assert_eq!(said[2]["resource"]["text"], "buy milk");
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
        assert_eq!(block(&file, can)["type"], "resource_link");
    }
}
