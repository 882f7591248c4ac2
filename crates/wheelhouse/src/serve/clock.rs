//! The real time.

use jiff::Timestamp;
use wh_app::Clock;

/// Tells the operating system's time.
pub(super) struct SystemClock;

impl Clock for SystemClock {
    #[expect(clippy::disallowed_methods, reason = "this is the clock")]
    fn now(&self) -> Timestamp {
        Timestamp::now()
    }
}
