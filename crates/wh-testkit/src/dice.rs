//! Randomness that can be repeated: a seed, printed, that a variable can set.

#![expect(clippy::print_stdout, reason = "a test prints its seed")]

use std::hash::{BuildHasher, Hasher, RandomState};

/// A small generator (splitmix64); nothing here needs a better one.
pub struct Dice(u64);

impl Dice {
    /// Takes the seed from `WH_SEED`, or a fresh one, and prints it.
    pub fn roll_out(test: &str) -> Self {
        let given = std::env::var("WH_SEED")
            .ok()
            .and_then(|seed| seed.parse().ok());
        // The standard library seeds its maps by chance, which is all that is wanted here.
        let seed = given.unwrap_or_else(|| RandomState::new().build_hasher().finish());
        println!("{test}: WH_SEED={seed}");
        Self(seed)
    }

    /// Takes a seed that other dice rolled.
    pub fn from_seed(seed: u64) -> Self {
        Self(seed)
    }

    pub fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % end
    }
}

/// Reads a count that a variable can raise for a long run.
pub fn count(variable: &str, usual: u64) -> u64 {
    let given = std::env::var(variable).ok().and_then(|n| n.parse().ok());
    given.unwrap_or(usual)
}
