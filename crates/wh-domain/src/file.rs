//! Files that come with a prompt.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::text::is_deceptive;

/// The most files of one prompt.
pub const FILES_MAX: usize = 8;
/// The most bytes of all files of one prompt together.
pub const FILES_BYTES_MAX: usize = 8 << 20;

/// What to do with a file that a prompt cannot carry.
pub const FILES_INSTEAD: &str =
    "put large files into the worktree and name their paths in the prompt";

/// A file that comes with a prompt.
#[derive(Clone, PartialEq, Eq)]
pub struct PromptFile {
    pub name: FileName,
    pub data: Vec<u8>,
}

impl PromptFile {
    /// Returns what is known of it without its contents.
    pub fn about(&self) -> FileAbout {
        FileAbout {
            name: self.name.as_str().to_owned(),
            media_type: media_type(&self.data).to_owned(),
            bytes: self.data.len() as u64,
        }
    }
}

impl fmt::Debug for PromptFile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({} bytes)", self.name.as_str(), self.data.len())
    }
}

/// A file without its contents.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileAbout {
    pub name: String,
    /// By what is in it, never by its name.
    pub media_type: String,
    pub bytes: u64,
}

/// The name of a file: one component of a path, and nothing that hides or reverses text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileName(String);

impl FileName {
    const BYTES_MAX: usize = 120;

    pub fn parse(text: &str) -> Result<Self, &'static str> {
        let text = text.trim();
        if text.is_empty() || text == "." || text == ".." {
            return Err("needs a name, such as notes.txt");
        }
        if text.len() > Self::BYTES_MAX {
            return Err("has a name of more than 120 bytes; rename it");
        }
        if text.contains(['/', '\\']) {
            return Err("has a name with a slash; give the last part of its path");
        }
        if text.contains(|c: char| c.is_control() || is_deceptive(c)) {
            return Err("has a name with a control or an invisible character; rename it");
        }
        Ok(Self(text.to_owned()))
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Refuses more than one prompt may carry.
pub fn check_files(files: &[PromptFile]) -> Result<(), String> {
    if files.len() > FILES_MAX {
        return Err(format!(
            "are more than {FILES_MAX}; send the rest with another prompt, or {FILES_INSTEAD}"
        ));
    }
    let bytes: usize = files.iter().map(|file| file.data.len()).sum();
    if bytes > FILES_BYTES_MAX {
        let max = FILES_BYTES_MAX >> 20;
        return Err(format!(
            "have {bytes} bytes together, and a prompt carries at most {max} MiB; {FILES_INSTEAD}"
        ));
    }
    Ok(())
}

/// Tells what is in a file by its first bytes: images that agents take, text, or anything else.
fn media_type(data: &[u8]) -> &'static str {
    match data {
        [0x89, b'P', b'N', b'G', 0x0d, 0x0a, 0x1a, 0x0a, ..] => "image/png",
        [0xff, 0xd8, 0xff, ..] => "image/jpeg",
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => "image/gif",
        [
            b'R',
            b'I',
            b'F',
            b'F',
            _,
            _,
            _,
            _,
            b'W',
            b'E',
            b'B',
            b'P',
            ..,
        ] => "image/webp",
        _ if !data.contains(&0) && std::str::from_utf8(data).is_ok() => "text/plain",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_one_component() {
        for good in ["a.png", ".env", "shot 2.png", "büro.txt", "..."] {
            assert_eq!(FileName::parse(good).unwrap().as_str(), good);
        }
        let long = "x".repeat(121);
        for bad in [
            "",
            " ",
            ".",
            "..",
            "a/b",
            "..\\b",
            "a\nb",
            "a\u{202e}gpj.exe",
            "a\u{206a}b",
            "a\u{e0041}b",
            &long,
        ] {
            assert!(FileName::parse(bad).is_err(), "{bad:?}");
        }
    }

    #[test]
    fn what_is_in_it_decides_and_not_its_name() {
        let about = |data: &[u8]| {
            let name = FileName::parse("x.png").unwrap();
            let data = data.to_vec();
            PromptFile { name, data }.about().media_type
        };
        assert_eq!(about(b"\x89PNG\r\n\x1a\n...."), "image/png");
        assert_eq!(about(b"<svg onload=alert(1)>"), "text/plain");
        assert_eq!(about(b"RIFF\0\0\0\0WEBPVP8 "), "image/webp");
        assert_eq!(about(b"a\0b"), "application/octet-stream");
        assert_eq!(about(b""), "text/plain");
    }

    #[test]
    fn a_prompt_carries_so_much() {
        let file = |bytes| PromptFile {
            name: FileName::parse("a").unwrap(),
            data: vec![0; bytes],
        };
        assert!(check_files(&vec![file(1); FILES_MAX]).is_ok());
        let refused = check_files(&vec![file(1); FILES_MAX + 1]).unwrap_err();
        assert!(refused.contains("into the worktree"), "{refused}");
        assert!(check_files(&[file(FILES_BYTES_MAX)]).is_ok());
        assert!(check_files(&[file(FILES_BYTES_MAX), file(1)]).is_err());
    }
}
