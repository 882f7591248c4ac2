//! Words by which a session is found: those of its title, or part of its id.

use crate::InputRefusal;

/// The words that a session's title must contain, in any order. The case of ASCII letters does not matter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TitleWords(Vec<String>);

impl TitleWords {
    /// The most bytes of the text.
    pub const BYTES_MAX: usize = 200;
    /// The most words.
    pub const COUNT_MAX: usize = 8;
    /// The fewest digits that are also compared with ids.
    const ID_DIGITS_MIN: usize = 6;

    /// Reads the words of a search; nothing when there are none.
    pub fn parse(text: &str) -> Result<Option<Self>, InputRefusal> {
        if text.len() > Self::BYTES_MAX {
            let rule = format!("must have at most {} bytes", Self::BYTES_MAX);
            return Err(InputRefusal::new("title", rule));
        }
        let words: Vec<_> = text
            .split_whitespace()
            .map(str::to_ascii_lowercase)
            .collect();
        if words.len() > Self::COUNT_MAX {
            let rule = format!("must have at most {} words", Self::COUNT_MAX);
            return Err(InputRefusal::new("title", rule));
        }
        Ok((!words.is_empty()).then_some(Self(words)))
    }

    /// Returns the words, in lower case.
    pub fn words(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    /// Returns the digits of an id, in lower case and without hyphens, if the text may be an id or the end of one.
    pub fn id_digits(&self) -> Option<String> {
        let [word] = self.0.as_slice() else {
            return None;
        };
        let digits = word.replace('-', "");
        let is_id = digits.len() >= Self::ID_DIGITS_MIN
            && digits.chars().all(|digit| digit.is_ascii_hexdigit());
        is_id.then_some(digits)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> TitleWords {
        TitleWords::parse(text).unwrap().unwrap()
    }

    #[test]
    fn a_search_is_words_in_lower_case() {
        let search = words("  Fix the\tLOGIN ");
        assert_eq!(search.words().collect::<Vec<_>>(), ["fix", "the", "login"]);
        assert_eq!(TitleWords::parse(" \n"), Ok(None));
    }

    #[test]
    fn one_word_of_hexadecimal_digits_may_be_an_id() {
        assert_eq!(words("89ABcdef").id_digits().unwrap(), "89abcdef");
        let id = words("01a1e180-7da6-7766-8294-7bda2942616a").id_digits();
        assert_eq!(id.unwrap(), "01a1e1807da6776682947bda2942616a");
        for text in ["beef", "cafes!", "89abcdef two"] {
            assert_eq!(words(text).id_digits(), None, "{text}");
        }
    }

    #[test]
    fn searches_are_bounded() {
        assert!(TitleWords::parse(&"x".repeat(201)).is_err());
        assert!(TitleWords::parse("a b c d e f g h i").is_err());
        assert!(TitleWords::parse("a b c d e f g h").is_ok());
    }
}
