//! JSON schemas as small as they can be: every byte of `tools/list` is paid for in somebody's context window.

use std::sync::Arc;

use rmcp::model::JsonObject;
use schemars::{JsonSchema, generate::SchemaSettings};
use serde_json::{Map, Value};

/// The most fields of an answer that its schema names.
const FIELDS_NAMED_MAX: usize = 8;

/// Returns the schema of `T`, without what only a generator needs.
pub(crate) fn schema_of<T: JsonSchema>() -> Arc<JsonObject> {
    let mut settings = SchemaSettings::draft2020_12();
    settings.inline_subschemas = true;
    let schema = settings.into_generator().into_root_schema_for::<T>();
    let mut object = match serde_json::to_value(schema) {
        Ok(Value::Object(object)) => object,
        _ => Map::new(),
    };
    object.remove("$schema");
    object.remove("title");
    object.remove("description");
    object.entry("type").or_insert_with(|| "object".into());
    slim(&mut object);
    Arc::new(object)
}

/// Returns the schema of an answer: the names and types of its fields, and no more.
///
/// Whoever reads an answer sees what lies within a field; the words are for those who must fill fields in, and
/// `/openapi.json` has everything. Of an answer with many fields the first are named, which matter most. Nothing is required, so that a refusal fits too: some clients check even answers marked
/// as errors, and would throw away what went wrong.
pub(crate) fn answer_schema_of<T: JsonSchema>() -> Arc<JsonObject> {
    let full = schema_of::<T>();
    let fields = full.get("properties").and_then(Value::as_object);
    let outline = |(name, schema): (&String, &Value)| (name.clone(), outline(schema));
    let fields = fields.into_iter().flatten().take(FIELDS_NAMED_MAX);
    let fields: Map<_, _> = fields.map(outline).collect();
    let schema = serde_json::json!({ "type": "object", "properties": fields });
    Arc::new(schema.as_object().cloned().unwrap_or_default())
}

/// Returns what kind of value a field holds. One that may be of several kinds is left open.
fn outline(schema: &Value) -> Value {
    let kind = &schema["type"];
    let mut outline = Map::new();
    if kind.is_string() {
        outline.insert("type".into(), kind.clone());
    }
    if kind == "array" && schema["items"]["type"].is_string() {
        let items = serde_json::json!({ "type": schema["items"]["type"] });
        outline.insert("items".into(), items);
    }
    Value::Object(outline)
}

/// Visits the schemas within a schema.
fn for_each_inner(object: &mut Map<String, Value>, visit: impl Fn(&mut Map<String, Value>)) {
    for (key, value) in object.iter_mut() {
        match value {
            Value::Object(properties) if key == "properties" => {
                let inner = properties.values_mut().filter_map(Value::as_object_mut);
                inner.for_each(&visit);
            }
            Value::Object(schema) => visit(schema),
            Value::Array(items) => {
                let inner = items.iter_mut().filter_map(Value::as_object_mut);
                inner.for_each(&visit);
            }
            _ => {}
        }
    }
}

fn slim(object: &mut Map<String, Value>) {
    // A number's width is no limit a caller needs to know; requests are checked anyway.
    object.remove("format");
    if object.get("minimum").and_then(Value::as_f64) == Some(0.0) {
        object.remove("minimum");
    }
    if object.get("default").is_some_and(Value::is_null) {
        object.remove("default");
    }
    if let Some(Value::Array(types)) = object.get("type")
        && let [one, Value::String(null)] = types.as_slice()
        && null == "null"
    {
        // What may be left out need not be offered as null too.
        let one = one.clone();
        object.insert("type".into(), one);
    }
    for_each_inner(object, slim);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_keeps_what_a_caller_needs() {
        let schema = Value::Object((*schema_of::<wh_api::BoardGetRequest>()).clone());
        let board = serde_json::json!({
            "description": "The board's id, or its last 8 digits.",
            "type": "string",
        });
        let expected = serde_json::json!({
            "type": "object",
            "properties": { "board": board },
            "required": ["board"],
            "additionalProperties": false,
        });
        assert_eq!(schema, expected);
    }
}
