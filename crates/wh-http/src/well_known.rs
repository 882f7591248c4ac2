//! OAuth protected-resource metadata (RFC 9728), and the challenge that points to it.

use axum::{Json, extract::State};
use http::HeaderValue;
use serde_json::{Value, json};
use wh_domain::KeyScope;

use crate::{HttpConfig, state::Server};

/// Where the metadata is.
pub(crate) const PATH: &str = "/.well-known/oauth-protected-resource";

/// Where clients look that put the resource's path behind it.
pub(crate) const PATH_OF_MCP: &str = "/.well-known/oauth-protected-resource/mcp";

/// Describes the scopes of keys.
///
/// It names no authorization server: the server accepts its own keys alone, and issues no tokens by OAuth. RFC 9728 leaves the field out
/// in that case.
pub(crate) async fn protected_resource(State(server): State<Server>) -> Json<Value> {
    let config = &server.config;
    let scopes = [KeyScope::Full, KeyScope::Read, KeyScope::Client].map(KeyScope::as_str);
    Json(json!({
        "resource": config.url("/mcp"),
        "resource_name": "Wheelhouse",
        "bearer_methods_supported": ["header"],
        "scopes_supported": scopes,
    }))
}

/// Makes the challenge of a 401. A presented credential that did not work is said to be invalid, and no more.
pub(crate) fn challenge(config: &HttpConfig, was_presented: bool) -> Option<HeaderValue> {
    let error = if was_presented {
        "error=\"invalid_token\", "
    } else {
        ""
    };
    let metadata = config.url(PATH);
    let scope = KeyScope::Full.as_str();
    let text = format!("Bearer {error}resource_metadata=\"{metadata}\", scope=\"{scope}\"");
    HeaderValue::try_from(text).ok()
}
