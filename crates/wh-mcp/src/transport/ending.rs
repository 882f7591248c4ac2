//! Ends a stream that would otherwise outlast the server.

use std::{
    convert::Infallible,
    pin::Pin,
    task::{Context, Poll},
};

use bytes::Bytes;
use http_body::{Body, Frame};
use http_body_util::BodyExt;
use tokio_util::sync::{CancellationToken, WaitForCancellationFutureOwned};

use super::answer::ResponseBody;

/// Returns the body, cut short when `shutdown` is cancelled.
pub(super) fn ending_with(shutdown: &CancellationToken, body: ResponseBody) -> ResponseBody {
    EndingBody {
        inner: body,
        shutdown: Box::pin(shutdown.clone().cancelled_owned()),
    }
    .boxed()
}

struct EndingBody {
    inner: ResponseBody,
    shutdown: Pin<Box<WaitForCancellationFutureOwned>>,
}

impl Body for EndingBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        // What is ready is still delivered, so that a final message is not lost to the end.
        match Pin::new(&mut self.inner).poll_frame(cx) {
            Poll::Ready(frame) => Poll::Ready(frame),
            Poll::Pending => self.shutdown.as_mut().poll(cx).map(|()| None),
        }
    }
}
