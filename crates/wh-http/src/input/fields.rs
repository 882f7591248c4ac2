//! The fields of a request type, and how their values are written in a query.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde_json::{Map, Value};

use crate::error::ApiError;

/// The fields of a request type by name, taken from its schema.
#[derive(Debug)]
pub(crate) struct Fields(BTreeMap<String, Kind>);

/// What a field holds, as far as it can be written in a query.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Text,
    Integer,
    Number,
    Boolean,
    /// Values after commas, or the parameter repeated.
    List,
    /// Only a body can hold it.
    Structure,
}

impl Fields {
    /// Takes the fields of a type.
    pub(crate) fn of<T: JsonSchema>() -> Self {
        let schema = schemars::schema_for!(T);
        let properties = schema.get("properties").and_then(Value::as_object);
        let fields = properties.into_iter().flatten();
        Self(
            fields
                .map(|(name, schema)| (name.clone(), Kind::of(schema)))
                .collect(),
        )
    }

    /// Reads a query string.
    pub(crate) fn read(&self, query: &str) -> Result<Map<String, Value>, ApiError> {
        let mut all = Map::new();
        for (name, text) in url::form_urlencoded::parse(query.as_bytes()) {
            let kind = *self.0.get(&*name).ok_or_else(|| self.unknown(&name))?;
            match (kind, all.get_mut(&*name)) {
                (Kind::List, Some(Value::Array(items))) => items.extend(items_of(&text)),
                (Kind::List, _) => {
                    all.insert(name.into_owned(), items_of(&text).collect());
                }
                (_, Some(_)) => return Err(ApiError::field(&name, "is given twice")),
                (kind, None) => {
                    let value = kind.read(&text);
                    let value = value.map_err(|problem| ApiError::field(&name, problem))?;
                    all.insert(name.into_owned(), value);
                }
            }
        }
        Ok(all)
    }

    fn unknown(&self, name: &str) -> ApiError {
        let known: Vec<_> = self.0.keys().map(String::as_str).collect();
        let hint = match known.as_slice() {
            [] => "this path takes no parameters".to_owned(),
            known => format!("this path takes {}", known.join(", ")),
        };
        ApiError::field(name, "is not a parameter of this path").hint(hint)
    }

    /// Tells whether the type has this field.
    #[cfg(test)]
    pub(crate) fn contains(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }
}

impl Kind {
    /// Reads the kind from a property's schema; a field that may be absent has `null` among its types.
    fn of(schema: &Value) -> Self {
        let types = match schema.get("type") {
            Some(Value::Array(types)) => types.as_slice(),
            Some(one) => std::slice::from_ref(one),
            None => &[],
        };
        let mut named = types.iter().filter_map(Value::as_str);
        match named.find(|name| *name != "null") {
            Some("string") => Self::Text,
            Some("integer") => Self::Integer,
            Some("number") => Self::Number,
            Some("boolean") => Self::Boolean,
            Some("array") if schema["items"]["type"] == "string" => Self::List,
            _ => Self::Structure,
        }
    }

    fn read(self, text: &str) -> Result<Value, &'static str> {
        match self {
            Self::Text => Ok(text.into()),
            Self::Integer => text
                .parse::<u64>()
                .map(Value::from)
                .or_else(|_| text.parse::<i64>().map(Value::from))
                .map_err(|_| "must be a whole number"),
            Self::Number => text
                .parse::<f64>()
                .ok()
                .and_then(serde_json::Number::from_f64)
                .map(Value::Number)
                .ok_or("must be a number"),
            Self::Boolean => match text {
                "true" | "1" => Ok(true.into()),
                "false" | "0" => Ok(false.into()),
                _ => Err("must be true or false"),
            },
            Self::List | Self::Structure => Err("must be given in the body"),
        }
    }
}

fn items_of(text: &str) -> impl Iterator<Item = Value> + '_ {
    text.split(',')
        .map(str::trim)
        .filter(|item| !item.is_empty())
        .map(Value::from)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use wh_api::{BoardUpdateRequest, EventListRequest, SessionListRequest};

    use super::*;

    fn sessions(query: &str) -> Result<Value, String> {
        let fields = Fields::of::<SessionListRequest>().read(query);
        fields
            .map(Value::Object)
            .map_err(|error| error.body().error.message)
    }

    #[test]
    fn values_take_the_types_of_the_schema() {
        assert_eq!(
            sessions(
                "limit=5&include_archived=true&needs_you=true&states=idle,running&states=failed&board=12"
            ),
            Ok(json!({
                "limit": 5, "include_archived": true, "needs_you": true, "states": ["idle", "running", "failed"], "board": "12",
            }))
        );
        assert_eq!(sessions(""), Ok(json!({})));
    }

    #[test]
    fn what_does_not_fit_is_named() {
        for (query, message) in [
            ("limit=five", "limit: must be a whole number"),
            ("limit=", "limit: must be a whole number"),
            (
                "include_archived=maybe",
                "include_archived: must be true or false",
            ),
            ("limit=1&limit=2", "limit: is given twice"),
            (
                "access_token=x",
                "access_token: is not a parameter of this path",
            ),
        ] {
            assert_eq!(sessions(query), Err(message.to_owned()));
        }
    }

    #[test]
    fn structures_need_a_body() {
        let fields = Fields::of::<BoardUpdateRequest>();
        assert!(fields.read("zones=x").is_err());
        assert!(fields.read("remove_zones=a,b").is_ok());
        let events = Fields::of::<EventListRequest>();
        assert!(events.read("after=18446744073709551615").is_ok());
    }
}
