//! Changing one table of a TOML file; comments and everything else stay as they are.

use serde_json::Value;
use toml_edit::{Array, DocumentMut, InlineTable, Item, Table, value};

/// Puts the fields of `entry` into the table at `path`, after removing `replaced` ones from it.
pub(super) fn set(
    text: &str,
    [section, name]: [&str; 2],
    entry: &Value,
    replaced: &[&str],
) -> Result<String, String> {
    let mut document: DocumentMut = text.parse().map_err(|error: toml_edit::TomlError| {
        error
            .message()
            .lines()
            .next()
            .unwrap_or_default()
            .to_owned()
    })?;
    let mut servers = Table::new();
    servers.set_implicit(true);
    let servers = document.entry(section).or_insert(Item::Table(servers));
    let servers = servers
        .as_table_like_mut()
        .ok_or_else(|| format!("{section} is not a table"))?;
    let ours = servers.entry(name).or_insert(Item::Table(Table::new()));
    let ours = ours
        .as_table_like_mut()
        .ok_or_else(|| format!("{section}.{name} is not a table"))?;
    let fields = entry.as_object().into_iter().flatten();
    let fields: Vec<_> = fields
        .filter_map(|(key, field)| Some((key, item(field)?)))
        .collect();
    for key in replaced {
        if !fields.iter().any(|(ours, _)| ours == key) {
            ours.remove(key);
        }
    }
    for (key, new) in fields {
        let is_same = ours.get(key).is_some_and(|old| json(old) == json(&new));
        if !is_same {
            ours.insert(key, new);
        }
    }
    Ok(document.to_string())
}

/// Returns the table at `path` as JSON.
pub(super) fn get(text: &str, [section, name]: [&str; 2]) -> Option<Value> {
    let document: DocumentMut = text.parse().ok()?;
    json(document.get(section)?.get(name)?)
}

fn item(json: &Value) -> Option<Item> {
    match json {
        Value::String(text) => Some(value(text.as_str())),
        Value::Bool(switch) => Some(value(*switch)),
        Value::Array(items) => {
            let texts = items.iter().filter_map(Value::as_str);
            Some(value(texts.collect::<Array>()))
        }
        Value::Object(fields) => {
            let texts = fields
                .iter()
                .filter_map(|(key, field)| Some((key, field.as_str()?)));
            Some(value(texts.collect::<InlineTable>()))
        }
        _ => None,
    }
}

/// Reads what we write: texts, switches, lists of texts and tables of them.
fn json(item: &Item) -> Option<Value> {
    if let Some(text) = item.as_str() {
        return Some(text.into());
    }
    if let Some(switch) = item.as_bool() {
        return Some(switch.into());
    }
    if let Some(array) = item.as_array() {
        let texts = array.iter().map(|v| v.as_str().map(Value::from));
        return texts.collect::<Option<Vec<_>>>().map(Value::Array);
    }
    let fields = item.as_table_like()?.iter();
    let fields = fields.filter_map(|(key, field)| Some((key.to_owned(), json(field)?)));
    Some(Value::Object(fields.collect()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const PATH: [&str; 2] = ["mcp_servers", "wheelhouse"];

    fn check(text: &str) -> String {
        let entry = json!({ "command": "/bin/wh", "args": ["mcp"] });
        let once = set(text, PATH, &entry, &["url", "command", "args"]).unwrap();
        assert_eq!(
            set(&once, PATH, &entry, &["url"]).unwrap(),
            once,
            "idempotent"
        );
        once
    }

    #[test]
    fn the_rest_stays_as_it_is() {
        let text = "# mine\nmodel = \"x\" # yes\n\n[mcp_servers.other]\ncommand = 'o'\n";
        let once = check(text);
        assert!(once.starts_with(text), "{once}");
        insta::assert_snapshot!(&once[text.len()..], @r#"

        [mcp_servers.wheelhouse]
        command = "/bin/wh"
        args = ["mcp"]
        "#);
    }

    #[test]
    fn another_transport_is_replaced_and_other_keys_stay() {
        let once = check(
            "[mcp_servers.wheelhouse]\nurl = \"http://x\"\nstartup_timeout_sec = 20 # slow\n",
        );
        assert!(
            !once.contains("url") && once.contains("startup_timeout_sec = 20 # slow"),
            "{once}"
        );
    }

    #[test]
    fn what_is_no_table_is_refused() {
        for text in ["mcp_servers = 3", "[mcp_servers]\nwheelhouse = 1", "= ="] {
            assert!(set(text, PATH, &json!({}), &[]).is_err(), "{text}");
        }
    }
}
