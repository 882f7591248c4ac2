//! When a silent stream owes its client a sign of life.

use std::time::Duration;

use tokio::time::Instant;

/// The feed says that it is idle about this often; a sign of life is sent this much early rather than late.
const SLACK: Duration = Duration::from_millis(1500);

/// Remembers when something was last sent.
#[derive(Debug)]
pub(super) struct Pulse {
    every: Duration,
    last: Instant,
}

impl Pulse {
    pub(super) fn new(every: Duration) -> Self {
        Self {
            every: every.saturating_sub(SLACK),
            last: Instant::now(),
        }
    }

    /// Notes that something is sent.
    pub(super) fn beat(&mut self) {
        self.last = Instant::now();
    }

    /// Tells whether the silence has lasted long enough.
    pub(super) fn is_due(&self) -> bool {
        self.last.elapsed() >= self.every
    }
}
