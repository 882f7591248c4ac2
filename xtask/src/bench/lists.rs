//! `session_list`, agor's `agor_sessions_list` and `message_list` with few and with very many rows: what they cost must not depend on what they do not show.

use std::time::Duration;

use anyhow::Result;
use serde_json::json;

use super::fixture::{Programs, Running, Seeded};
use super::measured::{self, Series};
use super::request::McpRequest;
use super::wrk::{self, Load};
use crate::ui;
use crate::workspace::Workspace;

/// Sessions of the two databases; each session has said [`MESSAGES`] things.
const SIZES: [u32; 2] = [1_000, 100_000];
const MESSAGES: u32 = 10;
const CLIENTS: u32 = 16;
const ROUNDS: u32 = 3;
const SECONDS: u64 = 4;
/// How long filling the larger one may take.
const FILL_WITHIN: Duration = Duration::from_secs(15 * 60);

pub(super) fn run(workspace: &Workspace, programs: &Programs) -> Result<String> {
    let mut servers = Vec::new();
    for size in SIZES {
        let name = format!("lists-{size}");
        let seeded = programs.seed_with(&name, size, MESSAGES, 0, FILL_WITHIN)?;
        let running = programs.serve(&seeded.dir)?;
        servers.push((size, seeded, running));
    }
    let mut targets = Vec::new();
    for tool in ["session_list", "agor_sessions_list", "message_list"] {
        for (size, seeded, running) in &servers {
            let name = format!("{tool}, {size} sessions");
            let request = request(tool, seeded)?;
            targets.push((Series::new(name), address(tool), request, running));
        }
    }
    for round in 1..=ROUNDS {
        ui::progress(&format!("round {round} of {ROUNDS}"));
        for (series, address, request, running) in &mut targets {
            let sample = measure(workspace, &series.name, address, request, running)?;
            series.samples.push(sample);
        }
    }
    let series: Vec<_> = targets.into_iter().map(|(series, ..)| series).collect();
    let tables = series.chunks(SIZES.len());
    let tables: Vec<_> = tables
        .map(|series| measured::table("req/s", series))
        .collect();
    Ok(tables.join("\n"))
}

fn request(tool: &str, seeded: &Seeded) -> Result<McpRequest> {
    let arguments = match tool {
        "message_list" => json!({ "session": seeded.session()? }),
        _ => json!({}),
    };
    Ok(McpRequest::tool(tool, &arguments).with_key(seeded.key()?))
}

fn address(tool: &str) -> &'static str {
    match tool {
        "agor_sessions_list" => "/mcp/agor",
        _ => "/mcp",
    }
}

fn measure(
    workspace: &Workspace,
    name: &str,
    address: &str,
    request: &McpRequest,
    running: &Running,
) -> Result<measured::Measured> {
    let load = Load {
        name,
        url: &format!("{}{address}", running.url),
        connections: CLIENTS,
        seconds: SECONDS,
        headers: &request.headers(),
        method: "POST",
        body: &request.body,
    };
    wrk::measure_process(workspace, &load, running.server.pid())
}
