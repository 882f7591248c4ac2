//! How every surface tells of a refusal or failure.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use wh_domain::{Advice, ArgumentValue};

/// The answer to a call that was refused or failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorBody {
    pub error: ErrorView,
}

/// Why a call was refused or failed, and what to do next.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ErrorView {
    /// One of NOT_FOUND, INVALID_INPUT, AMBIGUOUS_ID, UNAUTHENTICATED, FORBIDDEN, CONFLICT, LIMIT_EXCEEDED,
    /// REVIEW_LIMIT_EXCEEDED, UNAVAILABLE, INTERNAL.
    pub code: String,
    /// One readable line.
    pub message: String,
    /// What to do next, in a sentence for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// The same in parts, for clients that render advice in their own terms. Answers of MCP tools leave it out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub advice: Vec<AdviceView>,
    /// Facts a program can use.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub details: Map<String, Value>,
}

/// One thing that a caller can do about a refusal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct AdviceView {
    /// What to do or what it achieves, in plain words, such as "list the sessions you can access".
    pub text: String,
    /// The operation to call, by its operationId, such as "session_list".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// Arguments of the operation; without one, the fields of the refused request to change. Null stands for a field to leave out, a
    /// value in angle brackets such as "<ID>" for one to fill in.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub arguments: Map<String, Value>,
    /// The arguments of the `wheelhouse` program that do this, such as "login".
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
}

impl From<&Advice> for AdviceView {
    fn from(advice: &Advice) -> Self {
        let mut view = Self {
            text: advice.text().into_owned(),
            operation: None,
            arguments: Map::new(),
            command: None,
        };
        match advice {
            Advice::Call(suggestion) => {
                view.operation = Some(suggestion.operation.name().to_owned());
                let arguments = suggestion.arguments.iter();
                view.arguments = arguments
                    .map(|(name, value)| ((*name).to_owned(), argument(*value)))
                    .collect();
            }
            Advice::Argument { name, value, .. } => {
                let value = value.map_or(Value::Null, argument);
                view.arguments.insert((*name).to_owned(), value);
            }
            Advice::Command { command, purpose } => {
                view.text = purpose.to_string();
                view.command = Some(command.to_string());
            }
            Advice::Note(_) | Advice::Setting { .. } | Advice::ConfigFile { .. } => {}
        }
        view
    }
}

fn argument(value: ArgumentValue) -> Value {
    match value {
        ArgumentValue::Flag(value) => value.into(),
        ArgumentValue::Text(text) => text.into(),
        ArgumentValue::Placeholder(name) => format!("<{name}>").into(),
        ArgumentValue::Placeholders(name) => vec![format!("<{name}>")].into(),
    }
}
