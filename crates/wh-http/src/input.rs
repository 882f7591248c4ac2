//! Makes one JSON object out of a request's path, query and body, and reads the request type from it.

mod fields;
mod json;

use axum::{RequestPartsExt, body::Body, extract::Path};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, Method, StatusCode, header, request::Parts};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use wh_app::Idempotency;
use wh_domain::IdempotencyKey;

pub(crate) use self::fields::Fields;
use crate::{RequestLimits, error::ApiError, limit, table::Route};

/// The header by which a caller marks a request that it may send twice.
pub(crate) const IDEMPOTENCY_KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// The field of a body that does the same.
const IDEMPOTENCY_FIELD: &str = "idempotency_key";

/// What a caller sent.
#[derive(Debug)]
pub(crate) struct Input {
    pub(crate) fields: Map<String, Value>,
    pub(crate) idempotency: Option<Idempotency>,
}

/// Reads everything a caller sent to `route`.
pub(crate) async fn read(
    parts: &mut Parts,
    body: Body,
    route: &Route,
    limits: &RequestLimits,
) -> Result<Input, ApiError> {
    let bytes = limit::read(body, (route.body_bytes_max)(limits)).await?;
    let body = body_fields(parts, &bytes)?;
    let fields = merged(parts, body, &route.fields).await?;
    let idempotency = if route.operation.rule().effect.changes() {
        idempotency(parts, &fields, &bytes)?
    } else {
        None
    };
    Ok(Input {
        fields,
        idempotency,
    })
}

/// Reads the fields of a request without a body.
pub(crate) async fn read_query(
    parts: &mut Parts,
    fields: &Fields,
) -> Result<Map<String, Value>, ApiError> {
    merged(parts, Map::new(), fields).await
}

/// Reads a request type, naming the field that does not fit.
pub(crate) fn from_fields<T: DeserializeOwned>(fields: Map<String, Value>) -> Result<T, ApiError> {
    serde_path_to_error::deserialize(Value::Object(fields)).map_err(|error| {
        let path = error.path().to_string();
        json::refusal(&path, &error.into_inner().to_string())
    })
}

async fn merged(
    parts: &mut Parts,
    body: Map<String, Value>,
    known: &Fields,
) -> Result<Map<String, Value>, ApiError> {
    let path: Path<Vec<(String, String)>> = parts
        .extract()
        .await
        .map_err(|_| ApiError::invalid("the path is not valid UTF-8"))?;
    let query = parts.uri.query().unwrap_or_default();
    let mut all = known.read(query)?;
    for (name, value) in path.0 {
        add(&mut all, name, Value::String(value))?;
    }
    for (name, value) in body {
        add(&mut all, name, value)?;
    }
    Ok(all)
}

fn add(all: &mut Map<String, Value>, name: String, value: Value) -> Result<(), ApiError> {
    if all.contains_key(&name) {
        return Err(ApiError::field(&name, "is given twice"));
    }
    all.insert(name, value);
    Ok(())
}

/// Reads the body: one JSON object, or nothing.
fn body_fields(parts: &Parts, bytes: &Bytes) -> Result<Map<String, Value>, ApiError> {
    check_content_type(&parts.headers, bytes)?;
    if bytes.is_empty() {
        return Ok(Map::new());
    }
    if matches!(parts.method, Method::GET | Method::HEAD | Method::DELETE) {
        return Err(ApiError::invalid("this request takes no body")
            .hint("give what you mean in the path and the query"));
    }
    match json::parse(bytes)? {
        Value::Object(fields) => Ok(fields),
        _ => Err(ApiError::invalid("the body must be a JSON object")),
    }
}

fn check_content_type(headers: &HeaderMap, bytes: &Bytes) -> Result<(), ApiError> {
    let mut given = headers.get_all(header::CONTENT_TYPE).iter();
    let is_fine = match (given.next(), given.next()) {
        (None, _) => bytes.is_empty(),
        (Some(given), None) => given.to_str().is_ok_and(is_json),
        _ => false,
    };
    if is_fine {
        return Ok(());
    }
    Err(ApiError::invalid("the body must be JSON")
        .hint("send it with Content-Type: application/json")
        .status(StatusCode::UNSUPPORTED_MEDIA_TYPE))
}

fn is_json(content_type: &str) -> bool {
    let mut parts = content_type.split(';').map(str::trim);
    let is_json = parts
        .next()
        .is_some_and(|essence| essence.eq_ignore_ascii_case("application/json"));
    let is_utf8 = |parameter: &str| match parameter.split_once('=') {
        Some((name, value)) if name.trim().eq_ignore_ascii_case("charset") => {
            let value = value.trim().trim_matches('"');
            value.eq_ignore_ascii_case("utf-8") || value.eq_ignore_ascii_case("utf8")
        }
        _ => true,
    };
    is_json && parts.all(is_utf8)
}

/// Reads the caller's mark, from the header or the body.
fn idempotency(
    parts: &Parts,
    fields: &Map<String, Value>,
    body: &Bytes,
) -> Result<Option<Idempotency>, ApiError> {
    let mut headers = parts.headers.get_all(IDEMPOTENCY_KEY).iter();
    let field = fields.get(IDEMPOTENCY_FIELD).and_then(Value::as_str);
    let (name, text) = match (headers.next(), headers.next(), field) {
        (None, _, None) => return Ok(None),
        (None, _, Some(field)) => (IDEMPOTENCY_FIELD, field),
        (Some(header), None, None) => {
            let text = header.to_str();
            ("Idempotency-Key", text.unwrap_or_default())
        }
        _ => return Err(ApiError::field("Idempotency-Key", "is given twice")),
    };
    let mark = IdempotencyKey::parse(text).map_err(|refusal| ApiError::field(name, refusal))?;
    Ok(Some(Idempotency {
        mark,
        request: digest(parts, body),
    }))
}

/// Tells one request from another. The query counts too, since it can hold fields.
fn digest(parts: &Parts, body: &Bytes) -> [u8; 32] {
    let path = parts.uri.path_and_query().map_or("", |path| path.as_str());
    Sha256::new()
        .chain_update(parts.method.as_str())
        .chain_update("\n")
        .chain_update(path)
        .chain_update("\n")
        .chain_update(body)
        .finalize()
        .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_json_is_json() {
        for good in [
            "application/json",
            "Application/JSON; charset=utf-8",
            "application/json;charset=\"UTF-8\"",
        ] {
            assert!(is_json(good), "{good}");
        }
        for bad in [
            "",
            "text/plain",
            "application/jsonp",
            "application/x-www-form-urlencoded",
            "application/json; charset=utf-16",
        ] {
            assert!(!is_json(bad), "{bad}");
        }
    }
}
