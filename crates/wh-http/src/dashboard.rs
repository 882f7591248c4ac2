//! The dashboard's files, which `cargo xtask web build` leaves in `web/dist`: part of a release binary, read from disk by a
//! debug one. A binary that was built without them answers with a page that says how to get them.

use std::borrow::Cow;

use axum::{
    extract::Path,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use http::{HeaderValue, header};
use rust_embed::RustEmbed;

use crate::{error::ApiError, pages};

/// The addresses of the dashboard's pages. One document serves them all, and shows the page that its address names; the list is
/// the same as the routes of `web/src/routes.tsx`, so that an address that leads nowhere is not found here either.
pub(crate) const PAGES: [&str; 13] = [
    "/",
    "/boards",
    "/boards/{board}",
    "/inbox",
    "/new",
    "/search",
    "/agents",
    "/keys",
    "/cost",
    "/users",
    "/settings",
    "/audit",
    "/sessions/{session}",
];

/// The address of everything else the dashboard consists of.
pub(crate) const FILES: &str = "/assets/{*file}";

#[derive(RustEmbed)]
#[folder = "../../web/dist/"]
struct Files;

/// A file's name holds a hash of its contents, so a browser need not ask again.
const FOREVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");

/// Answers with the document of every page.
pub(crate) async fn page() -> Response {
    match Files::get("index.html") {
        Some(document) => answer(
            "text/html; charset=utf-8",
            HeaderValue::from_static("no-cache"),
            document.data,
        ),
        None => pages::without_dashboard().into_response(),
    }
}

/// Answers with a file that the document asks for.
pub(crate) async fn file(Path(file): Path<String>) -> Response {
    let found = Files::get(&format!("assets/{file}"));
    match (found, media_type(&file)) {
        (Some(found), Some(media_type)) => answer(media_type, FOREVER, found.data),
        _ => ApiError::no_such_path().into_response(),
    }
}

fn answer(media_type: &'static str, kept: HeaderValue, data: Cow<'static, [u8]>) -> Response {
    let body = match data {
        Cow::Borrowed(data) => Bytes::from_static(data),
        Cow::Owned(data) => Bytes::from(data),
    };
    let headers = [
        (header::CONTENT_TYPE, HeaderValue::from_static(media_type)),
        (header::CACHE_CONTROL, kept),
    ];
    (headers, body).into_response()
}

/// Names what a file is; nothing else is part of the dashboard.
fn media_type(file: &str) -> Option<&'static str> {
    let (_, extension) = file.rsplit_once('.')?;
    match extension {
        "js" => Some("text/javascript; charset=utf-8"),
        "css" => Some("text/css; charset=utf-8"),
        "svg" => Some("image/svg+xml"),
        "woff2" => Some("font/woff2"),
        _ => None,
    }
}
