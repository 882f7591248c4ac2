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
    let tiers = made["tiers"].as_array().map_or(&[][..], Vec::as_slice);
    let sessions = ui::table(&["", "", ""], &one);
    Ok(format!("{sessions}\n{}", tier_table(tiers)))
}

/// Shows what each tier adds to the weakest one, which comes first.
fn tier_table(tiers: &[serde_json::Value]) -> String {
    let number = |tier: &serde_json::Value, name: &str| tier[name].as_f64().unwrap_or(f64::NAN);
    let Some(weakest) = tiers.first() else {
        return String::new();
    };
    let rows: Vec<_> = tiers
        .iter()
        .map(|tier| {
            let added = number(tier, "start_p50_ms") - number(weakest, "start_p50_ms");
            let added_bytes = number(tier, "pss") - number(weakest, "pss");
            vec![
                tier["tier"].as_str().unwrap_or_default().to_owned(),
                format!("{:.1}", number(tier, "start_p50_ms")),
                format!("{:.1}", number(tier, "start_p90_ms")),
                format!("{added:+.1}"),
                format!("{:.1}", number(tier, "pss") / MEGABYTE),
                format!("{:+.1}", added_bytes / MEGABYTE),
            ]
        })
        .collect();
    let head = [
        "tier",
        "start p50 ms",
        "p90 ms",
        "added ms",
        "PSS MB",
        "added MB",
    ];
    ui::table(&head, &rows)
}

fn row(cells: &[&str]) -> Vec<String> {
    cells.iter().map(|cell| (*cell).to_owned()).collect()
}
