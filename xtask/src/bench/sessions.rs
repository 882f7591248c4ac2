//! What a live session costs: memory, what its way through the server adds to a prompt, and 200 at once. The ceiling is the
//! built-in agent with nobody in between.

use std::time::Duration;

use anyhow::Result;

use super::fixture::Programs;
use crate::ui;
use crate::workspace::Workspace;

const MEGABYTE: f64 = 1024.0 * 1024.0;

pub(super) fn run(_workspace: &Workspace, programs: &Programs) -> Result<String> {
    ui::progress("one session, then 200");
    let made = programs.measure_sessions(Duration::from_secs(900))?;
    let number = |name: &str| made[name].as_f64().unwrap_or(f64::NAN);
    let own = [number("own_p50_ms"), number("own_p99_ms")];
    let ours = [number("ours_p50_ms"), number("ours_p99_ms")];
    let millis = |value: f64| format!("{value:.2}");
    let megabytes = |name: &str| format!("{:.1}", number(name) / MEGABYTE);
    let count = |name: &str| {
        made[name]
            .as_u64()
            .map_or_else(String::new, |n| n.to_string())
    };
    let one = vec![
        row(&[
            "prompt of the agent alone, p50 and p99 ms",
            &millis(own[0]),
            &millis(own[1]),
        ]),
        row(&[
            "one sync of this disk, p50 and p99 ms",
            &millis(number("sync_p50_ms")),
            &millis(number("sync_p99_ms")),
        ]),
        row(&[
            "prompt through the server, p50 and p99 ms",
            &millis(ours[0]),
            &millis(ours[1]),
        ]),
        row(&[
            "added, ms",
            &millis(ours[0] - own[0]),
            &millis(ours[1] - own[1]),
        ]),
        row(&[
            "PSS of a session MB, processes",
            &megabytes("one_pss"),
            &count("one_processes"),
        ]),
        row(&[
            "sessions begun, and live at once",
            &count("sessions"),
            &count("live"),
        ]),
        row(&[
            "all ready after s, all prompted in s",
            &millis(number("started_s")),
            &millis(number("prompted_s")),
        ]),
        row(&[
            "prompts meanwhile, p50 and p99 ms",
            &millis(number("prompt_p50_ms")),
            &millis(number("prompt_p99_ms")),
        ]),
        row(&[
            "PSS of all sessions, of the largest MB",
            &megabytes("all_pss"),
            &megabytes("largest_pss"),
        ]),
        row(&["RSS of the server MB", &megabytes("server_rss"), ""]),
        row(&[
            "put away after s, processes then",
            &millis(number("put_away_s")),
            &count("processes_at_rest"),
        ]),
    ];
    Ok(ui::table(&["", "", ""], &one))
}

fn row(cells: &[&str]) -> Vec<String> {
    cells.iter().map(|cell| (*cell).to_owned()).collect()
}
