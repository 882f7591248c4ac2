//! A body that a model gateway passes on.

use std::{
    error::Error,
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
};

use hyper::body::{Body, Bytes, Frame, SizeHint};
use tokio_util::sync::WaitForCancellationFutureOwned;

use super::EgressState;

type Failure = Box<dyn Error + Send + Sync>;

/// A body whose bytes are counted, without trailers. It fails when the limit is reached.
pub(super) struct Counted<B> {
    inner: B,
    state: Arc<EgressState>,
    reached: Pin<Box<WaitForCancellationFutureOwned>>,
}

impl<B> Counted<B> {
    pub(super) fn new(inner: B, state: &Arc<EgressState>) -> Self {
        Self {
            inner,
            state: state.clone(),
            reached: Box::pin(state.limit_reached().cancelled_owned()),
        }
    }
}

impl<B> Body for Counted<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<Failure>,
{
    type Data = Bytes;
    type Error = Failure;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Failure>>> {
        loop {
            if self.reached.as_mut().poll(cx).is_ready() {
                let why = io::Error::from(io::ErrorKind::QuotaExceeded);
                return Poll::Ready(Some(Err(why.into())));
            }
            let frame = match ready!(Pin::new(&mut self.inner).poll_frame(cx)) {
                Some(frame) => frame.map_err(Into::into)?,
                None => return Poll::Ready(None),
            };
            let Ok(mut data) = frame.into_data() else {
                continue;
            };
            data.truncate(self.state.meter.take(data.len()));
            self.state.meter.end_if_reached();
            return Poll::Ready(Some(Ok(Frame::data(data))));
        }
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
