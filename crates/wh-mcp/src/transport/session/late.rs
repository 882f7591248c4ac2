//! Keeps the answers of calls whose stream was lost, so that a client that reconnects still gets them.
//!
//! rmcp lets a client rejoin a call that is still running, but drops the answer of one that finishes while nobody
//! listens: `Last-Event-ID` then gets an empty stream. Here a stream that ends unanswered leaves a note
//! ([`Watched`]), and the answer, when it comes, is kept for it ([`Kept`]). Calls whose client stays cost nothing.
//!
//! Deliberately absent: an answer that was handed to the socket counts as heard, even if the socket was dead by then.

use std::{
    collections::{HashMap, VecDeque},
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

use futures::Stream;
use rmcp::{
    RoleServer,
    model::{ClientJsonRpcMessage, JsonRpcMessage, RequestId, ServerJsonRpcMessage},
    transport::{Transport, streamable_http_server::session::ServerSseMessage},
};

/// Lost calls, and answers to them, that one session remembers; the oldest is forgotten first.
const REMEMBERED_MAX: usize = 16;

/// A stream of events as rmcp wants it.
pub(super) type Events = Pin<Box<dyn Stream<Item = ServerSseMessage> + Send + Sync>>;

/// What one session owes to streams it has lost.
#[derive(Debug, Clone, Default)]
pub(super) struct Lost(Arc<Mutex<Notes>>);

#[derive(Debug, Default)]
struct Notes {
    /// Running calls without a stream, by the number rmcp gave the stream.
    running: HashMap<u64, RequestId>,
    answers: VecDeque<(u64, ServerJsonRpcMessage)>,
}

impl Lost {
    /// Watches the stream of a call.
    pub(super) fn watch(&self, request: RequestId, events: Events) -> Events {
        Box::pin(Watched {
            events,
            request,
            stream: None,
            is_answered: false,
            lost: self.clone(),
        })
    }

    /// Returns the call that a stream was carrying when it was lost.
    pub(super) fn take_running(&self, stream: u64) -> Option<RequestId> {
        self.lock().running.remove(&stream)
    }

    /// Returns the answer that came after the stream was lost.
    pub(super) fn take_answer(&self, stream: u64) -> Option<ServerJsonRpcMessage> {
        let mut notes = self.lock();
        let index = notes.answers.iter().position(|(kept, _)| *kept == stream)?;
        notes.answers.remove(index).map(|(_, answer)| answer)
    }

    fn note_running(&self, stream: u64, request: RequestId) {
        let mut notes = self.lock();
        if notes.running.len() < REMEMBERED_MAX {
            notes.running.insert(stream, request);
        }
    }

    fn note_answer(&self, stream: u64, answer: ServerJsonRpcMessage) {
        let mut notes = self.lock();
        if notes.answers.len() >= REMEMBERED_MAX {
            notes.answers.pop_front();
        }
        notes.answers.push_back((stream, answer));
    }

    /// Keeps a copy of the message if it answers a call whose stream is lost.
    fn keep(&self, message: &ServerJsonRpcMessage) {
        let Some(id) = answered(message) else {
            return;
        };
        let stream = {
            let mut notes = self.lock();
            let lost = notes.running.iter().find(|(_, request)| *request == id);
            let stream = lost.map(|(stream, _)| *stream);
            stream.inspect(|stream| {
                notes.running.remove(stream);
            })
        };
        if let Some(stream) = stream {
            self.note_answer(stream, message.clone());
        }
    }

    fn lock(&self) -> MutexGuard<'_, Notes> {
        // Every change is a single step, so a panic elsewhere cannot have left half of one.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the id of the request that a message answers.
fn answered(message: &ServerJsonRpcMessage) -> Option<&RequestId> {
    match message {
        JsonRpcMessage::Response(response) => Some(&response.id),
        JsonRpcMessage::Error(error) => error.id.as_ref(),
        JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
    }
}

/// Splits an event id of rmcp, `index/stream`.
pub(super) fn parse_event_id(id: &str) -> Option<(u64, u64)> {
    let (index, stream) = id.split_once('/')?;
    Some((index.parse().ok()?, stream.parse().ok()?))
}

/// The stream of one call; leaves a note when it ends before the answer went through it.
struct Watched {
    events: Events,
    request: RequestId,
    stream: Option<u64>,
    is_answered: bool,
    lost: Lost,
}

impl Stream for Watched {
    type Item = ServerSseMessage;

    fn poll_next(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<ServerSseMessage>> {
        let polled = self.events.as_mut().poll_next(cx);
        if let Poll::Ready(Some(event)) = &polled {
            let id = event.event_id.as_deref().and_then(parse_event_id);
            self.stream = id.map(|(_, stream)| stream).or(self.stream);
            self.is_answered |= event.message.as_deref().and_then(answered).is_some();
        }
        polled
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        let Some(stream) = self.stream.filter(|_| !self.is_answered) else {
            return;
        };
        // The answer may already be waiting in the stream, unread.
        let mut cx = Context::from_waker(Waker::noop());
        while let Poll::Ready(Some(event)) = self.events.as_mut().poll_next(&mut cx) {
            if let Some(message) = event.message.filter(|message| answered(message).is_some()) {
                return self.lost.note_answer(stream, Arc::unwrap_or_clone(message));
            }
        }
        self.lost.note_running(stream, self.request.clone());
    }
}

/// The transport of a session, seen by the handler's side: every answer passes through it.
pub(in crate::transport) struct Kept<T> {
    inner: T,
    lost: Lost,
}

impl<T> Kept<T> {
    pub(super) fn new(inner: T, lost: Lost) -> Self {
        Self { inner, lost }
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Kept<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.lost.keep(&message);
        self.inner.send(message)
    }

    fn receive(&mut self) -> impl Future<Output = Option<ClientJsonRpcMessage>> + Send {
        self.inner.receive()
    }

    fn close(&mut self) -> impl Future<Output = Result<(), Self::Error>> + Send {
        self.inner.close()
    }
}
