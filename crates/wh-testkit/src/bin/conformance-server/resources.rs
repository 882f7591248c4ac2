//! Resources: text, binary, and one made from a template.

use rmcp::{
    ErrorData,
    model::{
        CacheScope, ListResourceTemplatesResult, ListResourcesResult, ReadResourceResult, Resource,
        ResourceContents, ResourceTemplate,
    },
};
use serde_json::json;

use crate::{handler::CACHE_TTL_MS, tools::PNG};

pub(crate) fn list() -> ListResourcesResult {
    ListResourcesResult::with_all_items(vec![
        Resource::new("test://static-text", "static-text")
            .with_description("Text.")
            .with_mime_type("text/plain"),
        Resource::new("test://static-binary", "static-binary")
            .with_description("An image.")
            .with_mime_type("image/png"),
        Resource::new("test://watched-resource", "watched-resource")
            .with_description("One to subscribe to.")
            .with_mime_type("text/plain"),
    ])
    .with_ttl_ms(CACHE_TTL_MS)
    .with_cache_scope(CacheScope::Public)
}

pub(crate) fn templates() -> ListResourceTemplatesResult {
    ListResourceTemplatesResult::with_all_items(vec![
        ResourceTemplate::new("test://template/{id}/data", "template")
            .with_description("Data for an id.")
            .with_mime_type("application/json"),
    ])
    .with_ttl_ms(CACHE_TTL_MS)
    .with_cache_scope(CacheScope::Public)
}

pub(crate) fn read(uri: &str) -> Result<ReadResourceResult, ErrorData> {
    let contents = match uri {
        "test://static-text" => text(
            uri,
            "text/plain",
            "This is the content of the static text resource.".into(),
        ),
        "test://watched-resource" => text(uri, "text/plain", "Watched resource content.".into()),
        "test://static-binary" => ResourceContents::BlobResourceContents {
            uri: uri.into(),
            mime_type: Some("image/png".into()),
            blob: PNG.into(),
            meta: None,
        },
        _ => match template_id(uri) {
            Some(id) => {
                let data =
                    json!({"id": id, "templateTest": true, "data": format!("Data for ID: {id}")});
                text(uri, "application/json", data.to_string())
            }
            None => {
                return Err(ErrorData::resource_not_found(
                    format!("there is no resource {uri}"),
                    Some(json!({"uri": uri})),
                ));
            }
        },
    };
    Ok(ReadResourceResult::new(vec![contents])
        .with_ttl_ms(CACHE_TTL_MS)
        .with_cache_scope(CacheScope::Public))
}

fn template_id(uri: &str) -> Option<&str> {
    uri.strip_prefix("test://template/")?.strip_suffix("/data")
}

fn text(uri: &str, mime_type: &str, text: String) -> ResourceContents {
    ResourceContents::TextResourceContents {
        uri: uri.into(),
        mime_type: Some(mime_type.into()),
        text,
        meta: None,
    }
}
