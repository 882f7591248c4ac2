//! Notices an agent that says the same again and again.

use std::hash::{DefaultHasher, Hash, Hasher};

/// So many equal messages in a row are worth a warning.
pub(super) const REPEATS_MAX: u32 = 10;

/// Counts equal messages in a row.
#[derive(Debug, Default)]
pub(super) struct Repeats {
    /// A digest of the last message.
    last: Option<u64>,
    count: u32,
    has_warned: bool,
}

impl Repeats {
    /// Adds a message; true when it is time to warn, which is once.
    pub(super) fn add(&mut self, text: &str) -> bool {
        let text = text.trim();
        if text.is_empty() {
            return false;
        }
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        let digest = Some(hasher.finish());
        self.count = match self.last == digest {
            true => self.count.saturating_add(1),
            false => 1,
        };
        self.last = digest;
        let is_time = self.count >= REPEATS_MAX && !self.has_warned;
        self.has_warned |= is_time;
        is_time
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_warns_once_and_only_of_equal_messages_in_a_row() {
        let mut repeats = Repeats::default();
        for _ in 0..9 {
            assert!(!repeats.add("same\n"));
        }
        assert!(!repeats.add("other"));
        assert!(!repeats.add(" "));
        let warned: Vec<_> = (0..30).map(|_| repeats.add("same")).collect();
        assert_eq!(warned.iter().position(|it| *it), Some(9));
        assert_eq!(warned.iter().filter(|it| **it).count(), 1);
    }
}
