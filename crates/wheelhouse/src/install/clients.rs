//! Which clients there are, where each keeps its servers, and what an entry looks like there.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde_json::{Map, Value, json};

use super::{Entry, NAME, json, toml};
use crate::exit::{CliError, CliResult};

/// An MCP client whose configuration we know.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ClientName {
    ClaudeCode,
    Codex,
    Gemini,
    Opencode,
    Vscode,
}

/// Whose configuration is meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Level {
    User,
    Project,
}

impl ClientName {
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Self::ClaudeCode => "claude-code",
            Self::Codex => "codex",
            Self::Gemini => "gemini",
            Self::Opencode => "opencode",
            Self::Vscode => "vscode",
        }
    }

    /// Returns the object that holds the servers.
    fn section(self) -> &'static str {
        match self {
            Self::ClaudeCode | Self::Gemini => "mcpServers",
            Self::Codex => "mcp_servers",
            Self::Opencode => "mcp",
            Self::Vscode => "servers",
        }
    }

    /// Returns an entry in the client's words.
    fn entry(self, entry: &Entry) -> Value {
        match entry {
            Entry::Stdio { command } => {
                let (program, args) = (&command[0], &command[1..]);
                match self {
                    Self::ClaudeCode | Self::Vscode => {
                        json!({ "type": "stdio", "command": program, "args": args })
                    }
                    Self::Codex | Self::Gemini => json!({ "command": program, "args": args }),
                    Self::Opencode => {
                        json!({ "type": "local", "command": command, "enabled": true })
                    }
                }
            }
            Entry::Http { url, key } => {
                let headers = json!({ "Authorization": format!("Bearer {key}") });
                match self {
                    Self::ClaudeCode | Self::Vscode => {
                        json!({ "type": "http", "url": url, "headers": headers })
                    }
                    Self::Codex => json!({ "url": url, "http_headers": headers }),
                    Self::Gemini => json!({ "httpUrl": url, "headers": headers }),
                    Self::Opencode => {
                        json!({ "type": "remote", "url": url, "headers": headers, "enabled": true })
                    }
                }
            }
        }
    }
}

/// What tells a client how to reach a server; replaced as a whole, while other keys of an entry stay.
const TRANSPORT_KEYS: &[&str] = &[
    "type",
    "command",
    "args",
    "env",
    "cwd",
    "environment",
    "url",
    "httpUrl",
    "headers",
    "http_headers",
    "bearer_token_env_var",
];

/// Returns the file of a client.
pub(crate) fn file_of(client: ClientName, level: Level) -> CliResult<PathBuf> {
    if level == Level::Project {
        let below = match client {
            ClientName::ClaudeCode => ".mcp.json",
            ClientName::Codex => ".codex/config.toml",
            ClientName::Gemini => ".gemini/settings.json",
            ClientName::Opencode => "opencode.json",
            ClientName::Vscode => ".vscode/mcp.json",
        };
        let here = std::env::current_dir()
            .map_err(|error| CliError::failed(format!("cannot tell where we are: {error}")))?;
        return Ok(or_jsonc(here.join(below)));
    }
    let home = folder("HOME").ok_or_else(|| {
        CliError::usage("there is no home directory: HOME is not set")
            .hint("set HOME, or use --project")
    })?;
    let config = folder("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"));
    Ok(match client {
        ClientName::ClaudeCode => folder("CLAUDE_CONFIG_DIR")
            .unwrap_or(home)
            .join(".claude.json"),
        ClientName::Codex => folder("CODEX_HOME")
            .unwrap_or_else(|| home.join(".codex"))
            .join("config.toml"),
        ClientName::Gemini => home.join(".gemini/settings.json"),
        ClientName::Opencode => or_jsonc(config.join("opencode/opencode.json")),
        ClientName::Vscode if cfg!(target_os = "macos") => {
            home.join("Library/Application Support/Code/User/mcp.json")
        }
        ClientName::Vscode => config.join("Code/User/mcp.json"),
    })
}

fn folder(variable: &str) -> Option<PathBuf> {
    let path = PathBuf::from(std::env::var_os(variable)?);
    path.is_absolute().then_some(path)
}

/// Some clients read `x.jsonc` too; where only that one exists it is the one to change.
fn or_jsonc(path: PathBuf) -> PathBuf {
    let with_comments = path.with_extension("jsonc");
    match !path.exists() && with_comments.exists() {
        true => with_comments,
        false => path,
    }
}

/// Returns the text of a client's file with our entry in it.
pub(super) fn with_entry(client: ClientName, text: &str, entry: &Entry) -> Result<String, String> {
    let ours = client.entry(entry);
    let path = [client.section(), NAME];
    match client {
        ClientName::Codex => toml::set(text, path, &ours, TRANSPORT_KEYS),
        _ => {
            let before = json::get(text, path)?;
            let entry = merged(before.as_ref(), &ours);
            match before.as_ref() == Some(&entry) {
                true => Ok(text.to_owned()),
                false => json::set(text, path, &entry),
            }
        }
    }
}

fn merged(before: Option<&Value>, ours: &Value) -> Value {
    let mut fields: Map<String, Value> = ours.as_object().cloned().unwrap_or_default();
    let kept = before.and_then(Value::as_object).into_iter().flatten();
    for (name, value) in kept {
        if !TRANSPORT_KEYS.contains(&name.as_str()) && !fields.contains_key(name) {
            fields.insert(name.clone(), value.clone());
        }
    }
    Value::Object(fields)
}

/// Returns the key that an earlier installation left in a client's file.
pub(crate) fn key_in(client: ClientName, file: &Path) -> Option<String> {
    let text = std::fs::read_to_string(file).ok()?;
    let path = [client.section(), NAME];
    let entry = match client {
        ClientName::Codex => toml::get(&text, path)?,
        _ => json::get(&text, path).ok()??,
    };
    let headers = entry.get("headers").or_else(|| entry.get("http_headers"))?;
    let key = headers
        .get("Authorization")?
        .as_str()?
        .strip_prefix("Bearer ")?;
    Some(key.to_owned())
}
