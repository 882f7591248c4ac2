//! Slows down whoever presents credentials that are not valid.

use std::{collections::HashMap, net::IpAddr, sync::Mutex};

use jiff::Timestamp;

/// Failed attempts an address may make at once.
const BURST: f64 = 30.0;
/// Attempts an address gets back each second.
const PER_SECOND: f64 = 0.5;
/// Addresses remembered; beyond that the fullest buckets are forgotten.
const ADDRESSES_MAX: usize = 10_000;

/// Counts failed authentications by address.
///
/// An address that has used up its attempts is refused before anything is looked up, except with a credential that
/// was verified a moment ago: one misconfigured agent must not lock out the others on the same machine.
#[derive(Default)]
pub(crate) struct Attempts {
    buckets: Mutex<HashMap<IpAddr, Bucket>>,
}

#[derive(Clone, Copy)]
struct Bucket {
    left: f64,
    at: Timestamp,
}

impl Bucket {
    fn refilled(self, now: Timestamp) -> Self {
        let seconds = now.duration_since(self.at).as_secs_f64().max(0.0);
        Self {
            left: (self.left + seconds * PER_SECOND).min(BURST),
            at: now,
        }
    }
}

impl Attempts {
    /// Tells whether `address` may try, or in how many seconds it may.
    pub(crate) fn check(&self, address: IpAddr, now: Timestamp) -> Result<(), u64> {
        let buckets = self.buckets.lock().unwrap_or_else(|e| e.into_inner());
        match buckets.get(&address).map(|bucket| bucket.refilled(now)) {
            Some(bucket) if bucket.left < 1.0 => {
                #[expect(
                    clippy::cast_possible_truncation,
                    clippy::cast_sign_loss,
                    reason = "a few seconds"
                )]
                let wait = ((1.0 - bucket.left) / PER_SECOND).ceil() as u64;
                Err(wait.max(1))
            }
            _ => Ok(()),
        }
    }

    /// Notes a failed attempt.
    pub(crate) fn fail(&self, address: IpAddr, now: Timestamp) {
        let mut buckets = self.buckets.lock().unwrap_or_else(|e| e.into_inner());
        if buckets.len() >= ADDRESSES_MAX && !buckets.contains_key(&address) {
            buckets.retain(|_, bucket| bucket.refilled(now).left < BURST);
            if buckets.len() >= ADDRESSES_MAX {
                buckets.clear();
            }
        }
        let fresh = Bucket {
            left: BURST,
            at: now,
        };
        let bucket = buckets.entry(address).or_insert(fresh);
        *bucket = bucket.refilled(now);
        bucket.left -= 1.0;
    }
}

#[cfg(test)]
mod tests {
    use jiff::SignedDuration;

    use super::*;

    #[test]
    fn the_burst_runs_out_and_comes_back() {
        let attempts = Attempts::default();
        let address = IpAddr::from([127, 0, 0, 1]);
        let start = Timestamp::UNIX_EPOCH;
        for _ in 0..30 {
            assert_eq!(attempts.check(address, start), Ok(()));
            attempts.fail(address, start);
        }
        assert_eq!(attempts.check(address, start), Err(2));
        assert_eq!(attempts.check(IpAddr::from([127, 0, 0, 2]), start), Ok(()));
        let later = start + SignedDuration::from_secs(2);
        assert_eq!(attempts.check(address, later), Ok(()));
    }
}
