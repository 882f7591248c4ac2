//! Valid calls beside 100 invalid keys a second from the same address: none may be refused, and p99 stays within 2 times of quiet.

use std::time::Duration;

use anyhow::Result;

use super::fixture::Programs;
use crate::ui;
use crate::workspace::Workspace;

/// How long it takes: 30 s undisturbed and 30 s beside invalid keys.
const TIME: Duration = Duration::from_secs(60);

pub(super) fn run(_workspace: &Workspace, programs: &Programs) -> Result<String> {
    let found = programs.measure_bad_keys(TIME)?;
    let number = |name: &str| found[name].as_u64().unwrap_or_default().to_string();
    let figure = |name: &str| format!("{:.2}", found[name].as_f64().unwrap_or(f64::NAN));
    let header = [
        "invalid keys",
        "valid calls",
        "refused valid calls",
        "p99 quiet ms",
        "p99 attacked ms",
        "ratio (at most 2)",
    ];
    let row = vec![
        number("invalid_keys"),
        number("valid_calls"),
        number("refused_valid_calls"),
        figure("p99_quiet_ms"),
        figure("p99_attacked_ms"),
        figure("ratio"),
    ];
    Ok(ui::table(&header, &[row]))
}
