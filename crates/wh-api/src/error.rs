//! How every surface tells of a refusal or failure.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

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
    /// What to do next.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Facts a program can use.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub details: Map<String, Value>,
}
