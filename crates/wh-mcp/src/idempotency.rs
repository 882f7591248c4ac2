//! The marks that make a repeated call harmless.

use http::HeaderMap;
use rmcp::model::JsonObject;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use wh_app::{AppError, Idempotency, RequestReason};
use wh_domain::{IdempotencyKey, Principal};

/// The name of the argument that marks a request as repeatable.
pub(crate) const IDEMPOTENCY_ARGUMENT: &str = "idempotency_key";

/// The name of the same in a request's `_meta`, for tools whose arguments are another system's.
pub(crate) const IDEMPOTENCY_META: &str = "wheelhouse/idempotency_key";

/// Names a call that a runner forwards, the same when it has to repeat it.
const CALL_HEADER: &str = "x-wheelhouse-call";

/// Returns the mark of a call that a runner repeats when the server went away before it answered.
pub(crate) fn repeat_mark<'a>(principal: &Principal, headers: &'a HeaderMap) -> Option<&'a str> {
    let by_agent = principal.credential.session().is_some();
    forwarded_mark(headers).filter(|_| by_agent)
}

/// Returns the same for a port that forwards the calls of others with a key, as `wheelhouse loop serve` does.
pub(crate) fn forwarded_mark(headers: &HeaderMap) -> Option<&str> {
    headers.get(CALL_HEADER)?.to_str().ok()
}

/// Reads the mark that makes a repeat harmless: the caller's own or, without one, the runner's.
pub(crate) fn idempotency(
    name: &str,
    arguments: &JsonObject,
    runners: Option<&str>,
) -> Result<Option<Idempotency>, AppError> {
    let given = arguments.get(IDEMPOTENCY_ARGUMENT).map(Value::as_str);
    let text = match (given, runners) {
        (Some(Some(text)), _) | (None, Some(text)) => text,
        (Some(None), _) => return Err(RequestReason::IdempotencyKey.into()),
        (None, None) => return Ok(None),
    };
    let mut digest = Sha256::new();
    digest.update(name);
    let asked = arguments
        .iter()
        .filter(|(key, _)| *key != IDEMPOTENCY_ARGUMENT);
    digest.update(canonical(asked));
    Ok(Some(Idempotency {
        mark: IdempotencyKey::parse(text)?,
        request: digest.finalize().into(),
    }))
}

/// Writes fields so that equal ones have equal bytes, in whatever order they were sent.
fn canonical<'a>(fields: impl Iterator<Item = (&'a String, &'a Value)>) -> String {
    let mut fields: Vec<_> = fields.collect();
    fields.sort_by_key(|(key, _)| *key);
    let field = |(key, value): &(&String, &Value)| match value {
        Value::Object(inner) => format!("{key:?}:{{{}}}", canonical(inner.iter())),
        Value::Array(items) => {
            let numbered = items.iter().enumerate();
            let items: Map<_, _> = numbered
                .map(|(n, item)| (format!("{n:09}"), item.clone()))
                .collect();
            format!("{key:?}:[{}]", canonical(items.iter()))
        }
        plain => format!("{key:?}:{plain}"),
    };
    let fields: Vec<_> = fields.iter().map(field).collect();
    fields.join(",")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn the_order_of_fields_does_not_make_another_request() {
        let digest = |arguments: Value| {
            let arguments = arguments.as_object().cloned().unwrap_or_default();
            idempotency("board_create", &arguments, None)
                .unwrap()
                .unwrap()
                .request
        };
        let one =
            json!({ "name": "x", "zones": [{ "name": "a", "x": 1 }, 2], "idempotency_key": "m" });
        let same =
            json!({ "idempotency_key": "m", "zones": [{ "x": 1, "name": "a" }, 2], "name": "x" });
        assert_eq!(digest(one), digest(same.clone()));
        for other in [
            json!({ "idempotency_key": "m", "zones": [2, { "x": 1, "name": "a" }], "name": "x" }),
            json!({ "idempotency_key": "m", "zones": [{ "x": 1, "name": "a" }], "name": "x" }),
            json!({ "idempotency_key": "m", "name": "x" }),
        ] {
            assert_ne!(digest(other), digest(same.clone()));
        }
    }
}
