//! Keeps secrets out of what is logged, shown and stored.

use std::borrow::Cow;

use crate::key::key_tags;

/// Replaces the secret part of every key-shaped word with `…`, leaving the part that may be shown.
pub fn redact(text: &str) -> Cow<'_, str> {
    // Every tag has one; most of what is looked at, such as an id, has none.
    if !text.as_bytes().contains(&b'_') {
        return Cow::Borrowed(text);
    }
    let mut out = String::new();
    let mut rest = text;
    while let Some((start, tag_len)) = next_tag(rest) {
        let digits_at = start + tag_len;
        let digits = rest[digits_at..]
            .bytes()
            .take_while(u8::is_ascii_hexdigit)
            .count();
        let shown = digits_at + digits.min(8);
        out.push_str(&rest[..shown]);
        if digits > 8 {
            out.push('…');
        }
        rest = &rest[digits_at + digits..];
    }
    if out.is_empty() {
        return Cow::Borrowed(text);
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Returns where the next tag begins and how long it is.
fn next_tag(text: &str) -> Option<(usize, usize)> {
    key_tags()
        .filter_map(|tag| text.find(tag).map(|at| (at, tag.len())))
        .min()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_secret_part_goes() {
        let key = "wh_full_0123456789abcdef0123456789abcdef";
        let text = format!("GET /mcp?sessionToken={key}&x=1 and {key}");
        assert_eq!(
            redact(&text),
            "GET /mcp?sessionToken=wh_full_01234567…&x=1 and wh_full_01234567…"
        );
        assert!(matches!(redact("nothing here"), Cow::Borrowed(_)));
        assert_eq!(redact("wh_sess_12"), "wh_sess_12");
        assert_eq!(redact("ca_sess_0123456789abcdef"), "ca_sess_01234567…");
    }
}
