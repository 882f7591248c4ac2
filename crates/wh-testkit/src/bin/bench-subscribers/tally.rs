//! What subscribers saw: numbers that are missing, doubled or out of order, and how late they came.

use std::{
    collections::HashSet,
    sync::atomic::{AtomicU64, Ordering::Relaxed},
};

/// Events whose times are kept; more than any run makes.
const EVENTS_MAX: usize = 1 << 20;
/// Lags are counted by the millisecond up to this.
const LAG_MS_MAX: usize = 10_000;

/// When each event was made. The first subscriber that sees an event reads its time, for all.
pub(crate) struct Times {
    start: u64,
    micros: Vec<AtomicU64>,
    messages: AtomicU64,
    /// The last event of each subscriber.
    places: Vec<AtomicU64>,
}

impl Times {
    pub(crate) fn new(start: u64, subscribers: usize) -> Self {
        let zeros = |count| {
            let zeros = std::iter::repeat_with(AtomicU64::default);
            zeros.take(count).collect()
        };
        Self {
            start,
            micros: zeros(EVENTS_MAX),
            messages: AtomicU64::new(0),
            places: zeros(subscribers),
        }
    }

    /// Returns when an event was made; `read` tells it, and whether it is about a message, the first time.
    pub(crate) fn of(&self, seq: u64, read: impl FnOnce() -> Option<(u64, bool)>) -> u64 {
        let place = usize::try_from(seq.saturating_sub(self.start)).unwrap_or(usize::MAX);
        let Some(known) = self.micros.get(place) else {
            return u64::MAX;
        };
        match known.load(Relaxed) {
            0 => {
                let (micros, is_message) = read().unwrap_or((u64::MAX, false));
                known.store(micros, Relaxed);
                self.messages.fetch_add(u64::from(is_message), Relaxed);
                micros
            }
            micros => micros,
        }
    }

    pub(crate) fn messages(&self) -> u64 {
        self.messages.load(Relaxed)
    }

    /// Notes where a subscriber is.
    pub(crate) fn is_at(&self, subscriber: usize, seen: &Seen) {
        self.places[subscriber].store(seen.last, Relaxed);
    }

    /// Tells whether everyone has come to the event `end`.
    pub(crate) fn have_all_come_to(&self, end: u64) -> bool {
        self.places.iter().all(|place| place.load(Relaxed) >= end)
    }
}

/// What one subscriber saw.
pub(crate) struct Seen {
    last: u64,
    count: u64,
    /// Numbers that were passed over, until they come after all.
    missing: HashSet<u64>,
    doubled: u64,
    out_of_order: u64,
    lags: Vec<u32>,
}

impl Seen {
    pub(crate) fn new(start: u64) -> Self {
        Self {
            last: start,
            count: 0,
            missing: HashSet::new(),
            doubled: 0,
            out_of_order: 0,
            lags: vec![0; LAG_MS_MAX + 1],
        }
    }

    /// An event came so many microseconds after it was made.
    pub(crate) fn event(&mut self, seq: u64, lag_micros: u64) {
        let lag = usize::try_from(lag_micros / 1_000).unwrap_or(LAG_MS_MAX);
        self.lags[lag.min(LAG_MS_MAX)] += 1;
        self.count += 1;
        if seq > self.last {
            self.missing.extend(self.last + 1..seq);
            self.last = seq;
        } else if self.missing.remove(&seq) {
            self.out_of_order += 1;
        } else {
            self.doubled += 1;
        }
    }
}

/// What all subscribers saw together.
pub(crate) struct Total {
    start: u64,
    end: u64,
    pub(crate) messages: u64,
    pub(crate) seen: u64,
    pub(crate) missing: u64,
    pub(crate) doubled: u64,
    pub(crate) out_of_order: u64,
    /// Subscribers that have everything, once and in order.
    pub(crate) complete: u64,
    lags: Vec<u64>,
}

impl Total {
    pub(crate) fn new(start: u64, end: u64, messages: u64) -> Self {
        Self {
            start,
            end,
            messages,
            seen: 0,
            missing: 0,
            doubled: 0,
            out_of_order: 0,
            complete: 0,
            lags: vec![0; LAG_MS_MAX + 1],
        }
    }

    pub(crate) fn add(&mut self, seen: &Seen) {
        let missing = seen.missing.len() as u64 + self.end.saturating_sub(seen.last);
        self.seen += seen.count;
        self.missing += missing;
        self.doubled += seen.doubled;
        self.out_of_order += seen.out_of_order;
        let is_clean = missing + seen.doubled + seen.out_of_order == 0;
        self.complete += u64::from(is_clean && seen.count >= self.end - self.start);
        for (sum, lag) in self.lags.iter_mut().zip(&seen.lags) {
            *sum += u64::from(*lag);
        }
    }

    /// Returns the lag, in milliseconds, that so many percent of deliveries stay within.
    pub(crate) fn lag(&self, percent: f64) -> usize {
        let all: u64 = self.lags.iter().sum();
        #[expect(
            clippy::cast_precision_loss,
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a share of a count"
        )]
        let wanted = (all as f64 * percent / 100.0).ceil() as u64;
        let mut sum = 0;
        let within = |count: &u64| {
            sum += count;
            sum >= wanted
        };
        self.lags.iter().position(within).unwrap_or(LAG_MS_MAX)
    }
}
