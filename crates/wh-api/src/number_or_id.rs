//! Numbers and ids, as callers write them.

use std::{borrow::Cow, convert::Infallible, fmt, str::FromStr};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, de};
use wh_domain::{InputRefusal, Reference};

use crate::common::reference;

/// The number of an entry, its id, or what a list returned as `next_cursor`.
///
/// Answers hold numbers as JSON numbers and ids as text. Callers pass on what they read, so both are accepted, a number also as text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct NumberOrId(String);

impl NumberOrId {
    /// Returns what the caller wrote.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Parses it as a number; errors name the field `name`.
    pub fn number(&self, name: &str) -> Result<u64, InputRefusal> {
        let wrong = |_| InputRefusal::new(name, "must be a number from 0");
        self.0.trim().parse().map_err(wrong)
    }

    /// Parses it as a reference; errors name the field `name`.
    pub fn reference(&self, name: &str) -> Result<Reference, InputRefusal> {
        reference(name, &self.0)
    }
}

impl From<String> for NumberOrId {
    fn from(text: String) -> Self {
        Self(text)
    }
}

impl From<&str> for NumberOrId {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl From<u64> for NumberOrId {
    fn from(number: u64) -> Self {
        Self(number.to_string())
    }
}

impl FromStr for NumberOrId {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        Ok(Self::from(text))
    }
}

impl fmt::Display for NumberOrId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for NumberOrId {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Visitor;

        impl de::Visitor<'_> for Visitor {
            type Value = NumberOrId;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number or a string")
            }

            fn visit_u64<E>(self, number: u64) -> Result<NumberOrId, E> {
                Ok(number.into())
            }

            fn visit_str<E>(self, text: &str) -> Result<NumberOrId, E> {
                Ok(text.into())
            }

            fn visit_string<E>(self, text: String) -> Result<NumberOrId, E> {
                Ok(text.into())
            }
        }

        deserializer.deserialize_any(Visitor)
    }
}

impl JsonSchema for NumberOrId {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "NumberOrId".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["string", "integer"] })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn numbers_and_texts_are_accepted() {
        let check = |value: Value, expected: Option<&str>| {
            let read = serde_json::from_value::<NumberOrId>(value.clone());
            let read = read.ok().map(|it| it.to_string());
            assert_eq!(read.as_deref(), expected, "{value}");
        };
        check(json!(12), Some("12"));
        check(json!(0), Some("0"));
        check(json!(u64::MAX), Some("18446744073709551615"));
        check(json!("12"), Some("12"));
        check(json!("89abcdef"), Some("89abcdef"));
        for refused in [
            json!(-1),
            json!(1.5),
            json!(true),
            json!([1]),
            json!({}),
            Value::Null,
        ] {
            check(refused, None);
        }
    }

    #[test]
    fn a_text_that_is_no_number_is_refused_by_the_name_of_its_field() {
        assert_eq!(NumberOrId::from("7").number("after").unwrap(), 7);
        let refused = NumberOrId::from("89abcdef").number("after").unwrap_err();
        assert!(refused.to_string().starts_with("after"), "{refused}");
    }
}
