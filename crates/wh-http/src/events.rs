//! `/api/v1/events`: a page, or a stream by SSE or WebSocket, from any number on.
//!
//! A stream holds no events: it asks for the next ones when the client has taken the last, so a slow client costs
//! nothing and misses nothing. What is sent is written once for all clients. It ends when the server stops or the credential does.

mod pulse;
mod socket;
mod sse;

use axum::{
    extract::{FromRequestParts, Request, WebSocketUpgrade},
    response::{IntoResponse, Response},
};
use http::{HeaderMap, StatusCode, header, request::Parts};
use wh_api::EventListRequest;
use wh_app::{EventFeed, FeedItem};

use crate::{
    call, error::ApiError, input, limit, lines, state::Server, streams::StreamPermit, table::Route,
};

/// An open stream: the feed, and its place among the streams.
struct Follower {
    server: Server,
    feed: EventFeed,
    _place: StreamPermit,
}

/// Answers with a page or a stream, as the caller asks.
pub(crate) async fn call(server: Server, route: &Route, request: Request) -> Response {
    let headers = request.headers();
    let streamed = if headers.contains_key(header::UPGRADE) {
        by_socket(server, route, request).await
    } else if wants_sse(headers) {
        by_sse(server, route, request).await
    } else {
        return call::call(server, route, request).await;
    };
    streamed.unwrap_or_else(IntoResponse::into_response)
}

async fn by_sse(server: Server, route: &Route, request: Request) -> Result<Response, ApiError> {
    let (mut parts, _body) = request.into_parts();
    let follower = follow_in_time(server, route, &mut parts).await?;
    Ok(sse::respond(follower))
}

async fn by_socket(server: Server, route: &Route, request: Request) -> Result<Response, ApiError> {
    let (mut parts, _body) = request.into_parts();
    if !lines::asks_for(&parts.headers, "websocket") {
        return Err(not_a_socket());
    }
    let upgrade = WebSocketUpgrade::from_request_parts(&mut parts, &()).await;
    let upgrade = upgrade.map_err(|_| not_a_socket())?;
    let follower = follow_in_time(server, route, &mut parts).await?;
    Ok(socket::respond(upgrade, follower))
}

/// Begins to follow within the time of an ordinary request; the stream itself has none.
async fn follow_in_time(
    server: Server,
    route: &Route,
    parts: &mut Parts,
) -> Result<Follower, ApiError> {
    let time_max = server.config.limits.handler_time_max;
    limit::in_time(time_max, follow(server, route, parts)).await?
}

async fn follow(server: Server, route: &Route, parts: &mut Parts) -> Result<Follower, ApiError> {
    let fields = input::read_query(parts, &route.fields).await?;
    let request: EventListRequest = input::from_fields(fields)?;
    if request.limit.is_some() {
        return Err(ApiError::field(
            "limit",
            "is for pages; a stream has no end",
        ));
    }
    let after = last_event_id(&parts.headers)?.or(request.after()?);
    let cx = call::context(&server, parts)?;
    let place = server.streams.enter(&cx.principal)?;
    let feed = server.app.event_follow(&cx, after).await?;
    Ok(Follower {
        server,
        feed,
        _place: place,
    })
}

impl Follower {
    /// Waits for what comes next; nothing when the stream is over.
    ///
    /// # Cancel safety
    ///
    /// Safe, as [`EventFeed::next`] is.
    async fn next(&mut self) -> Option<Vec<FeedItem>> {
        // A busy feed never gets to wait, and so would not notice by itself.
        if self.server.app.shutdown().is_cancelled() {
            return None;
        }
        match self.feed.next().await {
            Ok(items) => items,
            Err(error) => {
                // The client comes back with the last number it saw; nothing is lost.
                tracing::warn!(%error, "an event stream ended early");
                None
            }
        }
    }
}

fn wants_sse(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT).iter();
    accepted
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|range| range.split(';').next())
        .any(|range| range.trim().eq_ignore_ascii_case("text/event-stream"))
}

/// Reads where a reconnecting browser left off. It repeats the address it began with, so this counts more than `after`.
fn last_event_id(headers: &HeaderMap) -> Result<Option<u64>, ApiError> {
    let Some(value) = headers.get("last-event-id") else {
        return Ok(None);
    };
    let number = value.to_str().ok().and_then(|text| text.parse().ok());
    number
        .map(Some)
        .ok_or_else(|| ApiError::field("Last-Event-ID", "must be the number of an event"))
}

fn not_a_socket() -> ApiError {
    ApiError::invalid("this is not a WebSocket handshake")
        .hint("send Upgrade: websocket with a key and version 13, or ask for text/event-stream")
        .status(StatusCode::BAD_REQUEST)
}
