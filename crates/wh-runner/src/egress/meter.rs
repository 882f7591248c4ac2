//! Counts the bytes of a run's connections.

use std::sync::atomic::{AtomicU64, Ordering};

use tokio_util::sync::CancellationToken;

/// Counts bytes up to a limit.
#[derive(Debug)]
pub(super) struct Meter {
    used: AtomicU64,
    max: Option<u64>,
    /// Cancelled when the limit is reached; every connection ends then.
    reached: CancellationToken,
}

impl Meter {
    pub(super) fn new(max: Option<u64>) -> Self {
        let reached = CancellationToken::new();
        if max == Some(0) {
            reached.cancel();
        }
        Self {
            used: AtomicU64::new(0),
            max,
            reached,
        }
    }

    /// Counts up to `wanted` bytes and returns how many of them may still pass. The sum of what it returns never exceeds the
    /// limit, however many connections ask at once.
    pub(super) fn take(&self, wanted: usize) -> usize {
        let granted = |used: u64| {
            let left = self.max.map_or(u64::MAX, |max| max.saturating_sub(used));
            (wanted as u64).min(left)
        };
        let advance = |used: u64| Some(used.saturating_add(granted(used)));
        let before = match self
            .used
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, advance)
        {
            Ok(before) | Err(before) => before,
        };
        usize::try_from(granted(before)).unwrap_or(wanted)
    }

    /// Ends every connection if the limit is reached. Called after the last granted bytes were passed on.
    pub(super) fn end_if_reached(&self) {
        if self.max.is_some_and(|max| self.used() >= max) {
            self.reached.cancel();
        }
    }

    pub(super) fn used(&self) -> u64 {
        self.used.load(Ordering::Acquire)
    }

    pub(super) fn max(&self) -> Option<u64> {
        self.max
    }

    pub(super) fn reached(&self) -> &CancellationToken {
        &self.reached
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_bytes_are_granted_in_part() {
        let meter = Meter::new(Some(10));
        assert_eq!(meter.take(6), 6);
        meter.end_if_reached();
        assert!(!meter.reached().is_cancelled());
        assert_eq!(meter.take(6), 4);
        assert_eq!(meter.take(6), 0);
        assert_eq!(meter.used(), 10);
        meter.end_if_reached();
        assert!(meter.reached().is_cancelled());
    }

    #[test]
    fn nothing_passes_a_limit_of_zero_and_all_passes_without_one() {
        let closed = Meter::new(Some(0));
        assert!(closed.reached().is_cancelled());
        assert_eq!(closed.take(1), 0);
        let open = Meter::new(None);
        assert_eq!(open.take(1 << 20), 1 << 20);
        open.end_if_reached();
        assert!(!open.reached().is_cancelled());
        assert_eq!(open.used(), 1 << 20);
    }
}
