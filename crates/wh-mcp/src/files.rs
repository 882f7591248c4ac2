//! Files of worktrees as resources: `wheelhouse://worktree/{id}/files/{path}`.

use std::path::PathBuf;

use base64::{Engine, engine::general_purpose::STANDARD};
use rmcp::model::{ResourceContents, ResourceTemplate};
use wh_app::{App, OpContext, Result};
use wh_domain::{Reference, WorktreeFile};

const PREFIX: &str = "wheelhouse://worktree/";

/// A file's address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct FileAddress {
    worktree: Reference,
    path: PathBuf,
}

impl FileAddress {
    /// Reads an address. Whether the path may be read is not decided here.
    pub(crate) fn parse(uri: &str) -> Option<Self> {
        let (worktree, path) = uri.strip_prefix(PREFIX)?.split_once("/files")?;
        let path = match path.strip_prefix('/') {
            Some(path) => path,
            None if path.is_empty() => "",
            None => return None,
        };
        Some(Self {
            worktree: Reference::parse(worktree).ok()?,
            path: decoded(path)?.into(),
        })
    }

    /// Reads what lies there: text as text, other bytes as base64, a directory as a list of addresses below it.
    pub(crate) async fn read(
        &self,
        app: &App,
        cx: &OpContext,
        uri: &str,
    ) -> Result<ResourceContents> {
        let file = app.worktree_file(cx, &self.worktree, &self.path).await?;
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
}

/// Returns the kind of address.
pub(crate) fn template() -> ResourceTemplate {
    ResourceTemplate::new(format!("{PREFIX}{{id}}/files/{{+path}}"), "worktree file")
        .with_description(
            "A file of a worktree, up to 1 MiB; a directory lists its names; a link is shown",
        )
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

/// Undoes `%20` and its like.
fn decoded(path: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(path.len());
    let mut rest = path.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        if *first != b'%' {
            bytes.push(*first);
            continue;
        }
        let digits = std::str::from_utf8(rest.get(..2)?).ok()?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        rest = &rest[2..];
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_read_back() {
        for (uri, path) in [
            (
                "wheelhouse://worktree/89abcdef/files/src/lib.rs",
                "src/lib.rs",
            ),
            ("wheelhouse://worktree/89abcdef/files/a%20b", "a b"),
            ("wheelhouse://worktree/89abcdef/files/", ""),
            ("wheelhouse://worktree/89abcdef/files", ""),
        ] {
            let address = FileAddress::parse(uri).unwrap();
            assert_eq!(address.path, PathBuf::from(path), "{uri}");
        }
        for bad in [
            "wheelhouse://worktree/89abcdef",
            "wheelhouse://worktree/89abcdef/filesystem",
            "wheelhouse://worktree//files/x",
            "wheelhouse://worktree/89abcdef/files/%zz",
            "wheelhouse://worktree/89abcdef/files/%4",
            "wheelhouse://board/1/files/x",
        ] {
            assert_eq!(FileAddress::parse(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_cut_text_is_still_text() {
        let text = |contents| matches!(contents, ResourceContents::TextResourceContents { .. });
        assert!(text(contents(b"plain".to_vec(), false, "u")));
        assert!(text(contents(b"gr\xc3".to_vec(), true, "u")));
        assert!(!text(contents(b"gr\xc3".to_vec(), false, "u")));
        assert!(!text(contents(b"\xff\xfe\0\0\0".to_vec(), true, "u")));
    }
}
