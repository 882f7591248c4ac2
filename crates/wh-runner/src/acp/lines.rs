//! Lines of a peer that may print anything: bounded, and without losing the place when waiting is given up.

use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt};

/// One line, or the fact that there was one.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line {
    Whole(Vec<u8>),
    /// It was longer than allowed and is left out.
    Oversized {
        bytes: u64,
    },
}

/// Reads lines of at most `max` bytes.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    reader: R,
    max: usize,
    line: Vec<u8>,
    skipped: u64,
}

impl<R: AsyncBufRead + Unpin> Lines<R> {
    pub(crate) fn new(reader: R, max: usize) -> Self {
        Self {
            reader,
            max,
            line: Vec::new(),
            skipped: 0,
        }
    }

    /// Returns the next line without its newline; `None` at the end. A last line without newline is returned too.
    ///
    /// # Cancel safety
    ///
    /// What was read is kept in `self`, so a call that is given up loses nothing.
    pub(crate) async fn next(&mut self) -> io::Result<Option<Line>> {
        loop {
            let chunk = self.reader.fill_buf().await?;
            if chunk.is_empty() {
                let empty = self.line.is_empty() && self.skipped == 0;
                return Ok((!empty).then(|| self.take()));
            }
            let end = chunk.iter().position(|byte| *byte == b'\n');
            let part = &chunk[..end.unwrap_or(chunk.len())];
            if self.skipped > 0 || self.line.len() + part.len() > self.max {
                self.skipped += (self.line.len() + part.len()) as u64;
                self.line = Vec::new();
            } else {
                self.line.extend_from_slice(part);
            }
            let used = part.len() + usize::from(end.is_some());
            self.reader.consume(used);
            if end.is_some() {
                return Ok(Some(self.take()));
            }
        }
    }

    fn take(&mut self) -> Line {
        match std::mem::take(&mut self.skipped) {
            0 => Line::Whole(std::mem::take(&mut self.line)),
            bytes => Line::Oversized { bytes },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn long_lines_are_left_out_and_the_next_is_read() {
        let input = b"one\n0123456789a\ntwo\n\nlast".as_slice();
        let mut lines = Lines::new(tokio::io::BufReader::with_capacity(4, input), 10);
        let mut seen = Vec::new();
        while let Some(line) = lines.next().await.unwrap() {
            seen.push(line);
        }
        let whole = |text: &str| Line::Whole(text.as_bytes().to_vec());
        assert_eq!(
            seen,
            [
                whole("one"),
                Line::Oversized { bytes: 11 },
                whole("two"),
                whole(""),
                whole("last")
            ]
        );
    }
}
