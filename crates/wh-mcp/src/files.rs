//! Files of worktrees as resources: `wheelhouse://worktree/{id}/files/{path}`.

use std::path::Path;

use base64::{Engine, engine::general_purpose::STANDARD};
use rmcp::model::ResourceContents;
use wh_app::{App, OpContext, Result};
use wh_domain::{Reference, WorktreeFile};

/// Reads what lies at a path: text as text, other bytes as base64, a directory as a list of addresses below it.
pub(crate) async fn read(
    app: &App,
    cx: &OpContext,
    worktree: &Reference,
    path: &Path,
    uri: &str,
) -> Result<ResourceContents> {
    let file = app.worktree_file(cx, worktree, path).await?;
    Ok(match file {
        WorktreeFile::File {
            bytes, truncated, ..
        } => contents(bytes, truncated, uri),
        WorktreeFile::Link { target } => {
            ResourceContents::text(target, uri).with_mime_type("inode/symlink")
        }
        WorktreeFile::Directory { names, .. } => {
            ResourceContents::text(names.join("\n"), uri).with_mime_type("inode/directory")
        }
    })
}

/// Writes text as text. A file that was cut may end within a character, which is left out.
fn contents(bytes: Vec<u8>, truncated: bool, uri: &str) -> ResourceContents {
    match String::from_utf8(bytes) {
        Ok(text) => ResourceContents::text(text, uri),
        Err(error) => {
            let valid = error.utf8_error().valid_up_to();
            let bytes = error.into_bytes();
            let is_text = truncated && bytes.len() - valid < 4;
            match std::str::from_utf8(&bytes[..valid]) {
                Ok(text) if is_text => ResourceContents::text(text, uri),
                _ => ResourceContents::blob(STANDARD.encode(&bytes), uri)
                    .with_mime_type("application/octet-stream"),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_text_is_still_text() {
        let text = |contents| matches!(contents, ResourceContents::TextResourceContents { .. });
        assert!(text(contents(b"plain".to_vec(), false, "u")));
        assert!(text(contents(b"gr\xc3".to_vec(), true, "u")));
        assert!(!text(contents(b"gr\xc3".to_vec(), false, "u")));
        assert!(!text(contents(b"\xff\xfe\0\0\0".to_vec(), true, "u")));
    }
}
