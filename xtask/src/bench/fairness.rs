//! One user's calls beside another user who sends many at once: p99 stays within 2 times of quiet.

use std::time::Duration;

use anyhow::Result;

use super::fixture::Programs;
use crate::ui;
use crate::workspace::Workspace;

/// How long it takes: 10 s each quiet and beside two loads, in 5 rounds, and 2 s to warm up.
const TIME: Duration = Duration::from_secs(32);

pub(super) fn run(_workspace: &Workspace, programs: &Programs) -> Result<String> {
    let found = programs.measure_fairness(TIME)?;
    let figure = |value: &serde_json::Value| format!("{:.2}", value.as_f64().unwrap_or(f64::NAN));
    let header = [
        "calls of the busy user",
        "calls measured",
        "refused",
        "p50 ms",
        "p99 ms",
        "p99 ratio (at most 2)",
    ];
    let quiet = vec![
        "0".to_owned(),
        String::new(),
        String::new(),
        figure(&found["p50_quiet_ms"]),
        figure(&found["p99_quiet_ms"]),
        String::new(),
    ];
    let beside = found["beside"].as_array().into_iter().flatten();
    let rows = std::iter::once(quiet).chain(beside.map(|row| {
        vec![
            row["concurrent"].to_string(),
            row["calls"].to_string(),
            row["refused"].to_string(),
            figure(&row["p50_ms"]),
            figure(&row["p99_ms"]),
            figure(&row["p99_ratio"]),
        ]
    }));
    Ok(ui::table(&header, &rows.collect::<Vec<_>>()))
}
