//! Text that people and agents give us, checked once at the edge and bounded ever after.

use std::fmt;

use crate::redact;

/// Why a text was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TextRefusal {
    /// Nothing but white space.
    #[error("{what} must not be empty")]
    Empty { what: &'static str },
    /// More bytes than the field may hold.
    #[error("{what} is {bytes} bytes long; at most {bytes_max} are allowed")]
    TooLong {
        what: &'static str,
        bytes: usize,
        bytes_max: usize,
    },
    /// Control characters or invisible direction marks.
    #[error("{what} contains a control or invisible formatting character")]
    Unprintable { what: &'static str },
    /// The characters do not fit the field.
    #[error("{what} {rule}")]
    Malformed {
        what: &'static str,
        rule: &'static str,
    },
}

/// Tells whether `c` would let a name look like something it is not.
///
/// Bidirectional overrides, tag characters and their kin are invisible and reorder or hide what follows.
pub(crate) fn is_deceptive(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

/// Checks a single line.
fn check_line(what: &'static str, text: &str, bytes_max: usize) -> Result<String, TextRefusal> {
    let text = text.trim();
    if text.is_empty() {
        return Err(TextRefusal::Empty { what });
    }
    check_length(what, text, bytes_max)?;
    if text.chars().any(|c| c.is_control() || is_deceptive(c)) {
        return Err(TextRefusal::Unprintable { what });
    }
    Ok(text.to_owned())
}

/// Checks text of several lines, which may be empty.
fn check_block(what: &'static str, text: &str, bytes_max: usize) -> Result<String, TextRefusal> {
    check_length(what, text, bytes_max)?;
    let bad = |c: char| (c.is_control() && !matches!(c, '\n' | '\r' | '\t')) || is_deceptive(c);
    if text.chars().any(bad) {
        return Err(TextRefusal::Unprintable { what });
    }
    Ok(text.to_owned())
}

fn check_length(what: &'static str, text: &str, bytes_max: usize) -> Result<(), TextRefusal> {
    let bytes = text.len();
    if bytes > bytes_max {
        return Err(TextRefusal::TooLong {
            what,
            bytes,
            bytes_max,
        });
    }
    Ok(())
}

macro_rules! texts {
    ($($(#[$doc:meta])* $name:ident, $what:literal, $bytes_max:literal, $check:path;)+) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub struct $name(String);

        impl $name {
            /// The most bytes it may have.
            pub const BYTES_MAX: usize = $bytes_max;

            /// Checks `text` and keeps it.
            pub fn parse(text: &str) -> Result<Self, TextRefusal> {
                $check($what, text, $bytes_max).map(Self)
            }

            /// Returns the text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }
    )+};
}

texts! {
    /// What something is called: a board, a zone, a repository, a key.
    Name, "a name", 120, check_line;
    /// What a session is called.
    Title, "a title", 200, check_shown_line;
    /// A longer explanation.
    Description, "a description", 4_000, check_shown_block;
    /// A template that makes a prompt out of what is placed in a zone.
    PromptTemplate, "a prompt template", 32_000, check_block;
    /// What an agent is told.
    Prompt, "a prompt", 262_144, check_prompt;
    /// What is to be done.
    TaskText, "a task", 16_000, check_shown_text;
    /// What is to be remembered.
    NoteText, "a note", 16_000, check_shown_text;
    /// What a loop is to do.
    LoopSpec, "a specification", 100_000, check_prompt;
    /// What an iteration came to.
    IterationText, "a summary", 16_000, check_shown_text;
    /// The name a person signs in under.
    UserName, "a user name", 64, check_user_name;
    /// What an agent is found under.
    AgentName, "an agent name", 200, check_line;
    /// A git branch.
    BranchName, "a branch name", 200, check_branch;
    /// A caller's mark on a request it may send twice.
    IdempotencyKey, "an idempotency key", 128, check_line;
}

/// The same, for a line that others are shown and no agent needs to the letter: without secrets.
fn check_shown_line(what: &'static str, text: &str, max: usize) -> Result<String, TextRefusal> {
    check_line(what, text, max).map(|text| redact(&text).into_owned())
}

/// The same, for text of several lines.
fn check_shown_block(what: &'static str, text: &str, max: usize) -> Result<String, TextRefusal> {
    check_block(what, text, max).map(|text| redact(&text).into_owned())
}

/// The same, for what agents write down for each other.
fn check_shown_text(what: &'static str, text: &str, max: usize) -> Result<String, TextRefusal> {
    check_prompt(what, text, max).map(|text| redact(&text).into_owned())
}

/// Checks what an agent is told. People paste anything, emoji and logs with colours among it.
fn check_prompt(what: &'static str, text: &str, bytes_max: usize) -> Result<String, TextRefusal> {
    if text.trim().is_empty() {
        return Err(TextRefusal::Empty { what });
    }
    check_length(what, text, bytes_max)?;
    if text.contains('\0') {
        return Err(TextRefusal::Unprintable { what });
    }
    Ok(text.to_owned())
}

fn check_user_name(
    what: &'static str,
    text: &str,
    bytes_max: usize,
) -> Result<String, TextRefusal> {
    let text = check_line(what, text, bytes_max)?;
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '@' | '+');
    if text.chars().all(fits) && text.starts_with(|c: char| c.is_ascii_alphanumeric()) {
        Ok(text)
    } else {
        Err(TextRefusal::Malformed {
            what,
            rule: "begins with a letter or digit and holds only letters, digits and . _ - @ +",
        })
    }
}

/// Checks a branch name by git's own rules for references (`git help check-ref-format`).
///
/// The leading dash is refused besides, so that a name can never be read as an option.
fn check_branch(what: &'static str, text: &str, bytes_max: usize) -> Result<String, TextRefusal> {
    let text = check_line(what, text, bytes_max)?;
    let forbidden =
        |c: char| c.is_whitespace() || matches!(c, '~' | '^' | ':' | '?' | '*' | '[' | '\\');
    let part_is_bad =
        |part: &str| part.is_empty() || part.starts_with('.') || part.ends_with(".lock");
    let bad = text.starts_with('-')
        || text == "@"
        || text == "HEAD"
        || text.ends_with('.')
        || text.contains("..")
        || text.contains("@{")
        || text.chars().any(forbidden)
        || text.split('/').any(part_is_bad);
    if bad {
        Err(TextRefusal::Malformed {
            what,
            rule: "must follow git's rules for branch names and not begin with a dash",
        })
    } else {
        Ok(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_trimmed_and_bounded() {
        assert_eq!(Name::parse("  Board one ").unwrap().as_str(), "Board one");
        assert!(Name::parse(&"x".repeat(Name::BYTES_MAX)).is_ok());
        assert!(matches!(
            Name::parse(&"x".repeat(Name::BYTES_MAX + 1)),
            Err(TextRefusal::TooLong { bytes: 121, .. })
        ));
    }

    #[test]
    fn names_that_deceive_are_refused() {
        for text in ["a\u{202e}b", "a\nb", "a\u{1b}[31m", "a\u{e0041}", "a\0b"] {
            assert!(
                matches!(Name::parse(text), Err(TextRefusal::Unprintable { .. })),
                "{text:?}"
            );
        }
        assert!(matches!(
            Name::parse(" \t "),
            Err(TextRefusal::Empty { .. })
        ));
    }

    #[test]
    fn branch_names_follow_git() {
        for good in ["main", "feature/x-1", "wheelhouse/Fix_2.0"] {
            assert!(BranchName::parse(good).is_ok(), "{good}");
        }
        for bad in [
            "--upload-pack=x",
            "-b",
            "a..b",
            "a b",
            "a/.b",
            "a.lock",
            "a/",
            "/a",
            "@",
            "a@{1}",
            "HEAD",
            "a~1",
            "a:b",
            "a\\b",
            "x.",
        ] {
            assert!(BranchName::parse(bad).is_err(), "{bad}");
        }
    }
}
