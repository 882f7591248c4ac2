//! Where time and randomness come from, so that tests can choose both.

use jiff::Timestamp;
use uuid::Uuid;

/// Tells the time.
pub trait Clock: Send + Sync {
    /// Returns the time now.
    fn now(&self) -> Timestamp;
}

/// Makes ids and secrets.
pub trait IdSource: Send + Sync {
    /// Returns a fresh UUIDv7.
    fn next(&self) -> Uuid;

    /// Returns 128 random bits fit for a secret.
    fn secret_bits(&self) -> u128;
}

/// Ids and secrets from the operating system's randomness.
#[derive(Clone, Copy, Debug, Default)]
pub struct RandomIds;

impl IdSource for RandomIds {
    fn next(&self) -> Uuid {
        Uuid::now_v7()
    }

    fn secret_bits(&self) -> u128 {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).expect("the operating system gives randomness");
        u128::from_be_bytes(bytes)
    }
}
