//! Marked blocks: parts of somebody else's file that the server keeps.

/// How the lines around a block are written in a kind of file.
pub(crate) struct Marks {
    before: &'static str,
    after: &'static str,
}

/// In files whose comments begin with `#`.
pub(crate) const HASH: Marks = Marks {
    before: "# ",
    after: "",
};

/// In Markdown, where nobody sees them.
pub(crate) const MARKDOWN: Marks = Marks {
    before: "<!-- ",
    after: " -->",
};

impl Marks {
    /// Returns the text with the block of `key` replaced by `lines` at its end, or taken away when there are none.
    pub(crate) fn with_block(&self, text: &str, key: &str, lines: &str) -> String {
        let mark = |word| format!("{}wheelhouse {word} {key}{}", self.before, self.after);
        let (begin, end) = (mark("begin"), mark("end"));
        // A block that somebody left open is not a block: taking the rest of the file away would be worse.
        let closed = text.lines().any(|line| line == end);
        let mut inside = false;
        let mut new = String::new();
        for line in text.lines() {
            inside |= closed && line == begin;
            if !inside {
                new.push_str(line);
                new.push('\n');
            }
            inside &= line != end;
        }
        if !lines.is_empty() {
            new.push_str(&format!("{begin}\n{lines}\n{end}\n"));
        }
        new
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_replaced_and_the_rest_stays() {
        for marks in [HASH, MARKDOWN] {
            let one = marks.with_block("*.tmp\n", "s1", "a");
            let two = marks.with_block(&one, "s2", "b\nc");
            let three = marks.with_block(&two, "s1", "d");
            let mark = |word, key| {
                let (before, after) = (marks.before, marks.after);
                format!("{before}wheelhouse {word} {key}{after}\n")
            };
            let block = |key, lines| format!("{}{lines}\n{}", mark("begin", key), mark("end", key));
            let whole = format!("*.tmp\n{}{}", block("s2", "b\nc"), block("s1", "d"));
            assert_eq!(three, whole);
            let gone = marks.with_block(&marks.with_block(&three, "s1", ""), "s2", "");
            assert_eq!(gone, "*.tmp\n");
        }
    }
}
