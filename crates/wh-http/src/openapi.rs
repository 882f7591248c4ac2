//! `/openapi.json`, made from the table and the schemas of the wire types.

use std::collections::BTreeMap;

use schemars::{SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};
use wh_api::{ErrorBody, FeedView};

use crate::{
    input::IDEMPOTENCY_KEY,
    login::COOKIE,
    routes,
    table::{PREFIX, Route},
};

/// Makes the description of the REST interface.
pub fn document() -> Value {
    let mut generator = SchemaSettings::draft2020_12()
        .with(|settings| settings.definitions_path = "/components/schemas".into())
        .into_generator();
    let mut paths: BTreeMap<String, Map<String, Value>> = BTreeMap::new();
    for route in routes::all() {
        let methods = paths.entry(format!("{PREFIX}{}", route.path)).or_default();
        let method = route.method.as_str().to_ascii_lowercase();
        methods.insert(method, operation(&route, &mut generator));
    }
    let error = generator.subschema_for::<ErrorBody>();
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Wheelhouse",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "Runs coding agents and lets people and agents direct them.",
        },
        "paths": paths,
        "components": {
            "schemas": generator.take_definitions(true),
            "responses": { "Error": {
                "description": "The request was refused or failed; the body says why and what to do next.",
                "content": { "application/json": { "schema": error } },
            }},
            "securitySchemes": {
                "bearer": { "type": "http", "scheme": "bearer", "description": "A key, such as wh_full_…" },
                "cookie": { "type": "apiKey", "in": "cookie", "name": COOKIE },
            },
        },
        "security": [{ "bearer": [] }, { "cookie": [] }],
    })
}

/// Returns the names in a path's braces.
pub(crate) fn path_parameters(path: &str) -> impl Iterator<Item = &str> {
    let parts = path.split('/');
    parts.filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
}

fn operation(route: &Route, generator: &mut SchemaGenerator) -> Value {
    let takes_body = !matches!(route.method, http::Method::GET | http::Method::DELETE);
    let request = (route.request_schema)(generator).to_value();
    let mut parameters = parameters(route, &request, takes_body);
    if route.operation.rule().effect.changes() {
        parameters.push(header(
            IDEMPOTENCY_KEY.as_str(),
            "A mark of your choice: a repeat with the same mark within 24 hours gets the first result.",
        ));
    }
    if route.streams {
        parameters.push(header(
            "last-event-id",
            "Where a stream goes on; counts more than `after`.",
        ));
    }
    let mut operation = json!({
        "operationId": route.id,
        "summary": route.summary,
        "tags": [tag(route.path)],
        "responses": {
            route.status.as_str(): success(route, generator),
            "default": { "$ref": "#/components/responses/Error" },
        },
    });
    if !parameters.is_empty() {
        operation["parameters"] = parameters.into();
    }
    let body = takes_body.then(|| body(route, &request, generator));
    if let Some(schema) = body.flatten() {
        operation["requestBody"] = json!({
            "required": schema.get("required").is_some() || schema.get("$ref").is_some(),
            "content": { "application/json": { "schema": schema } },
        });
    }
    operation
}

fn header(name: &str, about: &str) -> Value {
    json!({ "name": name, "in": "header", "description": about, "schema": { "type": "string" } })
}

fn tag(path: &str) -> &str {
    path.split('/').nth(1).unwrap_or_default()
}

fn success(route: &Route, generator: &mut SchemaGenerator) -> Value {
    let schema = (route.response)(generator);
    let mut success = json!({
        "description": if route.status == http::StatusCode::CREATED { "It was made." } else { "It was done." },
        "content": { "application/json": { "schema": schema } },
    });
    if route.streams {
        let feed = generator.subschema_for::<FeedView>();
        success["content"]["text/event-stream"] = json!({ "schema": feed });
    }
    success
}

/// Lists what the path holds and, where there is no body, what the query may.
fn parameters(route: &Route, request: &Value, takes_body: bool) -> Vec<Value> {
    let in_path: Vec<_> = path_parameters(route.path).collect();
    let properties = request["properties"].as_object().into_iter().flatten();
    let mut all = Vec::new();
    for (name, schema) in properties {
        let is_in_path = in_path.contains(&name.as_str());
        if !is_in_path && takes_body {
            continue;
        }
        let mut schema = without_null(schema.clone());
        let about = schema.as_object_mut().and_then(|s| s.remove("description"));
        let mut parameter = json!({
            "name": name,
            "in": if is_in_path { "path" } else { "query" },
            "schema": schema,
        });
        if is_in_path || is_required(request, name) {
            parameter["required"] = true.into();
        }
        if let Some(about) = about {
            parameter["description"] = about;
        }
        all.push(parameter);
    }
    all
}

/// Describes the body: the request type, without what the path holds. Nothing when nothing is left.
fn body(route: &Route, request: &Value, generator: &mut SchemaGenerator) -> Option<Value> {
    let in_path: Vec<_> = path_parameters(route.path).collect();
    let properties = request["properties"].as_object()?;
    if properties
        .keys()
        .all(|name| in_path.contains(&name.as_str()))
    {
        return None;
    }
    if in_path.is_empty() {
        return Some((route.request)(generator).to_value());
    }
    let mut schema = request.clone();
    let of_path = |name: &Value| in_path.iter().any(|in_path| name == in_path);
    if let Some(properties) = schema["properties"].as_object_mut() {
        properties.retain(|name, _| !in_path.contains(&name.as_str()));
    }
    let required: Vec<_> = request["required"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|name| !of_path(name))
        .cloned()
        .collect();
    let fields = schema.as_object_mut()?;
    fields.remove("required");
    if !required.is_empty() {
        fields.insert("required".to_owned(), required.into());
    }
    Some(schema)
}

fn is_required(request: &Value, name: &str) -> bool {
    let required = request["required"].as_array();
    required.is_some_and(|required| required.iter().any(|required| required == name))
}

/// A parameter that is absent is left out; it is never `null`.
fn without_null(mut schema: Value) -> Value {
    if let Some(types) = schema["type"].as_array() {
        let mut rest: Vec<_> = types.iter().filter(|t| *t != "null").cloned().collect();
        schema["type"] = if rest.len() == 1 {
            rest.remove(0)
        } else {
            rest.into()
        };
    }
    if let Some(fields) = schema.as_object_mut() {
        fields.retain(|name, value| !(name == "default" && value.is_null()));
        fields.remove("$schema");
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_document_is_as_it_was() {
        insta::assert_json_snapshot!(document(), { ".info.version" => "[version]" });
    }

    #[test]
    fn every_reference_leads_somewhere() {
        let document = document();
        let mut open = vec![&document];
        while let Some(value) = open.pop() {
            match value {
                Value::Object(fields) => {
                    if let Some(Value::String(reference)) = fields.get("$ref") {
                        let pointer = reference.strip_prefix('#').unwrap();
                        assert!(document.pointer(pointer).is_some(), "{reference}");
                    }
                    open.extend(fields.values());
                }
                Value::Array(items) => open.extend(items),
                _ => {}
            }
        }
    }
}
