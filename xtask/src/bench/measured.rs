//! Measurements, and the table of several beside their ceiling.

use std::time::Duration;

use crate::ui;

/// What one sample saw of one server.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Measured {
    pub(super) requests_per_second: f64,
    pub(super) p50: Duration,
    pub(super) p99: Duration,
    /// Processor time of the server for each request, if it was measured.
    pub(super) cpu: Option<Duration>,
    /// Answers that were not a success, and connections that broke. Anything but 0 makes the rate meaningless.
    pub(super) errors: u64,
}

/// Samples of one thing. The n-th of each series were taken one after the other, so that they met the same machine.
#[derive(Debug, Clone)]
pub(super) struct Series {
    pub(super) name: String,
    pub(super) samples: Vec<Measured>,
}

impl Series {
    pub(super) fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            samples: vec![],
        }
    }

    fn median(&self, value: impl Fn(&Measured) -> f64) -> f64 {
        median(self.samples.iter().map(value).collect())
    }

    /// The median of this series' shares of the ceiling, sample by sample.
    fn share(&self, ceiling: &Self, value: impl Fn(&Measured) -> f64) -> f64 {
        let pairs = self.samples.iter().zip(&ceiling.samples);
        median(
            pairs
                .map(|(own, limit)| value(own) / value(limit))
                .collect(),
        )
    }
}

/// Returns the middle value; 0 of none.
pub(super) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    match values.len() {
        0 => 0.0,
        n if n % 2 == 1 => values[n / 2],
        n => f64::midpoint(values[n / 2 - 1], values[n / 2]),
    }
}

/// Lays the medians out with each one's share of the first series, which is the ceiling. `what` is what is counted.
pub(super) fn table(what: &str, series: &[Series]) -> String {
    let Some(ceiling) = series.first() else {
        return String::new();
    };
    let cpu_micros = |m: &Measured| m.cpu.map_or(f64::NAN, |cpu| cpu.as_secs_f64() * 1e6);
    let rows: Vec<_> = series
        .iter()
        .map(|row| {
            let rate = |m: &Measured| m.requests_per_second;
            let millis = |p: fn(&Measured) -> Duration| {
                let median = row.median(|m| p(m).as_secs_f64() * 1e3);
                known(median, |ms| ms > 0.0, 2)
            };
            let rates = row.samples.iter().map(rate);
            let (low, high) = (
                rates.clone().fold(f64::INFINITY, f64::min),
                rates.fold(0.0, f64::max),
            );
            let errors: u64 = row.samples.iter().map(|m| m.errors).sum();
            vec![
                row.name.clone(),
                format!("{:.0}", row.median(rate)),
                format!("{low:.0}-{high:.0}"),
                millis(|m| m.p50),
                millis(|m| m.p99),
                known(row.median(cpu_micros), f64::is_finite, 1),
                errors.to_string(),
                format!("{:.3}", row.share(ceiling, rate)),
                known(row.share(ceiling, cpu_micros), f64::is_finite, 2),
            ]
        })
        .collect();
    let header = [
        "", what, "min-max", "p50 ms", "p99 ms", "CPU us", "errors", "of first", "CPU x",
    ];
    ui::table(&header, &rows)
}

fn known(value: f64, is_known: impl Fn(f64) -> bool, digits: usize) -> String {
    if is_known(value) {
        format!("{value:.digits$}")
    } else {
        "-".to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(name: &str, samples: &[(f64, Option<u64>)]) -> Series {
        let measured = |&(rate, cpu): &(f64, Option<u64>)| Measured {
            requests_per_second: rate,
            p50: Duration::from_micros(410),
            p99: Duration::from_micros(6700),
            cpu: cpu.map(Duration::from_micros),
            errors: 0,
        };
        Series {
            name: name.into(),
            samples: samples.iter().map(measured).collect(),
        }
    }

    #[test]
    fn each_row_has_its_share_of_the_ceiling() {
        let table = table(
            "req/s",
            &[
                series(
                    "echo",
                    &[
                        (50000.0, Some(20)),
                        (20000.0, Some(20)),
                        (40000.0, Some(20)),
                    ],
                ),
                series(
                    "board_get",
                    &[
                        (25000.0, Some(30)),
                        (15000.0, Some(30)),
                        (20000.0, Some(30)),
                    ],
                ),
                series("unknown", &[(50000.0, None); 3]),
            ],
        );
        assert_eq!(
            table,
            "           req/s      min-max  p50 ms  p99 ms  CPU us  errors  of first  CPU x\n\
             echo       40000  20000-50000    0.41    6.70    20.0       0     1.000   1.00\n\
             board_get  20000  15000-25000    0.41    6.70    30.0       0     0.500   1.50\n\
             unknown    50000  50000-50000    0.41    6.70       -       0     1.250      -"
        );
    }

    #[test]
    fn the_median_of_an_even_number_lies_between() {
        assert_eq!(median(vec![4.0, 1.0, 3.0, 2.0]), 2.5);
        assert_eq!(median(vec![]), 0.0);
    }
}
