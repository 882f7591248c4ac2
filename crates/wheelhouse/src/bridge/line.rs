//! Reading lines that may be waited for in `select!`.

use std::io;

use tokio::io::{AsyncBufRead, AsyncBufReadExt, AsyncRead, BufReader};

/// The most bytes of one line. The server takes far less; this only bounds our memory.
const LINE_BYTES_MAX: usize = 64 * 1024 * 1024;

/// Reads lines, and keeps what was read of one when the wait is cancelled.
#[derive(Debug)]
pub(super) struct LineReader<R> {
    reader: BufReader<R>,
    partial: Vec<u8>,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    pub(super) fn new(reader: R) -> Self {
        Self {
            reader: BufReader::with_capacity(64 * 1024, reader),
            partial: Vec::new(),
        }
    }

    /// Returns the next line with its newline; `None` at the end, where half a line is dropped.
    ///
    /// # Cancel safety
    ///
    /// Nothing is lost when the future is dropped.
    pub(super) async fn next(&mut self) -> io::Result<Option<Vec<u8>>> {
        loop {
            let chunk = fill(&mut self.reader).await?;
            if chunk.is_empty() {
                return Ok(None);
            }
            let (taken, is_whole) = match chunk.iter().position(|byte| *byte == b'\n') {
                Some(at) => (at + 1, true),
                None => (chunk.len(), false),
            };
            self.partial.extend_from_slice(&chunk[..taken]);
            self.reader.consume(taken);
            if is_whole {
                return Ok(Some(std::mem::take(&mut self.partial)));
            }
            if self.partial.len() > LINE_BYTES_MAX {
                return Err(io::Error::other("a message is longer than 64 MiB"));
            }
        }
    }
}

async fn fill<R: AsyncBufRead + Unpin>(reader: &mut R) -> io::Result<&[u8]> {
    reader.fill_buf().await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn lines_are_whole_and_half_a_line_is_dropped() {
        let mut lines = LineReader::new(&b"one\n\ntwo\r\nhalf"[..]);
        for expected in [&b"one\n"[..], b"\n", b"two\r\n"] {
            assert_eq!(lines.next().await.unwrap().as_deref(), Some(expected));
        }
        assert_eq!(lines.next().await.unwrap(), None);
    }
}
