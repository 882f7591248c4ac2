//! What was said, in a file, so that a conversation can be loaded again.

use std::{
    fs::{File, OpenOptions},
    io::Write,
    path::PathBuf,
};

/// Where transcripts are kept; without it, in the home directory.
const DIRECTORY_VARIABLE: &str = "WHEELHOUSE_ECHO_DIR";

pub(super) struct Transcript(PathBuf);

impl Transcript {
    pub(super) fn new(id: &str) -> Self {
        let directory = directory();
        std::fs::create_dir_all(&directory).ok();
        Self(directory.join(format!("{id}.jsonl")))
    }

    /// Finds a conversation and what was said in it.
    pub(super) fn find(id: &str) -> Option<(Self, Vec<String>)> {
        // The name becomes part of a path.
        uuid::Uuid::parse_str(id).ok()?;
        let transcript = Self(directory().join(format!("{id}.jsonl")));
        let text = std::fs::read_to_string(&transcript.0).ok()?;
        let said = text
            .lines()
            .filter_map(|line| serde_json::from_str(line).ok());
        let said = said.collect();
        Some((transcript, said))
    }

    /// Adds a prompt. A transcript that cannot be written only costs the replay.
    pub(super) fn add(&self, text: &str) {
        let file: std::io::Result<File> =
            OpenOptions::new().append(true).create(true).open(&self.0);
        let line = serde_json::to_string(text).unwrap_or_default();
        file.and_then(|mut file| writeln!(file, "{line}")).ok();
    }
}

fn directory() -> PathBuf {
    let fallback = || {
        let home = std::env::var_os("HOME").map(PathBuf::from);
        home.unwrap_or_else(std::env::temp_dir)
            .join(".cache/wheelhouse-echo")
    };
    std::env::var_os(DIRECTORY_VARIABLE).map_or_else(fallback, PathBuf::from)
}
