//! 500 subscribers of the whole change feed while 200 sessions stream 2 000 messages a second in all: whether each gets everything in
//! order, how late, and what it costs. What a session says while the one before is being stored shares its event.

use std::time::Duration;

use anyhow::Result;

use super::fixture::Programs;
use crate::ui;
use crate::workspace::Workspace;

const MEGABYTE: f64 = 1024.0 * 1024.0;

/// What p99 should stay under, in milliseconds.
const LAG_P99_MS_MAX: f64 = 150.0;

pub(super) fn run(_workspace: &Workspace, programs: &Programs) -> Result<String> {
    ui::progress("500 subscribers, 200 sessions");
    let made = programs.measure_subscribers(Duration::from_secs(600))?;
    let number = |name: &str| made[name].as_f64().unwrap_or(f64::NAN);
    let count = |name: &str| format!("{:.0}", number(name));
    let megabytes = |name: &str| format!("{:.1}", number(name) / MEGABYTE);
    let share = |name: &str| format!("{:.2}", number(name) / number("seconds"));
    let rows = [
        (
            "subscribers, sessions",
            count("subscribers"),
            count("sessions"),
        ),
        (
            "messages a second: asked for, streamed",
            count("asked_rate"),
            count("rate"),
        ),
        ("events, deliveries", count("events"), count("deliveries")),
        (
            "subscribers with everything in order, of all",
            count("complete"),
            count("subscribers"),
        ),
        ("missing, doubled", count("missing"), count("doubled")),
        ("out of order", count("out_of_order"), String::new()),
        ("lag p50, p99 ms", count("lag_p50_ms"), count("lag_p99_ms")),
        (
            "lag of the last, wanted of p99 ms",
            count("lag_max_ms"),
            format!("{LAG_P99_MS_MAX:.0}"),
        ),
        (
            "RSS of the server MB: before, peak",
            megabytes("rss_before"),
            megabytes("rss_peak"),
        ),
        (
            "cores: server, subscribers",
            share("cpu_s"),
            share("own_cpu_s"),
        ),
    ];
    let rows: Vec<_> = rows
        .into_iter()
        .map(|(name, first, second)| vec![name.to_owned(), first, second])
        .collect();
    Ok(ui::table(&["", "", ""], &rows))
}
