//! Changing one member of a JSON file, comments allowed, and leaving every other byte alone.

mod scan;

use serde::Serialize;
use serde_json::Value;

use scan::{Object, Scanner};

const INDENT: &str = "  ";

/// Returns the member at `path`, when it is there.
pub(super) fn get(text: &str, [section, name]: [&str; 2]) -> Result<Option<Value>, String> {
    if text.trim().is_empty() {
        return Ok(None);
    }
    let scanner = Scanner::new(text);
    let root = scanner.root()?;
    let Some(servers) = root.member(section) else {
        return Ok(None);
    };
    let servers = scanner.object(servers.value.start)?;
    let Some(member) = servers.member(name) else {
        return Ok(None);
    };
    let plain = scan::without_comments(&text[member.value.clone()]);
    let value = serde_json::from_str(&plain).map_err(|error| error.to_string())?;
    Ok(Some(value))
}

/// Sets the member at `path`, making the section when it is not there.
pub(super) fn set(text: &str, [section, name]: [&str; 2], value: &Value) -> Result<String, String> {
    if text.trim().is_empty() {
        let whole = serde_json::json!({ section: { name: value } });
        return Ok(format!("{}\n", pretty(&whole, INDENT, "", "\n")));
    }
    let scanner = Scanner::new(text);
    let root = scanner.root()?;
    let style = Style::of(text, &root);
    let Some(servers) = root.member(section) else {
        let value = serde_json::json!({ name: value });
        return Ok(style.insert(text, &root, section, &value));
    };
    let servers = scanner
        .object(servers.value.start)
        .map_err(|_| format!("{section} is not an object"))?;
    match servers.member(name) {
        None => Ok(style.insert(text, &servers, name, value)),
        Some(member) => {
            let indent = line_indent(text, member.key.start);
            let new = match text[servers.open..servers.close].contains('\n') {
                true => pretty(value, &style.unit, indent, style.newline),
                false => value.to_string(),
            };
            let (before, after) = (&text[..member.value.start], &text[member.value.end..]);
            Ok(format!("{before}{new}{after}"))
        }
    }
}

/// How a file is written.
struct Style {
    unit: String,
    newline: &'static str,
}

impl Style {
    fn of(text: &str, root: &Object) -> Self {
        let first = root.members.first();
        let unit = first.map_or("", |member| line_indent(text, member.key.start));
        Self {
            unit: if unit.is_empty() { INDENT } else { unit }.to_owned(),
            newline: if text.contains("\r\n") { "\r\n" } else { "\n" },
        }
    }

    /// Adds a member at the end of an object, in the way its other members are written.
    fn insert(&self, text: &str, object: &Object, key: &str, value: &Value) -> String {
        let key = Value::from(key);
        let Some(last) = object.members.last() else {
            let outer = line_indent(text, object.open);
            let indent = format!("{outer}{}", self.unit);
            let value = pretty(value, &self.unit, &indent, self.newline);
            let (before, after) = (&text[..=object.open], &text[object.close..]);
            let inside = text[object.open + 1..object.close].trim_end();
            let newline = self.newline;
            return format!(
                "{before}{inside}{newline}{indent}{key}: {value}{newline}{outer}{after}"
            );
        };
        let comma = if object.trailing_comma.is_some() {
            ""
        } else {
            ","
        };
        let at = object.trailing_comma.unwrap_or(last.value.end);
        let (before, after) = text.split_at(at);
        let first = &object.members[0];
        match text[object.open..first.key.start].contains('\n') {
            false => format!("{before}{comma} {key}: {value}{after}"),
            true => {
                let indent = line_indent(text, first.key.start);
                let value = pretty(value, &self.unit, indent, self.newline);
                format!(
                    "{before}{comma}{}{indent}{key}: {value}{after}",
                    self.newline
                )
            }
        }
    }
}

/// Returns the white space at the beginning of the line that `at` is on.
fn line_indent(text: &str, at: usize) -> &str {
    let start = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let line = &text[start..at];
    &line[..line.len() - line.trim_start().len()]
}

fn pretty(value: &Value, unit: &str, indent: &str, newline: &str) -> String {
    let mut bytes = Vec::new();
    let formatter = serde_json::ser::PrettyFormatter::with_indent(unit.as_bytes());
    let mut serializer = serde_json::Serializer::with_formatter(&mut bytes, formatter);
    // A value in memory is written to memory: neither can fail.
    value.serialize(&mut serializer).ok();
    let text = String::from_utf8_lossy(&bytes).into_owned();
    text.replace('\n', &format!("{newline}{indent}"))
}

#[cfg(test)]
mod tests;
