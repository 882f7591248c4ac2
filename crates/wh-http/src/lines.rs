//! `GET /mcp/stdio`: leaves HTTP and speaks MCP as lines, for the local bridge of `wheelhouse mcp`.

use std::{sync::Arc, time::Duration};

use axum::{
    body::Body,
    extract::Request,
    response::{IntoResponse, Response},
};
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header, request::Parts};
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio_util::sync::{CancellationToken, DropGuard};
use wh_domain::Principal;

use crate::{LineServer, call, error::ApiError, state::Server, streams::StreamPermit};

/// What the connection is upgraded to.
const PROTOCOL: HeaderValue = HeaderValue::from_static("mcp-lines");

/// How often the credential of an open connection is looked at again.
const CHECK_EVERY: Duration = Duration::from_secs(1);

/// How long a connection may go on once it was told to end.
const END_GRACE: Duration = Duration::from_secs(5);

/// Upgrades the connection and hands it over.
pub(crate) async fn upgrade(
    server: Server,
    lines: Arc<dyn LineServer>,
    request: Request,
) -> Response {
    let (parts, _body) = request.into_parts();
    accept(&server, lines, parts).unwrap_or_else(IntoResponse::into_response)
}

fn accept(
    server: &Server,
    lines: Arc<dyn LineServer>,
    mut parts: Parts,
) -> Result<Response, ApiError> {
    let principal = call::principal(&parts)?.clone();
    let upgrade = parts.extensions.remove::<OnUpgrade>();
    let upgrade = upgrade
        .filter(|_| asks_for(&parts.headers, "mcp-lines"))
        .ok_or_else(upgrade_required)?;
    let connection = Connection {
        server: Arc::clone(server),
        permit: server.streams.enter(&principal)?,
        principal,
        ended: server.app.shutdown().child_token(),
    };
    let mut extensions = parts.extensions;
    // What the address asks for, such as `?toolsets=`, holds for every message of the connection.
    extensions.insert(parts.uri);
    server.config.tasks.spawn(async move {
        match upgrade.await {
            Ok(stream) => {
                let ended = connection.ended.clone();
                let serving = lines.serve(TokioIo::new(stream), extensions, ended);
                connection.watch(serving).await;
            }
            Err(error) => tracing::debug!(%error, "a connection was not upgraded"),
        }
    });
    Ok(switching())
}

/// An open connection: its place, and who holds it.
struct Connection {
    server: Server,
    permit: StreamPermit,
    principal: Principal,
    ended: CancellationToken,
}

impl Connection {
    /// Runs `serving` until it is done, or a while after the server or the credential ended.
    async fn watch(self, serving: impl Future<Output = ()>) {
        let _place = self.permit;
        let _ended_with_us: DropGuard = self.ended.clone().drop_guard();
        let mut serving = std::pin::pin!(serving);
        loop {
            tokio::select! {
                () = &mut serving => return,
                () = self.ended.cancelled() => break,
                () = tokio::time::sleep(CHECK_EVERY) => {}
            }
            // When it cannot be told, the connection stays: each call on it is authorized by itself.
            if matches!(
                self.server.app.is_still_valid(&self.principal).await,
                Ok(false)
            ) {
                self.ended.cancel();
            }
        }
        if tokio::time::timeout(END_GRACE, serving).await.is_err() {
            tracing::warn!("a line connection was cut: it did not end when told to");
        }
    }
}

/// Tells whether the request asks to leave HTTP for `protocol`.
pub(crate) fn asks_for(headers: &HeaderMap, protocol: &str) -> bool {
    has_token(headers, &header::UPGRADE, protocol)
        && has_token(headers, &header::CONNECTION, "upgrade")
}

fn has_token(headers: &HeaderMap, name: &HeaderName, token: &str) -> bool {
    let values = headers.get_all(name).iter();
    values
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .any(|value| value.trim().eq_ignore_ascii_case(token))
}

fn upgrade_required() -> ApiError {
    ApiError::invalid("this path speaks MCP as lines, after an upgrade")
        .hint("send Connection: upgrade and Upgrade: mcp-lines, or use /mcp")
        .status(StatusCode::UPGRADE_REQUIRED)
        .header(header::UPGRADE, PROTOCOL)
        .header(header::CONNECTION, HeaderValue::from_static("upgrade"))
}

fn switching() -> Response {
    let mut response = Response::new(Body::empty());
    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
    let headers = response.headers_mut();
    headers.insert(header::UPGRADE, PROTOCOL);
    headers.insert(header::CONNECTION, HeaderValue::from_static("upgrade"));
    response
}
