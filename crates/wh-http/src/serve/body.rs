//! A request body that must arrive within a time.

use std::{
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll},
    time::Duration,
};

use axum::body::Body;
use bytes::Bytes;
use http_body::{Body as HttpBody, Frame, SizeHint};
use hyper::body::Incoming;
use tokio::time::{Instant, Sleep};

/// Fails once the body has been waited for too long.
#[derive(Debug)]
pub(super) struct TimedBody {
    inner: Incoming,
    limit: Duration,
    /// Made when the first wait begins: most bodies arrive with their headers and need none.
    deadline: Option<Pin<Box<Sleep>>>,
    is_late: IsLate,
}

/// Remembers that the time ran out, so that the answer can say so whatever the handler made of the error.
#[derive(Debug, Clone, Default)]
pub(super) struct IsLate(Option<Arc<AtomicBool>>);

impl IsLate {
    pub(super) fn get(&self) -> bool {
        self.0
            .as_ref()
            .is_some_and(|late| late.load(Ordering::Relaxed))
    }
}

/// The body did not arrive in time.
#[derive(Debug, thiserror::Error)]
#[error("the request body did not arrive in time")]
struct TooLate;

impl TimedBody {
    /// Wraps a request's body, unless it has none.
    pub(super) fn wrap(inner: Incoming, limit: Duration) -> (Body, IsLate) {
        if inner.is_end_stream() {
            return (Body::empty(), IsLate::default());
        }
        let is_late = IsLate(Some(Arc::default()));
        let body = Self {
            inner,
            limit,
            deadline: None,
            is_late: is_late.clone(),
        };
        (Body::new(body), is_late)
    }
}

impl HttpBody for TimedBody {
    type Data = Bytes;
    type Error = Box<dyn std::error::Error + Send + Sync>;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        // Checked first: a client that always has one more byte ready must not get around it.
        let limit = self.limit;
        if let Some(deadline) = &mut self.deadline
            && deadline.as_mut().poll(cx).is_ready()
        {
            return Poll::Ready(Some(Err(self.give_up())));
        }
        let polled = Pin::new(&mut self.inner).poll_frame(cx);
        if polled.is_pending() && self.deadline.is_none() {
            let mut deadline = Box::pin(tokio::time::sleep_until(Instant::now() + limit));
            let is_over = deadline.as_mut().poll(cx).is_ready();
            self.deadline = Some(deadline);
            if is_over {
                return Poll::Ready(Some(Err(self.give_up())));
            }
        }
        polled.map(|frame| frame.map(|frame| frame.map_err(Into::into)))
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

impl TimedBody {
    fn give_up(&mut self) -> Box<dyn std::error::Error + Send + Sync> {
        if let IsLate(Some(late)) = &self.is_late {
            late.store(true, Ordering::Relaxed);
        }
        TooLate.into()
    }
}
