//! The feed as server-sent events.

use std::fmt::Write;

use axum::{
    body::{Body, Bytes},
    response::{IntoResponse, Response},
};
use futures::{StreamExt, stream};
use http::{HeaderName, HeaderValue, header};
use wh_api::FeedView;

use super::{Follower, pulse::Pulse};

/// Makes the answer that streams. It begins with how soon to come back, so that clients see at once that it is open.
pub(super) fn respond(follower: Follower) -> Response {
    let pulse = Pulse::new(follower.server.config.limits.ping_every);
    let opening = stream::iter([Ok::<_, std::convert::Infallible>(Bytes::from_static(
        b"retry: 1000\n\n",
    ))]);
    let rest = stream::unfold((follower, pulse), |(mut follower, mut pulse)| async move {
        let frames = next_frames(&mut follower, &mut pulse).await?;
        Some((Ok(Bytes::from(frames)), (follower, pulse)))
    });
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

async fn next_frames(follower: &mut Follower, pulse: &mut Pulse) -> Option<String> {
    loop {
        let mut frames = String::new();
        for item in follower.next().await? {
            if matches!(item, FeedView::Idle { .. }) && !pulse.is_due() {
                continue;
            }
            frame(&mut frames, &item);
        }
        if !frames.is_empty() {
            pulse.beat();
            return Some(frames);
        }
    }
}

/// Writes one event. Its id is where a client that loses the connection goes on.
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
