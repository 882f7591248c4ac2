//! Slows down callers that present invalid credentials.

use std::{collections::HashMap, net::IpAddr, sync::Mutex};

use jiff::{SignedDuration, Timestamp};
use quick_cache::sync::Cache;
use wh_domain::KeyHash;

/// Failed attempts an address may make at once.
const BURST: f64 = 30.0;
/// Attempts an address gets back each second.
const PER_SECOND: f64 = 0.5;
/// Addresses remembered; beyond that the fullest buckets are forgotten.
const ADDRESSES_MAX: usize = 10_000;

/// Hashes remembered as belonging to no key; beyond that the least recently used are forgotten.
const UNKNOWN_MAX: usize = 4_096;
/// How long such a hash is remembered.
const UNKNOWN_FOR: SignedDuration = SignedDuration::from_secs(5);

/// Remembers hashes that belong to no key, so that a client that keeps sending one wrong key does not reach the database.
///
/// Keys are random, so a hash that belonged to no key a moment ago still belongs to none.
pub(crate) struct UnknownKeys(Cache<[u8; 32], Timestamp>);

impl Default for UnknownKeys {
    fn default() -> Self {
        Self(Cache::new(UNKNOWN_MAX))
    }
}

impl UnknownKeys {
    /// Returns whether no key had this hash when it was last looked up.
    pub(crate) fn contains(&self, hash: &KeyHash, now: Timestamp) -> bool {
        self.0.get(&hash.0).is_some_and(|until| now < until)
    }

    /// Records that no key has this hash.
    pub(crate) fn insert(&self, hash: &KeyHash, now: Timestamp) {
        self.0.insert(hash.0, now + UNKNOWN_FOR);
    }
}

/// Counts failed authentications by address.
///
/// Failures decide only how the next *invalid* credential is answered. A valid one is never refused because of others:
/// all programs on one machine, and every web page open in its browser, share an address.
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
    /// Counts a failed attempt of `address`. If it has used up its attempts, returns the seconds until it has another.
    pub(crate) fn fail(&self, address: IpAddr, now: Timestamp) -> Result<(), u64> {
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
        if bucket.left < 1.0 {
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "a few seconds"
            )]
            let wait = ((1.0 - bucket.left) / PER_SECOND).ceil() as u64;
            return Err(wait.max(1));
        }
        bucket.left -= 1.0;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_burst_runs_out_and_comes_back() {
        let attempts = Attempts::default();
        let address = IpAddr::from([127, 0, 0, 1]);
        let start = Timestamp::UNIX_EPOCH;
        for _ in 0..30 {
            assert_eq!(attempts.fail(address, start), Ok(()));
        }
        assert_eq!(attempts.fail(address, start), Err(2));
        assert_eq!(attempts.fail(IpAddr::from([127, 0, 0, 2]), start), Ok(()));
        let later = start + SignedDuration::from_secs(2);
        assert_eq!(attempts.fail(address, later), Ok(()));
    }
}
