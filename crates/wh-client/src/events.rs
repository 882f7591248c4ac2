//! Following the change feed by server-sent events.

use futures::StreamExt;
use futures::stream::BoxStream;
use reqwest::header::ACCEPT;
use serde_json::json;
use wh_api::FeedView;

use crate::{Client, ClientError, Method};

/// The most bytes of one event; more is an error, not memory.
const EVENT_BYTES_MAX: usize = 1024 * 1024;

type Chunks = BoxStream<'static, Result<bytes::Bytes, reqwest::Error>>;

/// What happens, as it happens. It ends when the server goes away; follow again from [`EventFeed::through`].
pub struct EventFeed {
    chunks: Chunks,
    pending: Vec<u8>,
    through: u64,
}

impl Client {
    /// Follows the feed after event number `after`, or from now on.
    pub async fn events(&self, after: Option<u64>) -> Result<EventFeed, ClientError> {
        let request = self
            .request(Method::GET, &["events"], &json!({ "after": after }))?
            .header(ACCEPT, "text/event-stream");
        let answer = self.send(request).await?;
        Ok(EventFeed::new(
            answer.bytes_stream().boxed(),
            after.unwrap_or(0),
        ))
    }
}

impl EventFeed {
    fn new(chunks: Chunks, through: u64) -> Self {
        Self {
            chunks,
            pending: Vec::new(),
            through,
        }
    }

    /// Returns the number of the last event that was handed out; 0 when there was none yet.
    pub fn through(&self) -> u64 {
        self.through
    }

    /// Waits for the next thing to happen; `None` when the server ended the feed.
    ///
    /// # Cancel safety
    ///
    /// What was received before a cancellation is kept for the next call.
    pub async fn next(&mut self) -> Result<Option<FeedView>, ClientError> {
        loop {
            while let Some(block) = self.block() {
                let Some(data) = data_of(&block) else {
                    continue;
                };
                let view: FeedView = serde_json::from_str(&data).map_err(|error| {
                    ClientError::transport("failed to understand an event", error)
                })?;
                self.through = match &view {
                    FeedView::Event(event) => event.seq,
                    FeedView::Resync { through } | FeedView::Idle { through } => *through,
                };
                return Ok(Some(view));
            }
            match self.chunks.next().await {
                None => return Ok(None),
                Some(Ok(bytes)) => self.pending.extend_from_slice(&bytes),
                Some(Err(error)) => {
                    return Err(ClientError::transport("the event feed broke off", error));
                }
            }
            if self.pending.len() > EVENT_BYTES_MAX {
                let doing = "the server sent an event that is too long";
                return Err(ClientError::transport(doing, "no end within 1 MiB"));
            }
        }
    }

    /// Takes the first whole block, up to an empty line.
    fn block(&mut self) -> Option<String> {
        let (end, skip) = [(&b"\n\n"[..], 2), (&b"\r\n\r\n"[..], 4)]
            .into_iter()
            .filter_map(|(mark, len)| {
                let at = self.pending.windows(len).position(|w| w == mark)?;
                Some((at, len))
            })
            .min()?;
        let block = String::from_utf8_lossy(&self.pending[..end]).into_owned();
        self.pending.drain(..end + skip);
        Some(block)
    }
}

/// Returns the joined `data:` lines of a block; a comment has none.
fn data_of(block: &str) -> Option<String> {
    let lines: Vec<_> = block
        .lines()
        .filter_map(|line| line.strip_prefix("data:"))
        .map(|data| data.strip_prefix(' ').unwrap_or(data))
        .collect();
    (!lines.is_empty()).then(|| lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn feed(parts: &[&'static str]) -> EventFeed {
        let chunks: Vec<_> = parts
            .iter()
            .map(|part| Ok(bytes::Bytes::from_static(part.as_bytes())))
            .collect();
        EventFeed::new(futures::stream::iter(chunks).boxed(), 3)
    }

    #[tokio::test]
    async fn blocks_are_read_across_chunks() {
        let mut feed = feed(&[
            ": hello\n\nid: 7\nevent: re",
            "sync\ndata: {\"type\":\"resync\",\ndata: \"through\":7}\n\n",
            "data: {\"type\":\"idle\",\"through\":9}\r\n\r\n",
        ]);
        assert_eq!(
            feed.next().await.unwrap(),
            Some(FeedView::Resync { through: 7 })
        );
        assert_eq!(
            feed.next().await.unwrap(),
            Some(FeedView::Idle { through: 9 })
        );
        assert_eq!(feed.through(), 9);
        assert_eq!(feed.next().await.unwrap(), None);
    }

    #[tokio::test]
    async fn what_is_no_event_is_an_error() {
        assert!(feed(&["data: {}\n\n"]).next().await.is_err());
    }
}
