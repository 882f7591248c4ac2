//! Records who made each session and when it was last used, and decides which one goes.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use http_body_util::BodyExt;
use rmcp::transport::streamable_http_server::session::SessionId;

use super::super::{TransportConfig, answer::ResponseBody};

/// Who owns each session and how recently it was used.
#[derive(Debug)]
pub(in crate::transport) struct Book {
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
pub(super) struct Full;

impl Book {
    pub(super) fn new(config: &TransportConfig) -> Self {
        Self {
            sessions_max: config.legacy_sessions_max,
            per_caller_max: config.legacy_sessions_per_caller_max,
            pages: Mutex::default(),
        }
    }

    /// Enters a new session and returns the one that has to go for it, if any.
    pub(super) fn admit(&self, id: &SessionId, owner: Arc<str>) -> Result<Option<SessionId>, Full> {
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
    pub(in crate::transport) fn open(self: &Arc<Self>, id: &str, caller: &str) -> Option<InUse> {
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

    pub(super) fn owns(&self, id: &str, caller: &str) -> bool {
        self.lock()
            .entries
            .get(id)
            .is_some_and(|entry| *entry.owner == *caller)
    }

    pub(super) fn remove(&self, id: &str) {
        self.lock().entries.remove(id);
    }

    /// Returns how many sessions there are.
    pub(in crate::transport) fn len(&self) -> usize {
        self.lock().entries.len()
    }

    pub(super) fn ids(&self) -> Vec<SessionId> {
        self.lock().entries.keys().cloned().collect()
    }

    fn lock(&self) -> MutexGuard<'_, Pages> {
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
pub(in crate::transport) struct InUse {
    book: Arc<Book>,
    id: SessionId,
}

impl InUse {
    /// Holds the session until `body` has been sent or given up.
    pub(in crate::transport) fn hold_during(self, body: ResponseBody) -> ResponseBody {
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

    pub(super) fn admit(book: &Book, id: &str, owner: &str) -> Result<Option<String>, Full> {
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
