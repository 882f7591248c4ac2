//! The last lines of the agent's stderr, for whoever asks why it is stuck, or went away.

use std::collections::VecDeque;

use tokio::{io::BufReader, process::ChildStderr, sync::watch};

use crate::acp::{
    lines::{Line, Lines},
    map,
};

/// A longer line is left out.
const LINE_BYTES_MAX: usize = 64 << 10;
/// The most of a line that is kept.
const LINE_BYTES_KEPT: usize = 1_000;

/// Holds the lines where connections can look at them, and wait for more.
#[derive(Clone, Debug, Default)]
pub(super) struct LastLines(watch::Sender<VecDeque<String>>);

impl LastLines {
    pub(super) fn get(&self) -> Vec<String> {
        self.0.borrow().iter().cloned().collect()
    }

    pub(super) fn watch(&self) -> watch::Receiver<VecDeque<String>> {
        self.0.subscribe()
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
            self.0.send_modify(|kept| {
                kept.push_back(text);
                while kept.len() > max {
                    kept.pop_front();
                }
            });
        }
    }
}
