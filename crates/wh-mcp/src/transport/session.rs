//! Legacy sessions: how many there may be, whose they are, and which one goes when there are too many.
//!
//! rmcp keeps the sessions themselves. [`Book`] records beside it who made each one and when it was last used;
//! [`Sessions`] is rmcp's session manager with the book consulted on every step. The caller reaches it through
//! a task-local, because rmcp's trait has no place for it.

mod book;
mod late;

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use futures::Stream;
use rmcp::{
    model::{ClientJsonRpcMessage, JsonRpcMessage, ServerJsonRpcMessage},
    transport::streamable_http_server::session::{
        ServerSseMessage, SessionId, SessionManager,
        local::{LocalSessionManager, LocalSessionManagerError},
    },
};

use self::{
    book::{Book, Full},
    late::{Events, Kept, Lost, parse_event_id},
};
use super::TransportConfig;

tokio::task_local! {
    static CALL: Arc<Call>;
}

/// What the session manager needs to know about the request it is working for.
#[derive(Debug)]
pub(super) struct Call {
    caller: Arc<str>,
    refused: AtomicBool,
}

impl Call {
    pub(super) fn new(caller: Arc<str>) -> Arc<Self> {
        Arc::new(Self {
            caller,
            refused: AtomicBool::new(false),
        })
    }

    /// Runs `work` for this call.
    pub(super) async fn scope<F: Future>(self: &Arc<Self>, work: F) -> F::Output {
        CALL.scope(self.clone(), work).await
    }

    /// Whether a session was refused because too many are in use.
    pub(super) fn was_refused(&self) -> bool {
        self.refused.load(Ordering::Relaxed)
    }
}

/// rmcp's session manager, bounded and with owners.
#[derive(Debug)]
pub(super) struct Sessions {
    local: LocalSessionManager,
    book: Arc<Book>,
    lost: Mutex<HashMap<SessionId, Lost>>,
}

impl Sessions {
    pub(super) fn new(config: &TransportConfig) -> Self {
        let mut local = LocalSessionManager::default();
        local.session_config.keep_alive = Some(config.legacy_session_idle);
        Self {
            local,
            book: Arc::new(Book::new(config)),
            lost: Mutex::default(),
        }
    }

    pub(super) fn book(&self) -> &Arc<Book> {
        &self.book
    }

    fn lost(&self) -> MutexGuard<'_, HashMap<SessionId, Lost>> {
        // Every change is a single step, so a panic elsewhere cannot have left half of one.
        self.lost.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lost_of(&self, id: &SessionId) -> Lost {
        self.lost().get(id).cloned().unwrap_or_default()
    }

    pub(super) async fn close_all(&self) {
        for id in self.book.ids() {
            self.close_or_warn(&id).await;
        }
    }

    /// Closes a session for which nobody waits to hear whether that went well.
    async fn close_or_warn(&self, id: &SessionId) {
        if let Err(error) = self.close_session(id).await {
            tracing::warn!(%error, "closing an MCP session failed");
        }
    }
}

/// Why a session operation failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum SessionsError {
    #[error("too many sessions are in use")]
    Full,
    #[error("the stream has ended and nothing is left to send")]
    NothingLeft,
    #[error(transparent)]
    Local(#[from] LocalSessionManagerError),
}

impl SessionManager for Sessions {
    type Error = SessionsError;
    type Transport = Kept<<LocalSessionManager as SessionManager>::Transport>;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        let call = CALL.try_with(Clone::clone).ok();
        let owner = call
            .as_ref()
            .map_or_else(|| "".into(), |call| call.caller.clone());
        let (id, transport) = self.local.create_session().await?;
        match self.book.admit(&id, owner) {
            Ok(evicted) => {
                let lost = Lost::default();
                self.lost().insert(id.clone(), lost.clone());
                if let Some(evicted) = evicted {
                    tracing::info!("closing the least recently used MCP session to make room");
                    self.close_or_warn(&evicted).await;
                }
                Ok((id, Kept::new(transport, lost)))
            }
            Err(Full) => {
                drop(transport);
                self.close_or_warn(&id).await;
                if let Some(call) = call {
                    call.refused.store(true, Ordering::Relaxed);
                }
                Err(SessionsError::Full)
            }
        }
    }

    async fn initialize_session(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<ServerJsonRpcMessage, Self::Error> {
        Ok(self.local.initialize_session(id, message).await?)
    }

    /// Also false for somebody else's session, so that rmcp answers as if there were none.
    async fn has_session(&self, id: &SessionId) -> Result<bool, Self::Error> {
        let owned = CALL
            .try_with(|call| self.book.owns(id, &call.caller))
            .unwrap_or(false);
        Ok(owned && self.local.has_session(id).await?)
    }

    async fn close_session(&self, id: &SessionId) -> Result<(), Self::Error> {
        self.book.remove(id);
        self.lost().remove(id);
        Ok(self.local.close_session(id).await?)
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let request = match &message {
            JsonRpcMessage::Request(request) => Some(request.id.clone()),
            _ => None,
        };
        let events = Box::pin(self.local.create_stream(id, message).await?);
        Ok(match request {
            Some(request) => self.lost_of(id).watch(request, events),
            None => events,
        })
    }

    async fn accept_message(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<(), Self::Error> {
        Ok(self.local.accept_message(id, message).await?)
    }

    async fn create_standalone_stream(
        &self,
        id: &SessionId,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        Ok(self.local.create_standalone_stream(id).await?)
    }

    async fn resume(
        &self,
        id: &SessionId,
        last_event_id: String,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        let lost = self.lost_of(id);
        let position = parse_event_id(&last_event_id);
        match self.local.resume(id, last_event_id).await {
            // The call still runs: its stream is watched again.
            Ok(events) => {
                let events: Events = Box::pin(events);
                let running = position.and_then(|(_, stream)| lost.take_running(stream));
                Ok(match running {
                    Some(request) => lost.watch(request, events),
                    None => events,
                })
            }
            Err(error) => {
                let (index, stream) = position.ok_or(error)?;
                let answer = lost.take_answer(stream).ok_or(SessionsError::NothingLeft)?;
                let event = ServerSseMessage::new(format!("{}/{stream}", index + 1), answer);
                Ok(Box::pin(futures::stream::iter([event])))
            }
        }
    }
}
