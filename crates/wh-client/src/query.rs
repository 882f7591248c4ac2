//! Turning a request into the query string of a list.

use serde::Serialize;
use serde_json::Value;
use url::Url;

use crate::ClientError;

/// Appends the fields of `query` to `url`. A list becomes one parameter, its entries separated by commas.
pub(crate) fn append(url: &mut Url, query: &impl Serialize) -> Result<(), ClientError> {
    let value = serde_json::to_value(query)
        .map_err(|error| ClientError::transport("failed to write the request", error))?;
    let Value::Object(fields) = value else {
        return Ok(());
    };
    let pairs: Vec<_> = fields
        .iter()
        .filter_map(|(name, value)| Some((name, text(value)?)))
        .collect();
    if !pairs.is_empty() {
        url.query_pairs_mut().extend_pairs(pairs);
    }
    Ok(())
}

fn text(value: &Value) -> Option<String> {
    match value {
        Value::Null => None,
        Value::String(text) => Some(text.clone()),
        Value::Array(items) => {
            let items: Vec<_> = items.iter().filter_map(text).collect();
            (!items.is_empty()).then(|| items.join(","))
        }
        other => Some(other.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn fields_become_parameters() {
        let mut url = Url::parse("http://localhost/x").unwrap();
        let query = json!({ "limit": 5, "states": ["idle", "running"], "board": null, "q": "a&b" });
        append(&mut url, &query).unwrap();
        let pairs: Vec<_> = url.query_pairs().into_owned().collect();
        let expected = [("limit", "5"), ("states", "idle,running"), ("q", "a&b")];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(pairs, expected);
    }

    #[test]
    fn nothing_leaves_the_address_alone() {
        let mut url = Url::parse("http://localhost/x").unwrap();
        append(&mut url, &wh_api::Empty {}).unwrap();
        assert_eq!(url.as_str(), "http://localhost/x");
    }
}
