//! Aligned columns.

use super::clean;

const GAP: &str = "  ";

/// Rows under headings.
#[derive(Debug)]
pub(crate) struct Table {
    headings: Vec<&'static str>,
    rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(headings: &[&'static str]) -> Self {
        Self {
            headings: headings.to_vec(),
            rows: Vec::new(),
        }
    }

    /// Adds a row, a cell per heading.
    pub(crate) fn row<const N: usize>(&mut self, cells: [&str; N]) {
        debug_assert_eq!(cells.len(), self.headings.len());
        self.rows.push(cells.map(clean).into());
    }

    pub(super) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Lays the table out; `heading` colours the first line.
    pub(super) fn render(&self, heading: impl Fn(&str) -> String) -> String {
        let widths: Vec<_> = self
            .headings
            .iter()
            .enumerate()
            .map(|(column, heading)| {
                let cells = self.rows.iter().map(|row| width(&row[column]));
                cells.max().unwrap_or(0).max(width(heading))
            })
            .collect();
        let line = |cells: &mut dyn Iterator<Item = &str>| {
            let padded: Vec<_> = cells
                .zip(&widths)
                .map(|(cell, max)| pad(cell, *max))
                .collect();
            padded.join(GAP).trim_end().to_owned()
        };
        let mut text = heading(&line(&mut self.headings.iter().copied()));
        text.push('\n');
        for row in &self.rows {
            text.push_str(&line(&mut row.iter().map(String::as_str)));
            text.push('\n');
        }
        text
    }
}

fn pad(cell: &str, max: usize) -> String {
    format!("{cell}{}", " ".repeat(max.saturating_sub(width(cell))))
}

/// Counts columns as most terminals do: characters, the wide ones of East Asia and emoji as two.
fn width(text: &str) -> usize {
    text.chars().map(|c| 1 + usize::from(is_wide(c))).sum()
}

fn is_wide(c: char) -> bool {
    matches!(c, '\u{1100}'..='\u{115f}' | '\u{2e80}'..='\u{a4cf}' | '\u{ac00}'..='\u{d7a3}'
        | '\u{f900}'..='\u{faff}' | '\u{fe30}'..='\u{fe6f}' | '\u{ff00}'..='\u{ff60}'
        | '\u{1f300}'..='\u{1f64f}' | '\u{1f900}'..='\u{1f9ff}' | '\u{20000}'..='\u{3fffd}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_cleaned() {
        let mut table = Table::new(&["ID", "NAME"]);
        table.row(["1", "größe"]);
        table.row(["1234", "a\u{1b}b"]);
        table.row(["日本", "x"]);
        insta::assert_snapshot!(table.render(str::to_owned), @r"
        ID    NAME
        1     größe
        1234  a\u{1b}b
        日本  x
        ");
    }
}
