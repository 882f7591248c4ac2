//! The feed as server-sent events.

use std::fmt::Write;

use axum::{
    body::{Body, Bytes},
    response::{IntoResponse, Response},
};
use futures::{StreamExt, stream};
use http::{HeaderName, HeaderValue, header};
use wh_api::FeedView;
use wh_app::{EventsSeen, FeedItem};
use wh_domain::Event;

use super::{Follower, pulse::Pulse};

/// Makes the answer that streams. It begins with how soon to come back, so that clients see at once that it is open.
pub(super) fn respond(follower: Follower) -> Response {
    let pulse = Pulse::new(follower.server.config.limits.ping_every);
    let opening = stream::iter([Ok::<_, std::convert::Infallible>(Bytes::from_static(
        b"retry: 1000\n\n",
    ))]);
    let rest = stream::unfold((follower, pulse), |(mut follower, mut pulse)| async move {
        let frames = next_frames(&mut follower, &mut pulse).await?;
        Some((stream::iter(frames).map(Ok), (follower, pulse)))
    });
    let rest = rest.flatten();
    let headers = [
        (
            header::CONTENT_TYPE,
            HeaderValue::from_static("text/event-stream"),
        ),
        (header::CACHE_CONTROL, HeaderValue::from_static("no-store")),
        // Reverse proxies would otherwise hold events back until a buffer is full.
        (
            HeaderName::from_static("x-accel-buffering"),
            HeaderValue::from_static("no"),
        ),
    ];
    (headers, Body::from_stream(opening.chain(rest))).into_response()
}

async fn next_frames(follower: &mut Follower, pulse: &mut Pulse) -> Option<Vec<Bytes>> {
    loop {
        let mut frames = Vec::new();
        for item in follower.next().await? {
            match item {
                FeedItem::Events(events) => frames.extend(events.texts(event_frame)),
                FeedItem::Resync { through } => frames.push(framed(&FeedView::Resync { through })),
                FeedItem::Idle { through } if pulse.is_due() => {
                    frames.push(framed(&FeedView::Idle { through }));
                }
                FeedItem::Idle { .. } => {}
            }
        }
        if !frames.is_empty() {
            pulse.beat();
            return Some(frames);
        }
    }
}

/// Comes between a frame's head and its view.
const DATA: &[u8] = b"\ndata: ";
/// Ends a frame.
const END: &[u8] = b"\n\n";

/// Returns the view of each event, as text: what stands in its frame.
pub(super) fn views(events: &EventsSeen) -> impl Iterator<Item = Bytes> {
    events.texts_of_each(event_frame).map(|frame| {
        // Neither the head nor JSON has such a line of its own.
        let data = frame.windows(DATA.len()).position(|part| part == DATA);
        let begin = data.map_or(0, |at| at + DATA.len());
        frame.slice(begin..frame.len() - END.len())
    })
}

/// Writes one event of the feed.
fn event_frame(out: &mut String, event: &Event) {
    frame(out, &FeedView::Event(event.clone().into()));
}

fn framed(item: &FeedView) -> Bytes {
    let mut out = String::new();
    frame(&mut out, item);
    out.into()
}

/// Writes one frame. Its id is where a client that loses the connection goes on.
fn frame(out: &mut String, item: &FeedView) {
    let (name, id) = match item {
        FeedView::Event(event) => ("event", event.seq),
        FeedView::Resync { through } => ("resync", *through),
        FeedView::Idle { through } => ("ping", *through),
    };
    // Views hold nothing that JSON cannot; and JSON has no line breaks of its own.
    let data = serde_json::to_string(item).unwrap_or_default();
    let _infallible = write!(out, "id: {id}\nevent: {name}\ndata: {data}\n\n");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_name_their_kind_and_number() {
        let mut out = String::new();
        frame(&mut out, &FeedView::Resync { through: 7 });
        frame(&mut out, &FeedView::Idle { through: 8 });
        assert_eq!(
            out,
            "id: 7\nevent: resync\ndata: {\"type\":\"resync\",\"through\":7}\n\n\
             id: 8\nevent: ping\ndata: {\"type\":\"idle\",\"through\":8}\n\n"
        );
    }
}
