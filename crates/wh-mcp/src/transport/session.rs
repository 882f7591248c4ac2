//! Legacy sessions: how many there may be, whose they are, and which one goes when there are too many.
//!
//! rmcp keeps the sessions themselves. [`Book`] records beside it who made each one and when it was last used;
//! [`Sessions`] is rmcp's session manager with the book consulted on every step. The caller reaches it through
//! a task-local, because rmcp's trait has no place for it.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
};

use futures::Stream;
use rmcp::{
    model::{ClientJsonRpcMessage, ServerJsonRpcMessage},
    transport::streamable_http_server::session::{
        ServerSseMessage, SessionId, SessionManager,
        local::{LocalSessionManager, LocalSessionManagerError},
    },
};

use super::{TransportConfig, answer::ResponseBody};

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
            book: Arc::new(Book {
                sessions_max: config.legacy_sessions_max,
                per_caller_max: config.legacy_sessions_per_caller_max,
                pages: Mutex::default(),
            }),
        }
    }

    pub(super) fn book(&self) -> &Arc<Book> {
        &self.book
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

/// Who owns each session and how recently it was used.
#[derive(Debug)]
pub(super) struct Book {
    sessions_max: usize,
    per_caller_max: usize,
    pages: Mutex<Pages>,
}

#[derive(Debug, Default)]
struct Pages {
    entries: HashMap<SessionId, Entry>,
    /// Counts uses; the entry with the smallest number was used longest ago.
    clock: u64,
}

#[derive(Debug)]
struct Entry {
    owner: Arc<str>,
    used: u64,
    /// Requests and streams under way. A session with any is never closed to make room.
    open: usize,
}

#[derive(Debug, PartialEq, Eq)]
struct Full;

impl Book {
    /// Enters a new session and returns the one that has to go for it, if any.
    fn admit(&self, id: &SessionId, owner: Arc<str>) -> Result<Option<SessionId>, Full> {
        let mut pages = self.lock();
        let own = pages
            .entries
            .values()
            .filter(|entry| entry.owner == owner)
            .count();
        let evicted = if own >= self.per_caller_max {
            Some(
                pages
                    .longest_unused(|entry| entry.owner == owner)
                    .ok_or(Full)?,
            )
        } else if pages.entries.len() >= self.sessions_max {
            Some(pages.longest_unused(|_| true).ok_or(Full)?)
        } else {
            None
        };
        if let Some(evicted) = &evicted {
            pages.entries.remove(evicted);
        }
        let used = pages.tick();
        pages.entries.insert(
            id.clone(),
            Entry {
                owner,
                used,
                open: 0,
            },
        );
        Ok(evicted)
    }

    /// Marks the caller's session as in use until the guard is dropped; `None` if it has no such session.
    pub(super) fn open(self: &Arc<Self>, id: &str, caller: &str) -> Option<InUse> {
        let mut pages = self.lock();
        let used = pages.tick();
        let entry = pages
            .entries
            .get_mut(id)
            .filter(|entry| *entry.owner == *caller)?;
        entry.used = used;
        entry.open += 1;
        Some(InUse {
            book: self.clone(),
            id: id.into(),
        })
    }

    fn owns(&self, id: &str, caller: &str) -> bool {
        self.lock()
            .entries
            .get(id)
            .is_some_and(|entry| *entry.owner == *caller)
    }

    fn remove(&self, id: &str) {
        self.lock().entries.remove(id);
    }

    /// Returns how many sessions there are.
    pub(super) fn len(&self) -> usize {
        self.lock().entries.len()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Pages> {
        // Every change below is a single step, so a panic elsewhere cannot have left half of one.
        self.pages.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Pages {
    fn tick(&mut self) -> u64 {
        self.clock += 1;
        self.clock
    }

    fn longest_unused(&self, eligible: impl Fn(&Entry) -> bool) -> Option<SessionId> {
        self.entries
            .iter()
            .filter(|(_, entry)| entry.open == 0 && eligible(entry))
            .min_by_key(|(_, entry)| entry.used)
            .map(|(id, _)| id.clone())
    }
}

/// Keeps a session from being closed to make room.
#[derive(Debug)]
pub(super) struct InUse {
    book: Arc<Book>,
    id: SessionId,
}

impl InUse {
    /// Holds the session until `body` has been sent or given up.
    pub(super) fn hold_during(self, body: ResponseBody) -> ResponseBody {
        use http_body_util::BodyExt;
        body.map_frame(move |frame| {
            let _held = &self;
            frame
        })
        .boxed()
    }
}

impl Drop for InUse {
    fn drop(&mut self) {
        let mut pages = self.book.lock();
        let used = pages.tick();
        if let Some(entry) = pages.entries.get_mut(&self.id) {
            entry.open = entry.open.saturating_sub(1);
            entry.used = used;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn book(sessions_max: usize, per_caller_max: usize) -> Arc<Book> {
        Arc::new(Book {
            sessions_max,
            per_caller_max,
            pages: Mutex::default(),
        })
    }

    fn admit(book: &Book, id: &str, owner: &str) -> Result<Option<String>, Full> {
        book.admit(&id.into(), owner.into())
            .map(|evicted| evicted.map(|id| id.to_string()))
    }

    #[test]
    fn the_least_recently_used_goes_first() {
        let book = book(2, 2);
        assert_eq!(admit(&book, "a", "x"), Ok(None));
        assert_eq!(admit(&book, "b", "y"), Ok(None));
        drop(book.open("a", "x"));
        assert_eq!(admit(&book, "c", "z"), Ok(Some("b".into())));
        assert_eq!(book.len(), 2);
    }

    #[test]
    fn a_session_in_use_stays() {
        let book = book(2, 2);
        admit(&book, "a", "x").unwrap();
        admit(&book, "b", "x").unwrap();
        let a = book.open("a", "x");
        let b = book.open("b", "x");
        assert_eq!(admit(&book, "c", "y"), Err(Full));
        drop(b);
        assert_eq!(admit(&book, "c", "y"), Ok(Some("b".into())));
        drop(a);
    }

    #[test]
    fn a_greedy_caller_pushes_out_only_itself() {
        let book = book(10, 2);
        admit(&book, "other", "y").unwrap();
        admit(&book, "a", "x").unwrap();
        admit(&book, "b", "x").unwrap();
        assert_eq!(admit(&book, "c", "x"), Ok(Some("a".into())));
        assert!(book.owns("other", "y"));
    }

    #[test]
    fn only_the_owner_opens_a_session() {
        let book = book(2, 2);
        admit(&book, "a", "x").unwrap();
        assert!(book.open("a", "y").is_none());
        assert!(book.open("b", "x").is_none());
        assert!(book.open("a", "x").is_some());
    }
}
