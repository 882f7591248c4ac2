//! The real time.

use jiff::Timestamp;
use wh_app::Clock;

/// Tells the operating system's time.
pub(super) struct SystemClock;

impl Clock for SystemClock {
    /// Returns the time to the microsecond, which is what is stored: what was just made looks the same when read again.
    #[expect(clippy::disallowed_methods, reason = "this is the clock")]
    fn now(&self) -> Timestamp {
        let now = Timestamp::now();
        Timestamp::from_microsecond(now.as_microsecond()).unwrap_or(now)
    }
}
