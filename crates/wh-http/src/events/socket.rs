//! The feed as WebSocket messages.

use std::time::Duration;

use axum::{
    body::Bytes,
    extract::{
        WebSocketUpgrade,
        ws::{CloseFrame, Message, WebSocket, close_code},
    },
    response::Response,
};
use futures::SinkExt;
use wh_api::FeedView;
use wh_app::FeedItem;

use super::{Follower, pulse::Pulse, sse};

/// Bytes a client may send at once. It has nothing to say beyond pongs and a farewell.
const MESSAGE_BYTES_MAX: usize = 4096;

/// How long a farewell may take.
const CLOSE_TIME_MAX: Duration = Duration::from_secs(2);

/// Answers the handshake and follows the feed on the connection.
pub(super) fn respond(upgrade: WebSocketUpgrade, follower: Follower) -> Response {
    let tasks = follower.server.config.tasks.clone();
    upgrade
        .max_message_size(MESSAGE_BYTES_MAX)
        .max_frame_size(MESSAGE_BYTES_MAX)
        .on_upgrade(move |socket| tasks.track_future(run(socket, follower)))
}

async fn run(mut socket: WebSocket, mut follower: Follower) {
    let mut pulse = Pulse::new(follower.server.config.limits.ping_every);
    loop {
        tokio::select! {
            items = follower.next() => {
                let Some(items) = items else {
                    return close(socket, &follower).await;
                };
                if send_all(&mut socket, &follower, &mut pulse, items).await.is_none() {
                    return;
                }
            }
            received = socket.recv() => match received {
                // What a client says has no meaning here; pings are answered by the library.
                Some(Ok(Message::Text(_) | Message::Binary(_) | Message::Ping(_) | Message::Pong(_))) => {}
                Some(Ok(Message::Close(_)) | Err(_)) | None => return,
            }
        }
    }
}

async fn send_all(
    socket: &mut WebSocket,
    follower: &Follower,
    pulse: &mut Pulse,
    items: Vec<FeedItem>,
) -> Option<()> {
    for item in items {
        let messages = match item {
            FeedItem::Idle { .. } if !pulse.is_due() => continue,
            FeedItem::Idle { .. } => vec![Message::Ping(Bytes::new())],
            FeedItem::Resync { through } => {
                let resync = FeedView::Resync { through };
                vec![Message::text(serde_json::to_string(&resync).ok()?)]
            }
            FeedItem::Events(events) => sse::views(&events)
                .map(|view| view.try_into().map(Message::Text))
                .collect::<Result<_, _>>()
                .ok()?,
        };
        let time_max = follower.server.config.limits.send_time_max;
        let send = async {
            for message in messages {
                socket.feed(message).await?;
            }
            socket.flush().await
        };
        tokio::time::timeout(time_max, send).await.ok()?.ok()?;
        pulse.beat();
    }
    Some(())
}

/// Says why the stream is over.
async fn close(mut socket: WebSocket, follower: &Follower) {
    let frame = if follower.server.app.shutdown().is_cancelled() {
        CloseFrame {
            code: close_code::AWAY,
            reason: "the server stops".into(),
        }
    } else {
        CloseFrame {
            code: close_code::POLICY,
            reason: "the credential is no longer valid".into(),
        }
    };
    let farewell = socket.send(Message::Close(Some(frame)));
    let _too_slow = tokio::time::timeout(CLOSE_TIME_MAX, farewell).await;
}
