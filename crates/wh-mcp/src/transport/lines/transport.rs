//! The rmcp transport between lines of text and messages.

use std::{
    collections::{HashSet, VecDeque},
    sync::{Arc, Mutex, PoisonError},
};

use http::request::Parts;
use rmcp::{
    RoleServer,
    model::{
        ClientJsonRpcMessage, ClientNotification, ClientRequest, ErrorCode, GetExtensions,
        JsonRpcMessage, RequestId, ServerJsonRpcMessage, ServerResult,
    },
    transport::Transport,
};
use serde_json::Value;
use tokio::{io::AsyncRead, sync::mpsc};

use super::{
    super::{
        answer::{self, Refusal},
        batch::{self, Element},
        depth::{self, Shape},
        front::{SERVER_INFO, readable},
        mend,
        task_filter::TaskIds,
    },
    LinesConfig,
    read::{Line, Lines},
};

/// Turns lines into messages and answers into lines.
pub(super) struct LineTransport<R> {
    lines: Lines<R>,
    answers: mpsc::Sender<Vec<u8>>,
    /// Messages of a batch that have not been handed over yet.
    messages: VecDeque<ClientJsonRpcMessage>,
    /// Refusals that have not been queued yet; kept here so that [`Transport::receive`] may be cancelled.
    refusals: VecDeque<Vec<u8>>,
    /// Attached to every message, so that handlers find the caller where they do over HTTP.
    parts: Parts,
    /// Whether a request has been seen. What comes before one is not for rmcp, which would give up.
    is_started: bool,
    state: Arc<Mutex<State>>,
    server_info: Arc<Value>,
    config: LinesConfig,
}

/// What the reading and the writing side share.
#[derive(Debug, Default)]
struct State {
    has_batches: bool,
    open: Vec<OpenBatch>,
    /// Subscriptions to tasks whose acknowledgement is still to be sent, by the id of their request.
    unacknowledged: Vec<(Value, TaskIds)>,
}

/// A batch some of whose requests are unanswered.
#[derive(Debug, Default)]
struct OpenBatch {
    waiting: HashSet<RequestId>,
    answers: Vec<Vec<u8>>,
}

/// The client no longer reads, so nothing can be sent.
#[derive(Debug, thiserror::Error)]
#[error("the output has been closed")]
pub(super) struct OutputClosed;

impl<R: AsyncRead + Unpin> LineTransport<R> {
    pub(super) fn new(
        reader: R,
        answers: mpsc::Sender<Vec<u8>>,
        extensions: http::Extensions,
        config: LinesConfig,
        server_info: Arc<Value>,
    ) -> Self {
        let (mut parts, ()) = http::Request::new(()).into_parts();
        parts.extensions = extensions;
        Self {
            lines: Lines::new(reader, config.line_bytes_max),
            answers,
            messages: VecDeque::new(),
            refusals: VecDeque::new(),
            parts,
            is_started: false,
            state: Arc::default(),
            server_info,
            config,
        }
    }

    fn accept_line(&mut self, text: &[u8]) {
        match depth::scan(text, self.config.json_depth_max) {
            Shape::TooDeep => self.refuse(&Refusal::too_deep(self.config.json_depth_max)),
            Shape::Array => self.accept_batch(text),
            Shape::Other => match serde_json::from_slice(text) {
                Ok(message) => match self.tasks_of(&message, text) {
                    Ok(tasks) => self.accept(message, tasks),
                    Err(refusal) => self.refuse(&refusal),
                },
                Err(_) => self.refuse(&mend::refusal_of(text)),
            },
        }
    }

    /// Returns the tasks that a subscription names, and remembers to acknowledge them.
    fn tasks_of(
        &self,
        message: &ClientJsonRpcMessage,
        text: &[u8],
    ) -> Result<Option<TaskIds>, Refusal> {
        let JsonRpcMessage::Request(request) = message else {
            return Ok(None);
        };
        if !matches!(
            request.request,
            ClientRequest::SubscriptionsListenRequest(_)
        ) {
            return Ok(None);
        }
        let tasks = TaskIds::read(text)?;
        if let Some(tasks) = &tasks {
            let id = serde_json::to_value(&request.id).unwrap_or_default();
            lock(&self.state).unacknowledged.push((id, tasks.clone()));
        }
        Ok(tasks)
    }

    fn accept(&mut self, mut message: ClientJsonRpcMessage, tasks: Option<TaskIds>) {
        self.is_started |= matches!(message, JsonRpcMessage::Request(_));
        if !self.is_started {
            tracing::debug!("ignoring an MCP message that came before any request");
            return;
        }
        match &mut message {
            JsonRpcMessage::Request(request) => {
                let mut parts = self.parts.clone();
                if let Some(tasks) = tasks {
                    parts.extensions.insert(tasks);
                }
                request.request.extensions_mut().insert(parts);
            }
            JsonRpcMessage::Notification(notification) => {
                if let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    let finished = lock(&self.state).forget(id);
                    self.refusals.extend(finished);
                }
                notification
                    .notification
                    .extensions_mut()
                    .insert(self.parts.clone());
            }
            JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_) => {}
        }
        self.messages.push_back(message);
    }

    fn accept_batch(&mut self, text: &[u8]) {
        if !lock(&self.state).has_batches {
            return self.refuse(&batch::not_allowed());
        }
        let elements = match batch::split(text, self.config.batch_length_max) {
            Ok(elements) => elements,
            Err(refusal) => return self.refuse(&refusal),
        };
        let mut open = OpenBatch::default();
        let mut messages = Vec::new();
        for element in elements {
            match element {
                Element::Refused(refusal) => open.answers.push(refusal.to_json()),
                Element::Message(text) => match serde_json::from_slice(&text) {
                    Ok(message) => {
                        if let JsonRpcMessage::Request(request) = &message {
                            let request: &rmcp::model::JsonRpcRequest<_> = request;
                            open.waiting.insert(request.id.clone());
                        }
                        messages.push(message);
                    }
                    Err(_) => open.answers.push(mend::refusal_of(&text).to_json()),
                },
            }
        }
        if open.waiting.is_empty() {
            self.refusals.extend(open.finished());
        } else {
            // Entered before the messages are handed over, so that no answer can come too early.
            lock(&self.state).open.push(open);
        }
        for message in messages {
            self.accept(message, None);
        }
    }

    fn refuse(&mut self, refusal: &Refusal) {
        self.refusals.push_back(refusal.to_json());
    }

    /// Completes an answer as `Front` does for those that a handler returns.
    fn complete(&self, message: &mut ServerJsonRpcMessage) {
        match message {
            JsonRpcMessage::Response(response) => match &mut response.result {
                ServerResult::InitializeResult(result) => {
                    lock(&self.state).has_batches =
                        batch::allowed_in(result.protocol_version.as_str());
                }
                ServerResult::TaskAckResult(result) => {
                    result
                        .meta
                        .get_or_insert_default()
                        .entry(SERVER_INFO)
                        .or_insert_with(|| Value::clone(&self.server_info));
                }
                _ => {}
            },
            JsonRpcMessage::Error(error) if error.error.code == ErrorCode::METHOD_NOT_FOUND => {
                error.error = readable(error.error.clone());
            }
            _ => {}
        }
    }
}

impl<R: AsyncRead + Send + Unpin + 'static> Transport<RoleServer> for LineTransport<R> {
    type Error = OutputClosed;

    fn send(
        &mut self,
        mut message: ServerJsonRpcMessage,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.complete(&mut message);
        let id = match &message {
            JsonRpcMessage::Response(response) => Some(response.id.clone()),
            JsonRpcMessage::Error(error) => error.id.clone(),
            JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => None,
        };
        let line = match serde_json::to_vec(&message) {
            Ok(text) => {
                let mut state = lock(&self.state);
                let text = state.acknowledge(text);
                state.route(id.as_ref(), text)
            }
            Err(error) => {
                tracing::error!(%error, "an MCP answer could not be written as JSON");
                let mut refusal = Refusal::bad_request(answer::INTERNAL_ERROR, "Internal error");
                refusal.id = serde_json::to_value(&id).unwrap_or_default();
                lock(&self.state).route(id.as_ref(), refusal.to_json())
            }
        };
        let answers = self.answers.clone();
        async move {
            match line {
                Some(line) => answers.send(line).await.map_err(|_| OutputClosed),
                None => Ok(()),
            }
        }
    }

    /// Returns the next message, answering whatever is not one.
    ///
    /// # Cancel safety
    ///
    /// Dropping the future loses nothing: everything read or refused is kept in the transport.
    async fn receive(&mut self) -> Option<ClientJsonRpcMessage> {
        loop {
            while !self.refusals.is_empty() {
                let slot = self.answers.reserve().await.ok()?;
                if let Some(refusal) = self.refusals.pop_front() {
                    slot.send(refusal);
                }
            }
            if let Some(message) = self.messages.pop_front() {
                return Some(message);
            }
            match self.lines.next().await {
                Ok(Line::Text(text)) if text.trim_ascii().is_empty() => {}
                Ok(Line::Text(text)) => self.accept_line(&text),
                Ok(Line::TooLong) => {
                    let bytes_max = self.config.line_bytes_max;
                    self.refuse(&Refusal::bad_request(
                        answer::INVALID_REQUEST,
                        format!("Invalid Request: a line may have at most {bytes_max} bytes"),
                    ));
                }
                Ok(Line::End) => return None,
                Err(error) => {
                    tracing::warn!(%error, "reading from the MCP client failed");
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        Ok(())
    }
}

impl State {
    /// Adds the tasks of a subscription to its acknowledgement.
    fn acknowledge(&mut self, text: Vec<u8>) -> Vec<u8> {
        if self.unacknowledged.is_empty() {
            return text;
        }
        let mended = TaskIds::acknowledgement(&text).and_then(|mut message| {
            let id = TaskIds::subscription(&message);
            let place = self.unacknowledged.iter().position(|(it, _)| *it == id)?;
            let (_, tasks) = self.unacknowledged.swap_remove(place);
            tasks.add_to(&mut message);
            serde_json::to_vec(&message).ok()
        });
        mended.unwrap_or(text)
    }

    /// Returns what to write for an answer: itself, or its whole batch once that is complete.
    fn route(&mut self, id: Option<&RequestId>, text: Vec<u8>) -> Option<Vec<u8>> {
        let batch = id.and_then(|id| self.settle(id));
        match batch {
            None => Some(text),
            Some(batch) => {
                batch.answers.push(text);
                self.take_finished()
            }
        }
    }

    /// Stops waiting for a request that the client has cancelled and that will get no answer.
    fn forget(&mut self, id: &RequestId) -> Option<Vec<u8>> {
        self.settle(id)?;
        self.take_finished()
    }

    /// Strikes a request off the batch that waits for it.
    fn settle(&mut self, id: &RequestId) -> Option<&mut OpenBatch> {
        let batch = self
            .open
            .iter_mut()
            .find(|batch| batch.waiting.contains(id))?;
        batch.waiting.remove(id);
        Some(batch)
    }

    fn take_finished(&mut self) -> Option<Vec<u8>> {
        let index = self
            .open
            .iter()
            .position(|batch| batch.waiting.is_empty())?;
        self.open.swap_remove(index).finished()
    }
}

impl OpenBatch {
    fn finished(self) -> Option<Vec<u8>> {
        (!self.answers.is_empty()).then(|| batch::join(&self.answers))
    }
}

fn lock(state: &Mutex<State>) -> std::sync::MutexGuard<'_, State> {
    // Every change is a single step, so a panic elsewhere cannot have left half of one.
    state.lock().unwrap_or_else(PoisonError::into_inner)
}
