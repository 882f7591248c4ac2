//! Legacy sessions: how many there may be, whose they are, and which one goes when there are too many.
//!
//! rmcp keeps the sessions themselves. [`Book`] records beside it who made each one and when it was last used;
//! [`Sessions`] is rmcp's session manager with the book consulted on every step. The caller reaches it through
//! a task-local, because rmcp's trait has no place for it.

mod book;

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use futures::Stream;
use rmcp::{
    model::{ClientJsonRpcMessage, ServerJsonRpcMessage},
    transport::streamable_http_server::session::{
        ServerSseMessage, SessionId, SessionManager,
        local::{LocalSessionManager, LocalSessionManagerError},
    },
};

use self::book::{Book, Full};
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
}

impl Sessions {
    pub(super) fn new(config: &TransportConfig) -> Self {
        let mut local = LocalSessionManager::default();
        local.session_config.keep_alive = Some(config.legacy_session_idle);
        Self {
            local,
            book: Arc::new(Book::new(config)),
        }
    }

    pub(super) fn book(&self) -> &Arc<Book> {
        &self.book
    }

    pub(super) async fn close_all(&self) {
        for id in self.book.ids() {
            if let Err(error) = self.close_session(&id).await {
                tracing::warn!(%error, "closing an MCP session failed");
            }
        }
    }
}

/// Why a session operation failed.
#[derive(Debug, thiserror::Error)]
pub(super) enum SessionsError {
    #[error("too many sessions are in use")]
    Full,
    #[error(transparent)]
    Local(#[from] LocalSessionManagerError),
}

impl SessionManager for Sessions {
    type Error = SessionsError;
    type Transport = <LocalSessionManager as SessionManager>::Transport;

    async fn create_session(&self) -> Result<(SessionId, Self::Transport), Self::Error> {
        let call = CALL.try_with(Clone::clone).ok();
        let owner = call
            .as_ref()
            .map_or_else(|| "".into(), |call| call.caller.clone());
        let (id, transport) = self.local.create_session().await?;
        match self.book.admit(&id, owner) {
            Ok(None) => Ok((id, transport)),
            Ok(Some(evicted)) => {
                tracing::info!("closing the least recently used MCP session to make room");
                self.local.close_session(&evicted).await?;
                Ok((id, transport))
            }
            Err(Full) => {
                drop(transport);
                self.local.close_session(&id).await?;
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
        Ok(self.local.close_session(id).await?)
    }

    async fn create_stream(
        &self,
        id: &SessionId,
        message: ClientJsonRpcMessage,
    ) -> Result<impl Stream<Item = ServerSseMessage> + Send + Sync + 'static, Self::Error> {
        Ok(self.local.create_stream(id, message).await?)
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
        Ok(self.local.resume(id, last_event_id).await?)
    }
}
