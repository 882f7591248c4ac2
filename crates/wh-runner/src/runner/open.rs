//! The messages that open a conversation.

use serde_json::{Value, json};

use crate::{
    acp::{map, models::ModelChoice},
    event::Mode,
    spec::{Begin, McpSpec, RunSpec},
};

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

/// What the agent answers, whichever way the conversation began.
#[derive(Debug, Default)]
pub(super) struct Opened {
    /// Only a new conversation is given a name; the others have theirs.
    pub(super) agent_session: Option<String>,
    pub(super) modes: Vec<Mode>,
    pub(super) current_mode: Option<String>,
    pub(super) models: Option<ModelChoice>,
}

impl Opened {
    /// Takes what can be read of an answer.
    pub(super) fn read(result: &str) -> Self {
        #[derive(Default, serde::Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Answer {
            session_id: Option<String>,
            modes: Option<Value>,
            models: Option<Value>,
            config_options: Option<Vec<Value>>,
        }
        let answer: Answer = serde_json::from_str(result).unwrap_or_default();
        let modes = answer.modes.and_then(|it| serde_json::from_value(it).ok());
        let (modes, current_mode) = map::modes(modes);
        let options = map::config_options(answer.config_options);
        let models = ModelChoice::from_options(&options);
        Self {
            agent_session: answer.session_id,
            modes,
            current_mode: current_mode.or_else(|| map::mode_option(&options)),
            models: models.or_else(|| ModelChoice::from_state(answer.models?)),
        }
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mode_is_told_as_such_or_among_the_options() {
        let modes =
            r#"{"currentModeId": "plan", "availableModes": [{"id": "plan", "name": "Plan"}]}"#;
        let option = |category: &str, value: &str| {
            format!(
                r#"{{"id": "{category}", "name": "", "category": "{category}", "type": "select",
                    "currentValue": "{value}", "options": []}}"#
            )
        };
        let options = format!(
            "[7, {}, {}]",
            option("model", "big"),
            option("mode", "edit")
        );
        for (answer, mode, offered) in [
            (
                format!(r#"{{"modes": {modes}, "configOptions": {options}}}"#),
                Some("plan"),
                1,
            ),
            (format!(r#"{{"modes": {modes}}}"#), Some("plan"), 1),
            (
                format!(r#"{{"configOptions": {options}}}"#),
                Some("edit"),
                0,
            ),
            (
                format!(
                    r#"{{"modes": 1, "configOptions": [{}]}}"#,
                    option("model", "big")
                ),
                None,
                0,
            ),
            ("{}".to_owned(), None, 0),
            ("null".to_owned(), None, 0),
        ] {
            let opened = Opened::read(&answer);
            assert_eq!(opened.current_mode.as_deref(), mode, "{answer}");
            assert_eq!(opened.modes.len(), offered, "{answer}");
        }
    }
}
