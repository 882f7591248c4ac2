//! What differs between the agents: how they are pointed at the scripted model and kept quiet, and what their tools are called.

use serde_json::{Value, json};
use wh_testkit::model::tokens;

/// One agent, as these tests need to know it.
#[derive(Debug)]
pub(super) struct Real {
    /// The name of its profile.
    pub(super) name: &'static str,
    /// Variables that point it at the model and turn off what would call home. `{model}` and `{home}` are filled in.
    pub(super) environment: &'static [(&'static str, &'static str)],
    /// The variable that holds the key of its model.
    pub(super) key: &'static str,
    /// Files below its home, filled in like the variables.
    pub(super) files: &'static [(&'static str, &'static str)],
    /// The tool that writes a file, and its arguments; `$1` is the path.
    pub(super) edit: fn() -> (&'static str, Value),
    /// The tool that runs a command.
    pub(super) run: fn(&str) -> (&'static str, Value),
    /// What stands before the names of our tools when its model sees them.
    pub(super) our_tools: &'static str,
    /// How often it asks about our tools when it calls two of them.
    pub(super) asks_about_ours: usize,
    /// Whether its model must search for our tools before it can call them.
    pub(super) searches: bool,
    /// Whether it tells what a command printed.
    pub(super) shows_output: bool,
    /// How a turn ends in which something was denied.
    pub(super) denied: &'static str,
    /// What a turn with two model calls is said to have used.
    pub(super) two_calls: Used,
    /// Where the cost of that comes from.
    pub(super) cost: Cost,
    /// The mode that a conversation begins in.
    pub(super) begins_in: &'static str,
}

/// Where the cost of a turn comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cost {
    /// The agent reports it.
    Reported,
    /// The server estimates it from tokens and prices.
    Estimated,
    /// The agent reports neither the cost nor a model that has a price.
    Unknown,
}

impl Cost {
    /// Returns where a cost comes from, of which a part is estimated.
    pub(super) fn of(micros: u64, estimated_micros: u64) -> Self {
        match (micros, estimated_micros) {
            (0, 0) => Self::Unknown,
            (_, 0) => Self::Reported,
            _ => {
                assert_eq!(estimated_micros, micros);
                Self::Estimated
            }
        }
    }
}

/// Tokens of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Used {
    pub(super) input: u64,
    pub(super) cached: u64,
    pub(super) output: u64,
}

/// Everything that two model calls used, counted in full.
const BOTH: Used = Used {
    input: 2 * tokens::INPUT,
    cached: 2 * tokens::CACHED,
    output: 2 * tokens::OUTPUT,
};

pub(super) const CLAUDE_CODE: Real = Real {
    name: "claude-code",
    key: "ANTHROPIC_API_KEY",
    environment: &[
        ("ANTHROPIC_BASE_URL", "{model}"),
        ("ANTHROPIC_API_KEY", "sk-ant-fake-000"),
        ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ("DISABLE_TELEMETRY", "1"),
        ("DISABLE_AUTOUPDATER", "1"),
        ("DISABLE_ERROR_REPORTING", "1"),
        ("DISABLE_GROWTHBOOK", "1"),
        ("DISABLE_INSTALLATION_CHECKS", "1"),
        ("CLAUDE_CODE_DISABLE_OFFICIAL_MARKETPLACE_AUTOINSTALL", "1"),
        ("CLAUDE_CODE_DISABLE_AUTO_MEMORY", "1"),
        ("IS_SANDBOX", "1"),
    ],
    files: &[],
    edit: || {
        let args = json!({"file_path": "$1", "content": "edited by the agent\n"});
        ("Write", args)
    },
    run: |command| {
        (
            "Bash",
            json!({"command": command, "description": "makes a file"}),
        )
    },
    our_tools: "mcp__wheelhouse__",
    asks_about_ours: 2,
    searches: false,
    shows_output: true,
    denied: "completed",
    two_calls: BOTH,
    cost: Cost::Reported,
    begins_in: "default",
};

pub(super) const CODEX: Real = Real {
    name: "codex",
    key: "OPENAI_API_KEY",
    environment: &[
        ("OPENAI_API_KEY", "sk-fake-000"),
        ("CODEX_HOME", "{home}/.codex"),
    ],
    files: &[(
        ".codex/config.toml",
        r#"model = "gpt-5.5"
model_provider = "scripted"
check_for_update_on_startup = false
[analytics]
enabled = false
[feedback]
enabled = false
[otel]
exporter = "none"
metrics_exporter = "none"
trace_exporter = "none"
[features]
apps = false
plugins = false
[model_providers.scripted]
name = "Scripted"
base_url = "{model}/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
supports_websockets = false
request_max_retries = 1
stream_max_retries = 1
"#,
    )],
    edit: || {
        let patch = "*** Begin Patch\n*** Add File: $1\n+edited by the agent\n*** End Patch\n";
        ("apply_patch", json!({"input": patch}))
    },
    // Inside its sandbox it asks nobody; a model that wants out says so.
    run: |command| {
        let args = json!({"cmd": command, "sandbox_permissions": "require_escalated",
            "justification": "May I make a file?"});
        ("exec_command", args)
    },
    our_tools: "mcp__wheelhouse__",
    asks_about_ours: 0,
    searches: true,
    shows_output: true,
    denied: "cancelled",
    two_calls: BOTH,
    cost: Cost::Estimated,
    begins_in: "read-only",
};

pub(super) const GEMINI: Real = Real {
    name: "gemini",
    key: "GEMINI_API_KEY",
    environment: &[
        ("GEMINI_API_KEY", "fake-000"),
        ("GOOGLE_GEMINI_BASE_URL", "{model}"),
        ("GEMINI_TELEMETRY_ENABLED", "false"),
        ("GEMINI_CLI_TRUST_WORKSPACE", "true"),
    ],
    files: &[(
        ".gemini/settings.json",
        r#"{"security": {"auth": {"selectedType": "gemini-api-key"}}, "privacy": {"usageStatisticsEnabled": false},
            "telemetry": {"enabled": false}, "general": {"enableAutoUpdate": false, "enableAutoUpdateNotification": false},
            "ide": {"enabled": false}, "tools": {"useRipgrep": false}}"#,
    )],
    edit: || {
        let args = json!({"file_path": "$1", "content": "edited by the agent\n"});
        ("write_file", args)
    },
    run: |command| ("run_shell_command", json!({"command": command})),
    our_tools: "mcp_wheelhouse_",
    asks_about_ours: 2,
    searches: false,
    shows_output: false,
    denied: "completed",
    // It does not say how much of its input was cached, so nothing can be taken out.
    two_calls: Used {
        input: 2 * (tokens::INPUT + tokens::CACHED),
        cached: 0,
        ..BOTH
    },
    cost: Cost::Unknown,
    begins_in: "default",
};

pub(super) const OPENCODE: Real = Real {
    name: "opencode",
    key: "SCRIPTED_KEY",
    environment: &[
        ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
        ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
        ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
        ("OPENCODE_DISABLE_SHARE", "1"),
        ("OPENCODE_DISABLE_DEFAULT_PLUGINS", "1"),
        ("OPENCODE_DISABLE_EMBEDDED_WEB_UI", "1"),
        ("OPENCODE_DISABLE_EXTERNAL_SKILLS", "1"),
        ("OPENCODE_DISABLE_PROJECT_CONFIG", "1"),
        ("OPENCODE_PURE", "1"),
        ("npm_config_offline", "true"),
    ],
    files: &[(
        ".config/opencode/opencode.json",
        r#"{"provider": {"scripted": {"npm": "@ai-sdk/openai-compatible", "name": "Scripted",
            "options": {"baseURL": "{model}/v1", "apiKey": "fake"},
            "models": {"m1": {"name": "m1", "attachment": true, "modalities": {"input": ["text", "image"], "output": ["text"]}, "cost": {"input": 1, "output": 2}, "limit": {"context": 100000, "output": 8000}}}}},
            "enabled_providers": ["scripted"], "model": "scripted/m1", "small_model": "scripted/m1"}"#,
    )],
    edit: || {
        let args = json!({"filePath": "$1", "content": "edited by the agent\n"});
        ("write", args)
    },
    run: |command| {
        (
            "bash",
            json!({"command": command, "description": "makes a file"}),
        )
    },
    our_tools: "wheelhouse_",
    asks_about_ours: 0,
    searches: false,
    shows_output: true,
    denied: "completed",
    // It reports the last call alone; the earlier one is counted like it.
    two_calls: BOTH,
    cost: Cost::Reported,
    begins_in: "build",
};

/// The same with project configuration and plugins, which it loads unless it is told not to.
pub(super) const OPENCODE_WITH_PLUGINS: Real = Real {
    environment: &[
        ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
        ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
        ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
        ("OPENCODE_DISABLE_SHARE", "1"),
        ("OPENCODE_DISABLE_DEFAULT_PLUGINS", "1"),
        ("OPENCODE_DISABLE_EMBEDDED_WEB_UI", "1"),
        ("OPENCODE_DISABLE_EXTERNAL_SKILLS", "1"),
        ("npm_config_offline", "true"),
    ],
    ..OPENCODE
};

impl Real {
    /// Everything the model says to this agent in the stories.
    pub(super) fn script(&self) -> String {
        let call = |(tool, args): (&str, Value)| json!({"tool": tool, "args": args});
        let ours = |tool: &str, args: Value| call((&format!("{}{tool}", self.our_tools), args));
        let options = json!([{"label": "red", "description": "warm"}, {"label": "blue", "description": "cold"}]);
        let question = json!({"question": "Which colour?", "header": "Colour", "multiSelect": false, "options": options});
        json!([
            {"match": r"^EDIT (\S+)$", "turns": [call((self.edit)()), {"text": "edited $1"}]},
            {"match": r"^RUN (\S+)$", "turns": [call((self.run)("touch $1; echo made it")), {"text": "ran it"}]},
            {"match": r"^COMMIT (\S+)$", "turns": [call((self.run)("env > $1; git add $1 && git commit -q -m committed && echo made it")), {"text": "committed"}]},
            {"match": "^WHO AM I$", "turns": [ours("session_current", json!({})), {"text": "I know"}]},
            {"match": "^RENAME$", "turns": [ours("session_update", json!({"title": "renamed by itself"})), {"text": "renamed"}]},
            {"match": r"^WATCH (\S+)$", "turns": [call((self.run)("touch $1; tail -f $1")), {"text": "watched"}]},
            {"match": "^ASK$", "turns": [{"tool": "AskUserQuestion", "args": {"questions": [question]}}, {"text": "asked"}]},
            {"match": "^TALK$", "turns": [{"text": "word", "repeat": super::story::WORDS, "delay_ms": 20}]},
            {"match": "^COUNT$", "turns": [{"text": "tick", "repeat": 6000, "delay_ms": 10}]},
            {"match": r"^REMEMBER (\w+)$", "turns": [{"text": "I keep $1 in mind"}]},
            {"match": "^WHAT WAS IT$", "turns": [{"text": "it is in the transcript"}]},
        ])
        .to_string()
    }
}
