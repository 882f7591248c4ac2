//! Answers for handlers that panic.

use std::{
    any::Any,
    convert::Infallible,
    panic::AssertUnwindSafe,
    task::{Context, Poll},
};

use axum::{
    extract::Request,
    response::{IntoResponse, Response},
};
use futures::{
    FutureExt,
    future::{CatchUnwind, Map},
};
use wh_domain::ErrorCode;

use crate::error::ApiError;

/// What became of a request: an answer, or a panic.
type Outcome = Result<Result<Response, Infallible>, Box<dyn Any + Send>>;

/// Turns a panic into an answer, so that the layers outside see an ordinary one.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CatchLayer;

impl<S> tower::Layer<S> for CatchLayer {
    type Service = Catch<S>;

    fn layer(&self, inner: S) -> Self::Service {
        Catch { inner }
    }
}

/// A service whose panics are answered.
#[derive(Clone, Debug)]
pub(crate) struct Catch<S> {
    inner: S,
}

impl<S> tower::Service<Request> for Catch<S>
where
    S: tower::Service<Request, Response = Response, Error = Infallible>,
{
    type Response = Response;
    type Error = Infallible;
    type Future =
        Map<CatchUnwind<AssertUnwindSafe<S::Future>>, fn(Outcome) -> Result<Response, Infallible>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: Request) -> Self::Future {
        AssertUnwindSafe(self.inner.call(request))
            .catch_unwind()
            .map(|outcome| outcome.unwrap_or_else(|cause| Ok(panicked(&*cause))))
    }
}

/// Answers for a handler that panicked. The message goes to the log only.
fn panicked(cause: &(dyn Any + Send)) -> Response {
    let text = cause
        .downcast_ref::<String>()
        .map(String::as_str)
        .or_else(|| cause.downcast_ref::<&str>().copied())
        .unwrap_or("no message");
    tracing::error!(panic = %wh_domain::redact(text), "a request handler panicked");
    ApiError::new(
        ErrorCode::Internal,
        "the server failed to answer this request",
    )
    .hint("the server's log says why; please report it")
    .into_response()
}
