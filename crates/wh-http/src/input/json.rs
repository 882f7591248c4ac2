//! Reads JSON strictly: every field once, and not too deep.
//!
//! `serde_json` keeps the last of two equal fields. Whoever checked the first one then approved something else.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::error::ApiError;

/// How deeply arrays and objects may nest.
const DEPTH_MAX: usize = 64;

/// Reads one JSON value.
pub(super) fn parse(bytes: &[u8]) -> Result<Value, ApiError> {
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let value = Strict { depth: 0 }.deserialize(&mut deserializer);
    let whole = value.and_then(|value| deserializer.end().map(|()| value));
    whole.map_err(|error| refusal("", &error.to_string()))
}

/// Turns a message of serde into a refusal that names the field, where one can be told.
pub(super) fn refusal(path: &str, message: &str) -> ApiError {
    let named = ["duplicate field `", "unknown field `", "missing field `"]
        .into_iter()
        .find_map(|start| message.strip_prefix(start)?.split('`').next());
    let field = match (path, named) {
        ("" | ".", None) => {
            return ApiError::invalid(format!("the body cannot be read: {message}"));
        }
        ("" | ".", Some(name)) => name.to_owned(),
        (path, None) => path.to_owned(),
        (path, Some(name)) => match path.strip_suffix(name) {
            Some(_) => path.to_owned(),
            None => format!("{path}.{name}"),
        },
    };
    ApiError::field(&field, message).hint("/openapi.json lists the fields and what they hold")
}

#[derive(Clone, Copy)]
struct Strict {
    /// How many arrays and objects are around it.
    depth: usize,
}

impl Strict {
    fn inner<E: Error>(self) -> Result<Self, E> {
        if self.depth >= DEPTH_MAX {
            let message = format!("it nests deeper than {DEPTH_MAX} levels");
            return Err(E::custom(message));
        }
        Ok(Self {
            depth: self.depth + 1,
        })
    }
}

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Value, E> {
        let number = Number::from_f64(value);
        number
            .map(Value::Number)
            .ok_or_else(|| E::custom("a number is out of range"))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let inner = self.inner()?;
        let mut all = Vec::new();
        while let Some(item) = items.next_element_seed(inner)? {
            all.push(item);
        }
        Ok(Value::Array(all))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Value, A::Error> {
        let inner = self.inner()?;
        let mut all = Map::new();
        while let Some(name) = fields.next_key::<String>()? {
            if all.contains_key(&name) {
                return Err(A::Error::custom(format!("duplicate field `{name}`")));
            }
            let value = fields.next_value_seed(inner)?;
            all.insert(name, value);
        }
        Ok(Value::Object(all))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn refused(text: &str) -> (String, Value) {
        let error = parse(text.as_bytes()).unwrap_err().body().error;
        assert_eq!(error.code, "INVALID_INPUT");
        let field = error.details.get("field").cloned();
        (error.message, field.unwrap_or_default())
    }

    #[test]
    fn what_is_json_is_read_as_it_is() {
        let text = r#"{"a":[1,-2,2.5,true,null,"x"],"b":{"c":"\u00e9"},"d":18446744073709551615}"#;
        assert_eq!(
            parse(text.as_bytes()).unwrap(),
            serde_json::from_str::<Value>(text).unwrap()
        );
    }

    #[test]
    fn a_field_given_twice_is_named() {
        let (message, field) = refused(r#"{"a":1,"b":{"name":1,"name":2}}"#);
        assert_eq!(field, json!("name"));
        assert!(message.contains("duplicate field"), "{message}");
    }

    #[test]
    fn depth_is_bounded() {
        let nested = |n: usize| format!("{}{}", "[".repeat(n), "]".repeat(n));
        assert!(parse(nested(DEPTH_MAX).as_bytes()).is_ok());
        assert!(refused(&nested(DEPTH_MAX + 1)).0.contains("deeper than 64"));
        assert!(refused(&"[".repeat(100_000)).0.contains("deeper than 64"));
    }

    #[test]
    fn what_is_not_json_is_refused() {
        for text in [
            "{",
            "{} {}",
            "1e999",
            r#""\ud800""#,
            "{'a':1}",
            "nul",
            "\u{feff}{}",
        ] {
            refused(text);
        }
    }
}
