//! Limits every request's body and, where nothing streams, its time.

use std::time::Duration;

use axum::{
    body::Body,
    extract::{Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use http::{HeaderMap, header};
use http_body::Body as _;
use http_body_util::{BodyExt, LengthLimitError, Limited};

use crate::{error::ApiError, state::Server};

/// Refuses a body that is declared too large, and cuts off one that turns out to be.
pub(crate) async fn body(State(bytes_max): State<usize>, request: Request, next: Next) -> Response {
    if declared_length(request.headers()).is_some_and(|bytes| bytes > bytes_max as u64) {
        return ApiError::too_large(bytes_max).into_response();
    }
    if request.body().is_end_stream() {
        return next.run(request).await;
    }
    let limited = request.map(|body| Body::new(Limited::new(body, bytes_max)));
    next.run(limited).await
}

/// Ends a request that is not answered in time.
pub(crate) async fn time(State(server): State<Server>, request: Request, next: Next) -> Response {
    let time_max = server.config.limits.handler_time_max;
    let answered = in_time(time_max, next.run(request)).await;
    answered.unwrap_or_else(IntoResponse::into_response)
}

/// Waits for `work`, but not longer than `time_max`.
pub(crate) async fn in_time<T>(
    time_max: Duration,
    work: impl Future<Output = T>,
) -> Result<T, ApiError> {
    let done = tokio::time::timeout(time_max, work).await;
    done.map_err(|_| ApiError::timed_out())
}

/// Reads a whole body, which [`body`] has limited.
pub(crate) async fn read(body: Body, bytes_max: usize) -> Result<Bytes, ApiError> {
    match body.collect().await {
        Ok(collected) => Ok(collected.to_bytes()),
        Err(error) if is_too_large(&error) => Err(ApiError::too_large(bytes_max)),
        Err(error) => {
            tracing::debug!(%error, "a request body did not arrive");
            // It was too slow, or the connection broke and nobody reads this.
            Err(ApiError::too_late())
        }
    }
}

fn declared_length(headers: &HeaderMap) -> Option<u64> {
    headers
        .get(header::CONTENT_LENGTH)?
        .to_str()
        .ok()?
        .parse()
        .ok()
}

fn is_too_large(error: &axum::Error) -> bool {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(error) = cause {
        if error.is::<LengthLimitError>() {
            return true;
        }
        cause = error.source();
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_takes_too_long_is_given_up() {
        let quick = in_time(Duration::from_secs(60), async { 1 }).await;
        assert_eq!(quick.unwrap(), 1);
        let stuck = std::future::pending::<()>();
        let refused = in_time(Duration::from_millis(1), stuck).await;
        assert_eq!(refused.unwrap_err().status, 503);
    }
}
