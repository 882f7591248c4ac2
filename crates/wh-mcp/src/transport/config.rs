//! The limits of the HTTP transport, in one place.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

/// Limits and life times of [`McpService`](super::McpService).
#[derive(Debug, Clone)]
pub struct TransportConfig {
    /// Legacy sessions (`initialize` … `Mcp-Session-Id`) held at once, over all callers. Default 1024.
    ///
    /// Reached: the least recently used session without an open request or stream is closed; when every
    /// session is in use, `initialize` is answered 503 with `Retry-After`.
    pub legacy_sessions_max: usize,
    /// Legacy sessions one caller may hold. Default 128.
    ///
    /// Reached: as above, but only this caller's own sessions are considered, so that one caller cannot
    /// push out everybody else's.
    pub legacy_sessions_per_caller_max: usize,
    /// How long a legacy session may lie unused before it is closed. Default 24 hours, because clients
    /// keep one session for a working day and many never recover from losing it.
    pub legacy_session_idle: Duration,
    /// Bytes of one request body. Default 4 MiB. Reached: 413 with a JSON-RPC error.
    pub body_bytes_max: usize,
    /// Nesting of arrays and objects in a request. Default 64. Reached: 400 with `-32700`.
    pub json_depth_max: usize,
    /// Messages in one JSON-RPC batch (2025-03-26 only). Default 64. Reached: 400 with `-32600`.
    pub batch_length_max: usize,
    /// Pause after which a silent event stream gets a comment, so that proxies keep it open. Default 15 s.
    pub sse_keep_alive: Duration,
    /// When cancelled, streams without an end of their own (GET, `subscriptions/listen`) are ended and new
    /// requests are answered 503. Calls under way finish; cutting those is for whoever serves the connection.
    pub shutdown: CancellationToken,
}

impl Default for TransportConfig {
    fn default() -> Self {
        Self {
            legacy_sessions_max: 1024,
            legacy_sessions_per_caller_max: 128,
            legacy_session_idle: Duration::from_secs(24 * 60 * 60),
            body_bytes_max: 4 * 1024 * 1024,
            json_depth_max: 64,
            batch_length_max: 64,
            sse_keep_alive: Duration::from_secs(15),
            shutdown: CancellationToken::new(),
        }
    }
}
