//! The dashboard's files, which `cargo xtask web build` leaves in `web/dist`: part of a release binary, read from disk by a
//! debug one. A binary that was built without them answers with a page that says how to get them.

use std::borrow::Cow;

use axum::{
    extract::{Path, State},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use http::{HeaderMap, HeaderValue, StatusCode, header};
use rust_embed::RustEmbed;

use crate::{
    DashboardFile, DashboardFiles,
    encoding::{self, Encoding},
    error::ApiError,
    pages,
    state::Server,
};

/// The addresses of the dashboard's pages. One document serves them all, and shows the page that its address names; the list is
/// the same as the routes of `web/src/routes.tsx`, so that an address that leads nowhere is not found here either.
pub(crate) const PAGES: [&str; 15] = [
    "/",
    "/boards",
    "/boards/{board}",
    "/inbox",
    "/new",
    "/loops",
    "/loops/{loop}",
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

/// Finds a file of the dashboard that was built with this program.
pub(crate) fn embedded(path: &str) -> Option<DashboardFile> {
    let found = Files::get(path)?;
    let data = match found.data {
        Cow::Borrowed(data) => Bytes::from_static(data),
        Cow::Owned(data) => Bytes::from(data),
    };
    let hash = found.metadata.sha256_hash();
    Some(DashboardFile { data, hash })
}

/// A file's name holds a hash of its contents, so a browser need not ask again.
const FOREVER: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");

/// Which files there are changes with every version, so a browser asks whether its document is still the one.
const ASK_AGAIN: HeaderValue = HeaderValue::from_static("no-cache");

/// Answers with the document of every page.
pub(crate) async fn page(State(server): State<Server>, asked: HeaderMap) -> Response {
    let Some(document) = Shown::find(server.config.dashboard, "index.html", &asked) else {
        return pages::without_dashboard().into_response();
    };
    let tag = document.tag();
    if asked
        .get_all(header::IF_NONE_MATCH)
        .iter()
        .any(|known| names(known, &tag))
    {
        let kept = [
            (header::ETAG, tag),
            (header::CACHE_CONTROL, ASK_AGAIN),
            (header::VARY, ACCEPT_ENCODING),
        ];
        return (StatusCode::NOT_MODIFIED, kept).into_response();
    }
    let mut answer = document.answer("text/html; charset=utf-8", ASK_AGAIN);
    answer.headers_mut().insert(header::ETAG, tag);
    answer
}

/// Answers with a file that the document asks for.
pub(crate) async fn file(
    State(server): State<Server>,
    Path(file): Path<String>,
    asked: HeaderMap,
) -> Response {
    let found = Shown::find(server.config.dashboard, &format!("assets/{file}"), &asked);
    match (found, media_type(&file)) {
        (Some(found), Some(media_type)) => found.answer(media_type, FOREVER),
        _ => ApiError::no_such_path().into_response(),
    }
}

const ACCEPT_ENCODING: HeaderValue = HeaderValue::from_static("accept-encoding");

/// A file in the form in which it is sent.
struct Shown {
    file: DashboardFile,
    encoding: Option<Encoding>,
}

impl Shown {
    /// Finds a file, compressed if there is such a one and the client takes it.
    fn find(files: DashboardFiles, path: &str, asked: &HeaderMap) -> Option<Self> {
        let plain = files(path)?;
        let compressed = encoding::accepted(asked).find_map(|encoding| {
            let file = files(&format!("{path}{}", encoding.ending()))?;
            Some((file, encoding))
        });
        Some(match compressed {
            Some((file, encoding)) => Self {
                file,
                encoding: Some(encoding),
            },
            None => Self {
                file: plain,
                encoding: None,
            },
        })
    }

    /// Names these very bytes.
    fn tag(&self) -> HeaderValue {
        let hash = self.file.hash.iter().take(16);
        let digits: String = hash.map(|byte| format!("{byte:02x}")).collect();
        HeaderValue::try_from(format!("\"{digits}\"")).expect("digits in quotes are a value")
    }

    fn answer(self, media_type: &'static str, kept: HeaderValue) -> Response {
        let headers = [
            (header::CONTENT_TYPE, HeaderValue::from_static(media_type)),
            (header::CACHE_CONTROL, kept),
            (header::VARY, ACCEPT_ENCODING),
        ];
        let mut answer = (headers, self.file.data).into_response();
        if let Some(encoding) = self.encoding {
            answer
                .headers_mut()
                .insert(header::CONTENT_ENCODING, encoding.name());
        }
        answer
    }
}

/// Tells whether `known`, a value of `If-None-Match`, names what has this tag.
fn names(known: &HeaderValue, tag: &HeaderValue) -> bool {
    let known = known.to_str().unwrap_or_default().split(',').map(str::trim);
    known
        .map(|one| one.strip_prefix("W/").unwrap_or(one))
        .any(|one| one == "*" || one.as_bytes() == tag.as_bytes())
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
