//! Gives every request an id, a line in the log and its place in the numbers.
//!
//! Paths are logged as route templates: what callers put into them, into queries and into headers is theirs.

use std::{
    convert::Infallible,
    task::{Context, Poll},
    time::{Duration, Instant},
};

use axum::{
    extract::{MatchedPath, Request},
    response::Response,
};
use futures::future::BoxFuture;
use http::{HeaderName, HeaderValue, Method, StatusCode};
use uuid::Uuid;

/// The id of a request: an extension of it, the `X-Request-Id` of its answer, and what the audit log calls it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RequestId(pub Uuid);

const X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// What a request that meets no route is counted as.
const UNMATCHED: &str = "unmatched";

/// Observes every request from its first to its last step here.
///
/// A layer and not a function for `from_fn`, which would clone and box everything below it for each request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ObserveLayer {
    /// The template of all requests that pass here; the router's, if there is none.
    pub(crate) route: Option<&'static str>,
}

impl<S> tower::Layer<S> for ObserveLayer {
    type Service = Observe<S>;

    fn layer(&self, inner: S) -> Self::Service {
        Observe {
            inner,
            route: self.route,
        }
    }
}

/// A service whose requests are observed.
#[derive(Clone, Debug)]
pub(crate) struct Observe<S> {
    inner: S,
    route: Option<&'static str>,
}

impl<S> tower::Service<Request> for Observe<S>
where
    S: tower::Service<Request, Response = Response, Error = Infallible>,
    S::Future: Send + 'static,
{
    type Response = Response;
    type Error = Infallible;
    type Future = BoxFuture<'static, Result<Response, Infallible>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request) -> Self::Future {
        let start = Instant::now();
        let id = Uuid::now_v7();
        request.extensions_mut().insert(RequestId(id));
        let method = method_name(request.method());
        let fixed = self.route;
        let matched = request.extensions().get::<MatchedPath>().cloned();
        let answered = self.inner.call(request);
        Box::pin(async move {
            let mut response = answered.await?;
            let mut text = Uuid::encode_buffer();
            if let Ok(value) = HeaderValue::from_str(id.hyphenated().encode_lower(&mut text)) {
                response.headers_mut().insert(X_REQUEST_ID, value);
            }
            let matched = matched.as_ref().map(MatchedPath::as_str);
            let route = fixed.or(matched).unwrap_or(UNMATCHED);
            note(method, route, response.status(), start.elapsed(), id);
            Ok(response)
        })
    }
}

/// Logs and counts a request.
fn note(method: &'static str, route: &str, status: StatusCode, elapsed: Duration, id: Uuid) {
    let micros = elapsed.as_micros();
    // Writing a line costs as much as answering; what went well is in the numbers and in the audit log.
    if status.is_client_error() || status.is_server_error() {
        let status = status.as_u16();
        tracing::info!(method, route, status, micros, request_id = %id, "request");
    } else {
        let status = status.as_u16();
        tracing::debug!(method, route, status, micros, request_id = %id, "request");
    }
    crate::metrics::count(method, route, status.as_u16(), elapsed);
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
