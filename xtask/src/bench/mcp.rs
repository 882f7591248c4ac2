//! `tools/call` of `board_get`, and of `session_list` and agor's `agor_sessions_list` over 10 000 rows, against an rmcp echo tool and a bare axum handler.

use anyhow::Result;
use serde_json::json;

use super::fixture::Programs;
use super::measured::{self, Series};
use super::request::McpRequest;
use super::wrk::{self, Load};
use crate::ui;
use crate::workspace::Workspace;

const SESSIONS: u32 = 10_000;
const ROUNDS: u32 = 5;
const SECONDS: u64 = 4;
const CONNECTIONS: u32 = 32;

pub(super) fn run(workspace: &Workspace, programs: &Programs) -> Result<String> {
    let seeded = programs.seed("mcp", SESSIONS, 0)?;
    let ceiling = programs.serve_ceiling()?;
    let product = programs.serve(&seeded.dir)?;
    let key = seeded.key()?;
    let echo = McpRequest::tool("echo", &json!({"text": "hello"}));
    let board_get = McpRequest::tool("board_get", &json!({"board": seeded.board()?})).with_key(key);
    let session_list = McpRequest::tool("session_list", &json!({})).with_key(key);
    let agor_list = McpRequest::tool("agor_sessions_list", &json!({})).with_key(key);
    let targets = [
        ("rmcp echo", &ceiling, "/mcp", &echo),
        ("bare axum", &ceiling, "/bare", &echo),
        ("board_get", &product, "/mcp", &board_get),
        ("session_list", &product, "/mcp", &session_list),
        ("agor_sessions_list", &product, "/mcp/agor", &agor_list),
    ];
    let mut series = targets.map(|(name, ..)| Series::new(name));
    for round in 1..=ROUNDS {
        ui::progress(&format!("round {round} of {ROUNDS}"));
        for (series, (name, running, path, request)) in series.iter_mut().zip(&targets) {
            let load = Load {
                name,
                url: &format!("{}{path}", running.url),
                connections: CONNECTIONS,
                seconds: SECONDS,
                headers: &request.headers(),
                method: "POST",
                body: &request.body,
            };
            let pid = running.server.pid();
            series
                .samples
                .push(wrk::measure_process(workspace, &load, pid)?);
        }
    }
    Ok(measured::table("req/s", &series))
}
