//! A look at a JSON text before it is parsed: how deep it nests, and whether it is an array.

/// What a linear scan can tell about a JSON text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shape {
    /// Arrays and objects nest deeper than allowed.
    TooDeep,
    /// The text starts with `[`, which in JSON-RPC is a batch.
    Array,
    /// Anything else, valid or not: the parser decides.
    Other,
}

/// Scans `text` once.
///
/// Recursive parsers, and every recursive walk over the parsed value later, spend stack per level; a
/// body of four million brackets must be refused before any of them sees it. The text need not be
/// valid: on garbage the answer is merely irrelevant, because parsing fails anyway.
pub(super) fn scan(text: &[u8], depth_max: usize) -> Shape {
    let mut depth = 0_usize;
    let mut bytes = text.iter();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => skip_string(&mut bytes),
            b'{' | b'[' => {
                depth += 1;
                if depth > depth_max {
                    return Shape::TooDeep;
                }
            }
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    match text.trim_ascii_start().first() {
        Some(b'[') => Shape::Array,
        _ => Shape::Other,
    }
}

fn skip_string(bytes: &mut std::slice::Iter<'_, u8>) {
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => return,
            b'\\' => {
                bytes.next();
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, depth_max: usize, expected: Shape) {
        assert_eq!(scan(text.as_bytes(), depth_max), expected, "{text}");
    }

    #[test]
    fn nesting_is_counted_to_the_level() {
        check("[[[]]]", 3, Shape::Array);
        check("[[[]]]", 2, Shape::TooDeep);
        check(r#"{"a":{"b":1}}"#, 2, Shape::Other);
        check(r#"{"a":{"b":[]}}"#, 2, Shape::TooDeep);
    }

    #[test]
    fn siblings_do_not_add_up() {
        check(&format!("[{}1]", "[],".repeat(1000)), 2, Shape::Array);
    }

    #[test]
    fn brackets_inside_strings_do_not_count() {
        check(r#"{"a":"[[[[[["}"#, 1, Shape::Other);
        check(r#"{"a":"\"[[[[\\","b":"[["}"#, 1, Shape::Other);
        check(r#"{"a":"\\","b":[[]]}"#, 2, Shape::TooDeep);
    }

    #[test]
    fn garbage_never_panics() {
        for text in ["", "\"", "\"\\", "]]]", "}{", "   ", "nul"] {
            check(text, 8, Shape::Other);
        }
        check(" \n\t[", 8, Shape::Array);
    }
}
