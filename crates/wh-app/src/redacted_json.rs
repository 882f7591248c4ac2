//! Redaction of JSON, string by string: a secret must not take the quotes around it along.

use serde_json::Value;
use wh_domain::redact;

/// Returns JSON text without secrets.
pub(crate) fn redacted_json(value: Value) -> String {
    let text = value.to_string();
    match redact(&text) {
        std::borrow::Cow::Borrowed(_) => text,
        std::borrow::Cow::Owned(_) => redacted(value).to_string(),
    }
}

fn redacted(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(redact(&text).into_owned()),
        Value::Array(items) => Value::Array(items.into_iter().map(redacted).collect()),
        Value::Object(fields) => {
            let fields = fields.into_iter();
            let fields = fields.map(|(name, value)| (redact(&name).into_owned(), redacted(value)));
            Value::Object(fields.collect())
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn strings_are_redacted_and_the_structure_stays() {
        let secret = "-----BEGIN PRIVATE KEY-----\nabc";
        let value = json!({"a": [secret, 1], "wh_full_0123456789abcdef": null});
        let text = redacted_json(value);
        let read: Value = serde_json::from_str(&text).unwrap();
        let hidden = "-----BEGIN PRIVATE KEY-----…";
        assert_eq!(read, json!({"a": [hidden, 1], "wh_full_01234567…": null}));
        let plain = json!({"a": "b"});
        assert_eq!(redacted_json(plain.clone()), plain.to_string());
    }
}
