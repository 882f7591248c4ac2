//! Everything xtask prints goes through here. Results go to standard output, progress and errors to standard error, so that the
//! last line of standard output is the result.

/// Prints a line of the result.
#[expect(
    clippy::print_stdout,
    reason = "xtask is a command-line tool; this is its output"
)]
pub(crate) fn line(text: &str) {
    println!("{text}");
}

/// Prints what is about to happen.
#[expect(clippy::print_stderr, reason = "progress of a command-line tool")]
pub(crate) fn progress(text: &str) {
    eprintln!("xtask: {text}");
}

/// Passes on a line that a program we run printed.
#[expect(
    clippy::print_stderr,
    reason = "a program's output, passed on as it comes"
)]
pub(crate) fn passed_on(text: &str) {
    eprintln!("{text}");
}

#[expect(clippy::print_stderr, reason = "errors of a command-line tool")]
pub(crate) fn error(text: &str) {
    eprintln!("xtask: error: {text}");
}

/// Lays out rows under a header; the first column is aligned left, the others right.
pub(crate) fn table(header: &[&str], rows: &[Vec<String>]) -> String {
    let header: Vec<String> = header.iter().map(|&cell| cell.to_owned()).collect();
    let all = || std::iter::once(&header).chain(rows);
    let widths: Vec<usize> = (0..header.len())
        .map(|column| {
            all()
                .filter_map(|row| row.get(column))
                .map(|cell| cell.chars().count())
                .max()
                .unwrap_or(0)
        })
        .collect();
    let layout = |row: &Vec<String>| {
        let cells = row
            .iter()
            .zip(&widths)
            .enumerate()
            .map(|(column, (cell, &width))| {
                if column == 0 {
                    format!("{cell:<width$}")
                } else {
                    format!("{cell:>width$}")
                }
            });
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    all().map(layout).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let rows = vec![
            vec!["fmt".into(), "1".into()],
            vec!["conformance".into(), "339".into()],
        ];
        assert_eq!(
            table(&["step", "passed"], &rows),
            "step         passed\nfmt               1\nconformance     339"
        );
    }
}
