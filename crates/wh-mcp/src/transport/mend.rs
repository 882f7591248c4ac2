//! Mends the answers in which rmcp differs from JSON-RPC: plain-text errors and terse messages.
//!
//! Everything here runs after rmcp has refused something, so nothing of it costs a good request anything.

use std::borrow::Cow;

use bytes::Bytes;
use http::{HeaderMap, Response, StatusCode};
use http_body_util::BodyExt;
use serde_json::Value;

use super::{
    accept,
    answer::{self, Refusal, ResponseBody},
};

/// Says why a text that is not an acceptable message was refused, in JSON-RPC's terms.
///
/// Text that is not JSON is a parse error; JSON that is not a message is an invalid request, which carries
/// the id if there is a usable one.
pub(super) fn refusal_of(text: &[u8]) -> Refusal {
    let value: Value = match serde_json::from_slice(text) {
        Ok(value) => value,
        Err(error) => {
            return Refusal::bad_request(answer::PARSE_ERROR, format!("Parse error: {error}"));
        }
    };
    let mut refusal = Refusal::bad_request(answer::INVALID_REQUEST, fault_of(&value));
    refusal.id = usable_id(&value);
    refusal
}

/// Returns the id of a message if it is one that an answer may carry.
pub(super) fn usable_id(value: &Value) -> Value {
    match value.get("id") {
        Some(id) if id.is_string() || id.is_i64() || id.is_u64() => id.clone(),
        _ => Value::Null,
    }
}

fn fault_of(value: &Value) -> Cow<'static, str> {
    let Some(message) = value.as_object() else {
        return "Invalid Request: a message must be a JSON object".into();
    };
    if message.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return r#"Invalid Request: "jsonrpc" must be "2.0""#.into();
    }
    match (message.get("method"), message.get("id")) {
        (Some(method), _) if !method.is_string() => {
            r#"Invalid Request: "method" must be a string"#.into()
        }
        (Some(_), Some(id)) if usable_id(value).is_null() => format!(
            r#"Invalid Request: "id" must be a string or an integer, not {}"#,
            kind_of(id)
        )
        .into(),
        (Some(_), _) => {
            r#"Invalid Request: "params" must be an object of the method's shape"#.into()
        }
        (None, _) => {
            r#"Invalid Request: a message needs a "method", a "result" or an "error""#.into()
        }
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a fraction",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// Answers a modern message whose method this revision removed. rmcp checks the headers of some of them first and refuses those, which
/// tells the client to correct what does not help.
pub(super) async fn refused_removed(
    response: Response<ResponseBody>,
    text: &Bytes,
    method: &'static str,
) -> Response<ResponseBody> {
    let message: Value = serde_json::from_slice(text).unwrap_or_default();
    if response.status() != StatusCode::BAD_REQUEST || message["method"] != method {
        return refused(response, text).await;
    }
    let mut refusal = Refusal::new(
        StatusCode::NOT_FOUND,
        answer::METHOD_NOT_FOUND,
        method_not_found(method),
    );
    refusal.id = usable_id(&message);
    refusal.into_response()
}

/// Says in words that a method is unknown; rmcp sends only its name.
pub(super) fn method_not_found(method: &str) -> String {
    format!("Method not found: this server does not offer {method:?} in this protocol revision")
}

/// Whether an error message is rmcp's bare method name rather than something written for a reader.
pub(super) fn is_bare_method(message: &str) -> bool {
    !message.is_empty() && !message.contains(char::is_whitespace)
}

/// Turns a refusal of rmcp into a JSON-RPC error. `request` is the body it refused.
pub(super) async fn refused(
    response: Response<ResponseBody>,
    request: &Bytes,
) -> Response<ResponseBody> {
    let status = response.status();
    if is_json(response.headers()) {
        return if status == StatusCode::NOT_FOUND {
            reworded(response).await
        } else {
            response
        };
    }
    if status == StatusCode::NOT_FOUND {
        return Refusal::session_not_found().into_response();
    }
    let (parts, body) = response.into_parts();
    let refusal = if status == StatusCode::UNSUPPORTED_MEDIA_TYPE {
        // The content type was checked before, so this is rmcp's answer to a body it cannot read.
        refusal_of(request)
    } else if status.is_server_error() {
        let reason = text_of(body).await;
        tracing::error!(%status, reason, "the MCP service failed");
        Refusal::new(status, answer::INTERNAL_ERROR, "Internal error")
    } else {
        let mut refusal = Refusal::new(status, answer::INVALID_REQUEST, text_of(body).await);
        refusal.id = serde_json::from_slice(request).map_or(Value::Null, |value| usable_id(&value));
        refusal
    };
    let mut mended = refusal.into_response();
    if let Some(allow) = parts.headers.get(http::header::ALLOW) {
        mended
            .headers_mut()
            .insert(http::header::ALLOW, allow.clone());
    }
    mended
}

/// Replaces the message of "method not found" by one that can be read.
async fn reworded(response: Response<ResponseBody>) -> Response<ResponseBody> {
    rewritten(response, |value| {
        let Some(error) = value.get_mut("error") else {
            return;
        };
        if error.get("code").and_then(Value::as_i64) != Some(answer::METHOD_NOT_FOUND.into()) {
            return;
        }
        if let Some(message) = error.get_mut("message")
            && let Some(method) = message.as_str().filter(|text| is_bare_method(text))
        {
            *message = method_not_found(method).into();
        }
    })
    .await
}

/// Parses a JSON answer, changes it and writes it again. Only for answers that are rare or tiny.
pub(super) async fn rewritten(
    response: Response<ResponseBody>,
    change: impl FnOnce(&mut Value),
) -> Response<ResponseBody> {
    let (parts, body) = response.into_parts();
    let Ok(bytes) = body
        .collect()
        .await
        .map(http_body_util::Collected::to_bytes);
    let bytes = match serde_json::from_slice::<Value>(&bytes) {
        Ok(mut value) => {
            change(&mut value);
            value.to_string().into()
        }
        Err(_) => bytes,
    };
    let mut response = answer::json_response(parts.status, bytes);
    *response.headers_mut() = parts.headers;
    response.headers_mut().remove(http::header::CONTENT_LENGTH);
    response
}

async fn text_of(body: ResponseBody) -> String {
    let Ok(bytes) = body
        .collect()
        .await
        .map(http_body_util::Collected::to_bytes);
    String::from_utf8_lossy(&bytes).into_owned()
}

fn is_json(headers: &HeaderMap) -> bool {
    accept::is_json(headers)
}
