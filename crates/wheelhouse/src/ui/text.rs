//! Making text safe and short for a terminal.

/// Shows control characters, and those that reorder text, as escapes.
pub(crate) fn clean(text: &str) -> String {
    let mut cleaned = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' => cleaned.push_str("\\n"),
            '\t' => cleaned.push_str("\\t"),
            c if is_hostile(c) => cleaned.extend(c.escape_unicode()),
            c => cleaned.push(c),
        }
    }
    cleaned
}

/// Escapes what JSON itself leaves alone but a terminal may obey. The document means the same.
pub(super) fn json_clean(json: &str) -> String {
    let mut cleaned = String::with_capacity(json.len());
    for c in json.chars() {
        match c {
            '\n' => cleaned.push(c),
            c if is_hostile(c) => cleaned.push_str(&format!("\\u{:04x}", u32::from(c))),
            c => cleaned.push(c),
        }
    }
    cleaned
}

fn is_hostile(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}')
        || matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}')
}

/// Shortens a time for people: `2026-11-15T10:52:30.123Z` to `2026-11-15 10:52:30`, which is UTC.
pub(crate) fn moment(at: &str) -> String {
    match (at.get(..10), at.get(10..11), at.get(11..19)) {
        (Some(day), Some("T"), Some(time)) if at.ends_with('Z') => format!("{day} {time}"),
        _ => at.to_owned(),
    }
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
    fn escaped_json_means_the_same() {
        let text = serde_json::to_string("a\u{9b}b\u{7f}\u{202e}").unwrap();
        let cleaned = json_clean(&text);
        assert!(cleaned.is_ascii());
        let back: String = serde_json::from_str(&cleaned).unwrap();
        assert_eq!(back, "a\u{9b}b\u{7f}\u{202e}");
    }

    #[test]
    fn times_are_shortened() {
        assert_eq!(moment("2026-11-15T10:52:30.123456Z"), "2026-11-15 10:52:30");
        assert_eq!(moment("soon"), "soon");
    }
}
