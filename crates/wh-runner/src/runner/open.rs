//! The messages that open a conversation.

use serde_json::{Value, json};

use crate::spec::{Begin, McpSpec, RunSpec};

/// Says who we are and what we can: no files and no terminals, which agents have themselves, but questions.
pub(super) fn initialize() -> Value {
    json!({
        "protocolVersion": 1,
        "clientCapabilities": {
            "fs": {"readTextFile": false, "writeTextFile": false},
            "terminal": false,
            "elicitation": {"form": {}},
        },
        "clientInfo": {"name": "wheelhouse", "title": "Wheelhouse", "version": env!("CARGO_PKG_VERSION")},
    })
}

/// Returns the method and parameters that begin as the spec says.
pub(super) fn session(spec: &RunSpec, mcp_url: Option<&str>) -> (&'static str, Value) {
    let servers: Vec<_> = spec
        .mcp
        .iter()
        .zip(mcp_url)
        .map(|(mcp, url)| server(mcp, url, spec.quirks.always_load_tools))
        .collect();
    match &spec.begin {
        Begin::New => (
            "session/new",
            json!({"cwd": spec.cwd, "mcpServers": servers}),
        ),
        Begin::Load { agent_session } => (
            "session/load",
            json!({"sessionId": agent_session, "cwd": spec.cwd, "mcpServers": servers}),
        ),
        Begin::Resume { agent_session } => (
            "session/resume",
            json!({"sessionId": agent_session, "cwd": spec.cwd, "mcpServers": servers}),
        ),
    }
}

/// Describes our own tools. Headers are a list even when empty: agents refuse null.
fn server(mcp: &McpSpec, url: &str, always_load: bool) -> Value {
    let token = format!("Bearer {}", mcp.token.reveal());
    let mut server = json!({
        "type": "http",
        "name": mcp.name,
        "url": url,
        "headers": [{"name": "Authorization", "value": token}],
    });
    if always_load {
        server["_meta"] = json!({"alwaysLoad": true});
        server["alwaysLoad"] = json!(true);
    }
    server
}
