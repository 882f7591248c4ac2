//! The last lines of the agent's stderr, for whoever asks why it went away.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use tokio::{io::BufReader, process::ChildStderr};

use crate::acp::{
    lines::{Line, Lines},
    map,
};

/// A longer line is left out.
const LINE_BYTES_MAX: usize = 64 << 10;
/// The most of a line that is kept.
const LINE_BYTES_KEPT: usize = 1_000;

#[derive(Clone, Debug, Default)]
pub(super) struct LastLines(Arc<Mutex<VecDeque<String>>>);

impl LastLines {
    pub(super) fn get(&self) -> Vec<String> {
        let lines = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        lines.iter().cloned().collect()
    }

    /// Reads until the end, keeping the last `max` lines.
    pub(super) async fn read(self, stderr: ChildStderr, max: usize) {
        let mut lines = Lines::new(BufReader::new(stderr), LINE_BYTES_MAX);
        while let Ok(Some(line)) = lines.next().await {
            let mut text = match line {
                Line::Whole(line) => String::from_utf8_lossy(&line).into_owned(),
                Line::Oversized { bytes } => format!("[{bytes} bytes]"),
            };
            map::truncate(&mut text, LINE_BYTES_KEPT);
            let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            kept.push_back(text);
            while kept.len() > max {
                kept.pop_front();
            }
        }
    }
}
