//! Every start-up value as text, with where it came from.

use serde_json::{Value, json};
use wh_api::StartValueView;

use super::{Config, LogFormat, ModelSetting, Sourced};

/// Writes a start-up value in words.
pub(crate) fn start_text(value: &Value) -> String {
    match value {
        Value::Null => "not set".to_owned(),
        Value::String(text) => text.clone(),
        Value::Array(items) if items.is_empty() => "none".to_owned(),
        Value::Array(items) => {
            let items: Vec<_> = items.iter().filter_map(Value::as_str).collect();
            items.join(", ")
        }
        other => other.to_string(),
    }
}

impl Config {
    /// Lists every value. A secret is only said to be there.
    pub(crate) fn values(&self) -> Vec<StartValueView> {
        let path = |p: &std::path::PathBuf| json!(p.display().to_string());
        let format = |f: &LogFormat| match f {
            LogFormat::Text => json!("text"),
            LogFormat::Json => json!("json"),
        };
        vec![
            value("data_dir", "where everything is kept", &self.data_dir, path),
            value("database", "the database file", &self.database, path),
            value("listen", "where the server listens", &self.listen, |a| {
                json!(a.to_string())
            }),
            value(
                "allow_remote",
                "whether it may listen beyond this machine",
                &self.allow_remote,
                |v| json!(v),
            ),
            value(
                "hosts",
                "more names the server answers to",
                &self.hosts,
                |v| json!(v),
            ),
            value(
                "origins",
                "more web origins that may call it",
                &self.origins,
                |v| json!(v),
            ),
            value("open", "whether serve opens a browser", &self.open, |v| {
                json!(v)
            }),
            value(
                "local_roots",
                "directories that every member may use",
                &self.local_roots,
                |v| json!(v),
            ),
            value(
                "local_admin",
                "whether the local socket needs no key",
                &self.local_admin,
                |v| json!(v),
            ),
            value("log_filter", "what is logged", &self.log_filter, |v| {
                json!(v)
            }),
            value("log_format", "how log lines look", &self.log_format, format),
            value(
                "tool_timeout",
                "how long one tool call may take",
                &self.tool_timeout,
                |d| json!(format!("{d:?}")),
            ),
            value(
                "github_token",
                "lets the server open pull requests",
                &self.github_token,
                |t| json!(t.as_ref().map(|_| "(secret)")),
            ),
            value("model", "writes summaries", &self.model, |model| {
                let at =
                    |it: &ModelSetting| format!("{} at {}", it.config.name(), it.config.base_url());
                json!(model.as_ref().map(at))
            }),
        ]
    }
}

fn value<T>(
    key: &'static str,
    about: &'static str,
    sourced: &Sourced<T>,
    text: impl Fn(&T) -> Value,
) -> StartValueView {
    StartValueView {
        key: key.to_owned(),
        value: text(&sourced.value),
        source: sourced.source.to_string(),
        about: about.to_owned(),
    }
}
