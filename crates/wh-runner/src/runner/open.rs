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
    let mut params = json!({"cwd": spec.cwd, "mcpServers": []});
    if let (Some(mcp), Some(url)) = (&spec.mcp, mcp_url) {
        match spec.quirks.always_load_tools {
            true => params["_meta"] = loaded_server(mcp, url),
            false => params["mcpServers"] = json!([server(mcp, url)]),
        }
    }
    let (method, agent_session) = match &spec.begin {
        Begin::New => return ("session/new", params),
        Begin::Load { agent_session } => ("session/load", agent_session),
        Begin::Resume { agent_session } => ("session/resume", agent_session),
    };
    params["sessionId"] = json!(agent_session);
    (method, params)
}

/// Describes our own tools. Headers are a list even when empty: agents refuse null.
fn server(mcp: &McpSpec, url: &str) -> Value {
    let headers = json!([{"name": "Authorization", "value": bearer(mcp)}]);
    json!({"type": "http", "name": mcp.name, "url": url, "headers": headers})
}

/// Describes our own tools to the one agent that hides tools behind a search unless they are marked. Its adapter drops the mark from
/// the protocol's list of servers, but passes on servers that come as options of the agent itself.
fn loaded_server(mcp: &McpSpec, url: &str) -> Value {
    let headers = json!({"Authorization": bearer(mcp)});
    let server = json!({"type": "http", "url": url, "headers": headers, "alwaysLoad": true});
    let mut servers = json!({});
    servers[&mcp.name] = server;
    json!({"claudeCode": {"options": {"mcpServers": servers}}})
}

fn bearer(mcp: &McpSpec) -> String {
    format!("Bearer {}", mcp.token.reveal())
}
