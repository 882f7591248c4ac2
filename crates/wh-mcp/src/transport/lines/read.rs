//! Splits a byte stream into lines without ever holding more than one of them.

use std::io;

use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};

/// One step of the input.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line {
    Text(Vec<u8>),
    /// A line longer than allowed; its bytes are gone.
    TooLong,
    End,
}

/// Reads lines of bounded length.
#[derive(Debug)]
pub(super) struct Lines<R> {
    reader: BufReader<R>,
    partial: Vec<u8>,
    is_too_long: bool,
    bytes_max: usize,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn new(reader: R, bytes_max: usize) -> Self {
        Self {
            reader: BufReader::new(reader),
            partial: Vec::new(),
            is_too_long: false,
            bytes_max,
        }
    }

    /// Returns the next line without its end.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing: a line read in part is kept for the next call.
    pub(super) async fn next(&mut self) -> io::Result<Line> {
        loop {
            let buffer = self.reader.fill_buf().await?;
            if buffer.is_empty() {
                let nothing_left = self.partial.is_empty() && !self.is_too_long;
                return Ok(if nothing_left { Line::End } else { self.take() });
            }
            let end = buffer.iter().position(|byte| *byte == b'\n');
            let chunk = &buffer[..end.unwrap_or(buffer.len())];
            if self.is_too_long || self.partial.len() + chunk.len() > self.bytes_max {
                self.is_too_long = true;
                self.partial = Vec::new();
            } else {
                self.partial.extend_from_slice(chunk);
            }
            let consumed = chunk.len() + usize::from(end.is_some());
            self.reader.consume(consumed);
            if end.is_some() {
                return Ok(self.take());
            }
        }
    }

    fn take(&mut self) -> Line {
        if std::mem::take(&mut self.is_too_long) {
            return Line::TooLong;
        }
        Line::Text(std::mem::take(&mut self.partial))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn check(input: &[u8], bytes_max: usize, expected: &[Line]) {
        let mut lines = Lines::new(input, bytes_max);
        for line in expected {
            assert_eq!(&lines.next().await.unwrap(), line);
        }
        assert_eq!(lines.next().await.unwrap(), Line::End);
    }

    fn text(line: &str) -> Line {
        Line::Text(line.into())
    }

    #[tokio::test]
    async fn lines_end_at_newlines_and_at_the_end() {
        check(b"a\n\nbc", 8, &[text("a"), text(""), text("bc")]).await;
        check(b"", 8, &[]).await;
    }

    #[tokio::test]
    async fn a_long_line_is_skipped_and_the_next_one_read() {
        check(b"12345\nok\n", 4, &[Line::TooLong, text("ok")]).await;
        check(b"1234\n12345", 4, &[text("1234"), Line::TooLong]).await;
        let mut input = vec![b'x'; 100_000];
        input.extend_from_slice(b"\nok");
        check(&input, 16, &[Line::TooLong, text("ok")]).await;
    }
}
