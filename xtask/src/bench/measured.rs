//! One measurement, and the table of several beside their ceiling.

use std::time::Duration;

use crate::ui;

/// What a load generator saw of one server.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Measured {
    pub(super) name: String,
    pub(super) requests_per_second: f64,
    pub(super) p50: Duration,
    pub(super) p99: Duration,
    /// Answers that were not a success, and connections that broke. Anything but 0 makes the rate meaningless.
    pub(super) errors: u64,
}

/// Lays the measurements out with each one's share of the first, which is the ceiling.
pub(super) fn table(ceiling: &Measured, others: &[Measured]) -> String {
    let rows: Vec<_> = std::iter::once(ceiling)
        .chain(others)
        .map(|row| {
            let ratio = row.requests_per_second / ceiling.requests_per_second;
            vec![
                row.name.clone(),
                format!("{:.0}", row.requests_per_second),
                milliseconds(row.p50),
                milliseconds(row.p99),
                row.errors.to_string(),
                format!("{ratio:.3}"),
            ]
        })
        .collect();
    ui::table(
        &[
            "server",
            "req/s",
            "p50 ms",
            "p99 ms",
            "errors",
            "of ceiling",
        ],
        &rows,
    )
}

fn milliseconds(duration: Duration) -> String {
    format!("{:.2}", duration.as_secs_f64() * 1000.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_row_has_its_share_of_the_ceiling() {
        let measured = |name: &str, rate: f64| Measured {
            name: name.into(),
            requests_per_second: rate,
            p50: Duration::from_micros(410),
            p99: Duration::from_micros(6700),
            errors: 0,
        };
        let table = table(
            &measured("bare axum", 50000.0),
            &[measured("board_get", 15000.0)],
        );
        assert_eq!(
            table,
            "server     req/s  p50 ms  p99 ms  errors  of ceiling\n\
             bare axum  50000    0.41    6.70       0       1.000\n\
             board_get  15000    0.41    6.70       0       0.300"
        );
    }
}
