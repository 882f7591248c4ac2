//! What the edge is told by whoever starts it.

use std::time::Duration;

use bytes::Bytes;
use tokio_util::task::TaskTracker;

use crate::{dashboard, guard::GuardConfig};

/// The settings of [`router`](crate::router).
#[derive(Clone, Debug)]
pub struct HttpConfig {
    /// Where clients reach the server, such as `http://127.0.0.1:4180`. A slash at the end is ignored.
    pub base_url: String,
    /// Which `Host` and `Origin` values are ours.
    pub guard: GuardConfig,
    /// The limits of requests and streams.
    pub limits: RequestLimits,
    /// Finds a file of the dashboard. Usually those that were built into the program.
    pub dashboard: DashboardFiles,
    /// Owns what outlives a request: upgraded connections and upkeep. They end when the application's shutdown token
    /// is cancelled; close it and wait for it after serving.
    pub tasks: TaskTracker,
}

impl HttpConfig {
    /// Makes the settings of a server that is reached at `base_url`, everything else being usual.
    pub fn new(base_url: impl Into<String>, guard: GuardConfig) -> Self {
        Self {
            base_url: base_url.into(),
            guard,
            limits: RequestLimits::default(),
            dashboard: dashboard::embedded,
            tasks: TaskTracker::new(),
        }
    }

    /// Returns the address of a path on this server.
    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.base_url.trim_end_matches('/'))
    }
}

/// Finds a file by its path, such as `index.html`. What it is called with `.br` or `.gz` added is the same, compressed.
pub type DashboardFiles = fn(&str) -> Option<DashboardFile>;

/// A file of the dashboard.
#[derive(Clone, Debug)]
pub struct DashboardFile {
    /// What is in it.
    pub data: Bytes,
    /// SHA-256 of what is in it.
    pub hash: [u8; 32],
}

/// What one request, and all open streams together, may take up. Connections have [`crate::serve::Limits`].
#[derive(Clone, Debug)]
pub struct RequestLimits {
    /// Bytes of a request body; `/mcp` has its own limit. Default 1 MiB. Reached: 413.
    pub body_bytes_max: usize,
    /// Bytes of a body with files in it. Default 12 MiB. Reached: 413.
    pub files_body_bytes_max: usize,
    /// Time for an ordinary request once its body has arrived. Default 30 s. Reached: 503.
    pub handler_time_max: Duration,
    /// Time for work on a repository. Default 10 min. Reached: 503, and what was recorded is finished later.
    pub git_time_max: Duration,
    /// Time for a backup. Default 1 h. Reached: 503.
    pub backup_time_max: Duration,
    /// Time for a request that waits for a session. Default 330 s. Reached: 503.
    pub wait_time_max: Duration,
    /// Open event streams and line connections over all principals. Default 2048. Reached: 429.
    pub streams_max: usize,
    /// The same for one principal. Default 512. Reached: 429.
    pub streams_per_principal_max: usize,
    /// The longest silence on an event stream before a sign of life. Default 15 s.
    pub ping_every: Duration,
    /// How long a WebSocket client may take to read one message. Default 30 s. Reached: the stream ends.
    pub send_time_max: Duration,
}

impl Default for RequestLimits {
    fn default() -> Self {
        Self {
            body_bytes_max: 1024 * 1024,
            files_body_bytes_max: 12 * 1024 * 1024,
            handler_time_max: Duration::from_secs(30),
            git_time_max: Duration::from_secs(600),
            backup_time_max: Duration::from_secs(60 * 60),
            wait_time_max: Duration::from_secs(330),
            streams_max: 2048,
            streams_per_principal_max: 512,
            ping_every: Duration::from_secs(15),
            send_time_max: Duration::from_secs(30),
        }
    }
}
