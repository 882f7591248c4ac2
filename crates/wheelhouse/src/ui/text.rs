//! Making text safe and short for a terminal.

/// Shows control characters, and those that are invisible or reorder text, as escapes.
pub(crate) fn clean(text: &str) -> String {
    escaped(text, |c, is_hostile, out| match c {
        '\n' => out.push_str("\\n"),
        '\t' => out.push_str("\\t"),
        c if is_hostile => out.extend(c.escape_unicode()),
        c => out.push(c),
    })
}

/// Does the same to text of several lines: line ends and tabs stay.
pub(crate) fn clean_lines(text: &str) -> String {
    escaped(text, |c, is_hostile, out| match c {
        '\n' | '\t' => out.push(c),
        c if is_hostile => out.extend(c.escape_unicode()),
        c => out.push(c),
    })
}

/// Escapes what JSON itself leaves alone but a terminal may obey. The document means the same.
pub(super) fn json_clean(json: &str) -> String {
    escaped(json, |c, is_hostile, out| match c {
        '\n' => out.push(c),
        c if is_hostile => {
            for unit in c.encode_utf16(&mut [0; 2]) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        }
        c => out.push(c),
    })
}

/// Writes text anew, character by character; `write` is told of each whether a terminal must not see it.
fn escaped(text: &str, mut write: impl FnMut(char, bool, &mut String)) -> String {
    let mut out = String::with_capacity(text.len());
    let mut before = None;
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let is_hostile = match c {
            JOINER_NOT | JOINER => !(is_joined(before) && is_joined(rest.peek().copied())),
            // One chooses how the character before it looks; more of them only hide something.
            '\u{fe00}'..='\u{fe0f}' => before.is_none_or(is_variation),
            c => is_hidden(c),
        };
        write(c, is_hostile, &mut out);
        before = Some(c);
    }
    out
}

/// Joins emoji, and letters of some scripts, into one; or keeps letters apart.
const JOINER: char = '\u{200d}';
const JOINER_NOT: char = '\u{200c}';

/// Tells whether a joiner may stand beside this: neither text in ASCII nor what is invisible itself needs one.
fn is_joined(c: Option<char>) -> bool {
    c.is_some_and(|c| !c.is_ascii() && !is_hidden(c) && !matches!(c, JOINER | JOINER_NOT))
}

fn is_variation(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}')
}

/// Tells whether a character steers a terminal, reorders text or cannot be seen: overrides of the writing direction, zero-width
/// characters, tags and the variation selectors beside them.
fn is_hidden(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}'
                | '\u{34f}'
                | '\u{61c}'
                | '\u{115f}'
                | '\u{1160}'
                | '\u{17b4}'
                | '\u{17b5}'
                | '\u{180b}'..='\u{180f}'
        )
        || matches!(c, '\u{200b}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || matches!(c, '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{e0000}'..='\u{e0fff}')
}

/// Cuts text that is too long for its place; the cut shows.
pub(crate) fn shortened(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Writes money.
pub(crate) fn dollars(micros: u64) -> String {
    format!("${}.{:02}", micros / 1_000_000, micros % 1_000_000 / 10_000)
}

/// Shows an amount of money; one that is in part an estimate has a `~` before it.
pub(crate) fn cost(micros: u64, estimated_micros: u64) -> String {
    let about = if estimated_micros > 0 { "~" } else { "" };
    format!("{about}{}", dollars(micros))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_shown_not_obeyed() {
        assert_eq!(clean("a\u{1b}[31mb\u{9b}0m"), "a\\u{1b}[31mb\\u{9b}0m");
        assert_eq!(clean("one\ntwo\u{202e}x"), "one\\ntwo\\u{202e}x");
        assert_eq!(clean("größe ✓"), "größe ✓");
    }

    #[test]
    fn what_cannot_be_seen_is_shown() {
        assert_eq!(
            clean("a\u{200b}b\u{2060}\u{ad}"),
            "a\\u{200b}b\\u{2060}\\u{ad}"
        );
        assert_eq!(clean("ok\u{e0069}\u{e0067}"), "ok\\u{e0069}\\u{e0067}");
        assert_eq!(clean("a\u{200d}b"), "a\\u{200d}b");
        assert_eq!(clean("x\u{fe01}\u{fe02}"), "x\u{fe01}\\u{fe02}");
        // What people write stays: families of emoji, hearts in colour, Persian with its joiners.
        for text in [
            "👨\u{200d}👩\u{200d}👧",
            "❤\u{fe0f}",
            "👩🏽\u{200d}❤\u{fe0f}\u{200d}👨",
            "می\u{200c}خواهم",
        ] {
            assert_eq!(clean(text), text);
        }
        let json = serde_json::to_string("a\u{e0041}").unwrap();
        let cleaned = json_clean(&json);
        assert_eq!(cleaned, "\"a\\udb40\\udc41\"");
        let back: String = serde_json::from_str(&cleaned).unwrap();
        assert_eq!(back, "a\u{e0041}");
    }

    #[test]
    fn escaped_json_means_the_same() {
        let text = serde_json::to_string("a\u{9b}b\u{7f}\u{202e}").unwrap();
        let cleaned = json_clean(&text);
        assert!(cleaned.is_ascii());
        let back: String = serde_json::from_str(&cleaned).unwrap();
        assert_eq!(back, "a\u{9b}b\u{7f}\u{202e}");
    }

    #[test]
    fn a_cut_falls_between_characters_and_shows() {
        assert_eq!(shortened("größe", 5), "größe");
        assert_eq!(shortened("größe", 3), "grö…");
        assert_eq!(shortened("", 0), "");
    }

    #[test]
    fn text_keeps_its_lines() {
        assert_eq!(clean_lines("a\n\tb\r\u{1b}[1m"), "a\n\tb\\u{d}\\u{1b}[1m");
    }
}
