//! What only this machine's memory has.

use std::{
    collections::VecDeque,
    time::{Duration, Instant},
};

/// Records that follow each other within this time count as one: a flood has few spans.
const SPAN: Duration = Duration::from_millis(20);

/// Records that neither this disk nor the server keeps yet, as spans, oldest first.
#[derive(Debug, Default)]
pub(super) struct Unsynced {
    spans: VecDeque<Span>,
}

#[derive(Debug)]
struct Span {
    last: u64,
    since: Instant,
}

impl Unsynced {
    pub(super) fn note(&mut self, seq: u64, now: Instant) {
        let current = self
            .spans
            .back_mut()
            .filter(|span| now.duration_since(span.since) < SPAN);
        match current {
            Some(span) => span.last = seq,
            None => self.spans.push_back(Span {
                last: seq,
                since: now,
            }),
        }
    }

    /// Lets go of everything up to `seq`.
    pub(super) fn let_go(&mut self, seq: u64) {
        while self.spans.front().is_some_and(|span| span.last <= seq) {
            self.spans.pop_front();
        }
    }

    /// Lets go of everything; returns whether there was anything.
    pub(super) fn take(&mut self) -> bool {
        !std::mem::take(&mut self.spans).is_empty()
    }

    /// Returns when the oldest was written.
    pub(super) fn since(&self) -> Option<Instant> {
        self.spans.front().map(|span| span.since)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_that_the_server_does_not_have_counts() {
        let (mut unsynced, begin) = (Unsynced::default(), Instant::now());
        let at = |ms| begin + Duration::from_millis(ms);
        for (seq, ms) in [(1, 0), (2, 5), (3, 100), (4, 130)] {
            unsynced.note(seq, at(ms));
        }
        assert_eq!(unsynced.since(), Some(at(0)));
        // A part of a span keeps its whole time: earlier than needed, never later.
        unsynced.let_go(1);
        assert_eq!(unsynced.since(), Some(at(0)));
        unsynced.let_go(2);
        assert_eq!(unsynced.since(), Some(at(100)));
        unsynced.let_go(4);
        assert_eq!(unsynced.since(), None);
        assert!(!unsynced.take());
    }

    #[test]
    fn a_flood_has_few_spans() {
        let (mut unsynced, begin) = (Unsynced::default(), Instant::now());
        for seq in 0..100_000 {
            unsynced.note(seq, begin + Duration::from_micros(2 * seq));
        }
        assert_eq!(unsynced.spans.len(), 10);
    }
}
