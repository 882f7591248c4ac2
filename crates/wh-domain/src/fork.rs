//! Sessions that were branched off others.

use crate::{RequestedTerms, Session, Title};

/// A session that was branched off another.
#[derive(Clone, Debug, PartialEq)]
pub struct Forked {
    pub session: Session,
    pub files: ForkedFiles,
    /// The terms that it would have without a parent's or server's limits.
    pub requested: RequestedTerms,
}

/// What a fork did with files that were not committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ForkedFiles {
    /// They are in its worktree, uncommitted.
    Taken,
    /// There are some, and they were left, as asked for.
    Left,
    /// None are kept of that turn.
    None,
}

impl ForkedFiles {
    /// Returns the name as shown.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Taken => "taken",
            Self::Left => "left",
            Self::None => "none",
        }
    }
}

/// Returns the title of a fork: that of its source with "(fork)", or with a number when the source has forks already.
pub fn fork_title(source: &Title, forks_before: u64) -> Title {
    let suffix = match forks_before {
        0 => " (fork)".to_owned(),
        n => format!(" (fork {})", n + 1),
    };
    let mut kept = source.as_str();
    loop {
        if let Ok(title) = Title::parse(&format!("{}{suffix}", kept.trim_end())) {
            return title;
        }
        // Too long: the end of the source's title makes room.
        let Some((last, _)) = kept.char_indices().next_back() else {
            return source.clone();
        };
        kept = &kept[..last];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fork_has_a_title_of_its_own_however_long_that_of_its_source_is() {
        let title = |text: &str| Title::parse(text).unwrap();
        assert_eq!(fork_title(&title("Colours"), 0), title("Colours (fork)"));
        assert_eq!(fork_title(&title("Colours"), 2), title("Colours (fork 3)"));
        let long = title(&"ä".repeat(100));
        let fork = fork_title(&long, 11);
        assert!(fork.as_str().starts_with("ää") && fork.as_str().ends_with("ä (fork 12)"));
    }
}
