//! Gives every request an id, a line in the log and its place in the numbers.
//!
//! Paths are logged as route templates: what callers put into them, into queries and into headers is theirs.

use std::time::Instant;

use axum::{
    extract::{MatchedPath, Request},
    middleware::Next,
    response::Response,
};
use http::{HeaderName, HeaderValue, Method};
use uuid::Uuid;

/// The id of a request: an extension of it, the `X-Request-Id` of its answer, and what the audit log calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestId(pub Uuid);

const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// What a request that meets no route is counted as.
const UNMATCHED: &str = "unmatched";

/// Observes a request from its first to its last step here.
pub(crate) async fn observe(mut request: Request, next: Next) -> Response {
    let start = Instant::now();
    let id = Uuid::now_v7();
    request.extensions_mut().insert(RequestId(id));
    let method = method_name(request.method());
    let route = request.extensions().get::<MatchedPath>().cloned();
    let mut response = next.run(request).await;
    if let Ok(value) = HeaderValue::try_from(id.to_string()) {
        response.headers_mut().insert(X_REQUEST_ID, value);
    }
    let route = route.as_ref().map_or(UNMATCHED, MatchedPath::as_str);
    let status = response.status().as_u16();
    let elapsed = start.elapsed();
    tracing::info!(
        method,
        route,
        status,
        micros = elapsed.as_micros(),
        request_id = %id,
        "request"
    );
    crate::metrics::count(method, route, status, elapsed);
    response
}

/// Names a method. Callers can make up others; counting each by its name would let them fill our memory.
fn method_name(method: &Method) -> &'static str {
    match *method {
        Method::GET => "GET",
        Method::POST => "POST",
        Method::PUT => "PUT",
        Method::PATCH => "PATCH",
        Method::DELETE => "DELETE",
        Method::HEAD => "HEAD",
        Method::OPTIONS => "OPTIONS",
        _ => "other",
    }
}
