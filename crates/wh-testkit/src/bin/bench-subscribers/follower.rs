//! One subscriber: a bare socket that reads the event stream and looks at numbers and times.

use std::time::Duration;

use anyhow::{Context, Result, bail};
use memchr::memmem;
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
};
use tokio_util::sync::CancellationToken;

use crate::tally::{Seen, Times};

/// Begins every frame; what comes before is the end of the frame before, or the length of a piece.
const ID: &[u8] = b"\nid: ";
/// Ends every frame.
const END: &[u8] = b"\n\n";
const AT: &[u8] = b"\"at\":\"";
const MESSAGE: &[u8] = b"\"kind\":\"message_added\"";
const OPEN_WITHIN: Duration = Duration::from_secs(30);

pub(crate) struct Follower {
    stream: TcpStream,
    buffer: Vec<u8>,
}

impl Follower {
    /// Opens a stream after event `after` and returns once the server has begun to answer.
    pub(crate) async fn open(url: &str, key: &str, after: u64) -> Result<Self> {
        let host = url.strip_prefix("http://").context("not an http address")?;
        let mut stream = TcpStream::connect(host).await?;
        let request = format!(
            "GET /api/v1/events?after={after} HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {key}\r\n\
             Accept: text/event-stream\r\n\r\n"
        );
        stream.write_all(request.as_bytes()).await?;
        let mut follower = Self {
            stream,
            buffer: Vec::with_capacity(64 << 10),
        };
        let opened = async {
            while memmem::find(&follower.buffer, b"retry:").is_none() {
                if follower.stream.read_buf(&mut follower.buffer).await? == 0 {
                    break;
                }
            }
            anyhow::Ok(follower)
        };
        let follower = tokio::time::timeout(OPEN_WITHIN, opened).await??;
        if !follower.buffer.starts_with(b"HTTP/1.1 200") {
            bail!("refused: {}", String::from_utf8_lossy(&follower.buffer));
        }
        Ok(follower)
    }

    /// Follows until it is enough, or the server ends the stream.
    pub(crate) async fn follow(
        mut self,
        number: usize,
        times: &Times,
        start: u64,
        enough: &CancellationToken,
    ) -> Seen {
        let mut seen = Seen::new(start);
        loop {
            let read = tokio::select! {
                () = enough.cancelled() => return seen,
                read = self.stream.read_buf(&mut self.buffer) => read,
            };
            if !matches!(read, Ok(count) if count > 0) {
                return seen;
            }
            let now = now_micros();
            let Some(end) = memmem::rfind(&self.buffer, END) else {
                continue;
            };
            let whole = end + END.len();
            for at in memmem::find_iter(&self.buffer[..whole], ID) {
                frame(&self.buffer[at + ID.len()..whole], times, &mut seen, now);
            }
            // The last line end stays: the next frame's head is found by it.
            self.buffer.drain(..whole - 1);
            times.is_at(number, &seen);
        }
    }
}

/// Looks at one frame.
fn frame(text: &[u8], times: &Times, seen: &mut Seen, now: u64) {
    let Some(line) = memchr::memchr(b'\n', text) else {
        return;
    };
    if !text[line..].starts_with(b"\nevent: event") {
        return;
    }
    let digits = text[..line].iter();
    let seq = digits.fold(0, |n: u64, digit| {
        n * 10 + u64::from(digit.wrapping_sub(b'0'))
    });
    let at = times.of(seq, || {
        let end = memmem::find(text, END).unwrap_or(text.len());
        let frame = &text[..end];
        let begin = memmem::find(frame, AT)? + AT.len();
        let length = memchr::memchr(b'"', &frame[begin..])?;
        let text = std::str::from_utf8(&frame[begin..begin + length]).ok()?;
        let at: jiff::Timestamp = text.parse().ok()?;
        let micros = u64::try_from(at.as_microsecond()).ok()?;
        Some((micros, memmem::find(frame, MESSAGE).is_some()))
    });
    seen.event(seq, now.saturating_sub(at));
}

#[expect(
    clippy::disallowed_methods,
    reason = "lags are told by the clock that the server's times come from"
)]
fn now_micros() -> u64 {
    let now = jiff::Timestamp::now().as_microsecond();
    u64::try_from(now).unwrap_or(0)
}
