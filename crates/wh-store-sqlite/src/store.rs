//! The store: hands changes to the writer, and reads by itself.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use jiff::Timestamp;
use sqlx::sqlite::{SqlitePool, SqliteRow};
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;
use wh_domain::{EventSeq, IdRef, PageRequest, Subject};
use wh_store::{Applied, Commit, IdempotencyClaim, RecentEvents, Result, Store};

use crate::cache::BoardCache;
use crate::change::{Change, Request};
use crate::error::{closed, store_error};
use crate::guests::Guests;
use crate::lock::LockFile;
use crate::notes::Notes;
use crate::open::Opened;
use crate::reach::{CANDIDATES_MAX, Query, push_id};
use crate::row::{self, Parsed};
use crate::writer::{Shared, Writer, last_event};
use crate::{OpenError, OpenOptions, backup, idempotency, migrate, open};

/// A store in one SQLite file. Call [`Store::close`] before dropping it, or what is buffered may be lost.
pub struct SqliteStore {
    pub(crate) shared: Shared,
    pub(crate) readers: SqlitePool,
    queue: mpsc::Sender<Request>,
    pub(crate) events: watch::Receiver<EventSeq>,
    tasks: TaskTracker,
    /// Held, here and by the writer, until the last connection is closed.
    lock: Mutex<Option<Arc<LockFile>>>,
}

impl std::fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqliteStore")
            .field("path", &self.shared.path)
            .finish_non_exhaustive()
    }
}

impl SqliteStore {
    /// Opens a database, and creates it if it is not there. What cannot be used is refused and left as it is.
    ///
    /// Must be called within a tokio runtime: the writer is a task of it.
    pub async fn open(options: OpenOptions) -> Result<Self, OpenError> {
        let Opened {
            path,
            lock,
            mut writer,
            readers,
        } = open::open(&options).await?;
        let unread = |e| migrate::open_error(&path, &e);
        let last = last_event(&mut writer).await.map_err(unread)?;
        let guests = Guests::read(&mut writer).await.map_err(unread)?;
        let shared = Shared {
            path,
            pages_max: options.pages_max,
            boards: Arc::new(BoardCache::new()),
            recent: Arc::new(RecentEvents::new(last)),
            guests: Arc::new(guests),
            notes: Arc::new(Notes::new()),
            closing: CancellationToken::new(),
        };
        let (queue, requests) = mpsc::channel(options.queue_max.max(1));
        let (announce, events) = watch::channel(last);
        let tasks = TaskTracker::new();
        let lock = Arc::new(lock);
        let locked = Arc::clone(&lock);
        let writer = Writer::new(shared.clone(), writer, requests, announce);
        drop(tasks.spawn(async move {
            writer.run().await;
            drop(locked);
        }));
        tasks.close();
        Ok(Self {
            shared,
            readers,
            queue,
            events,
            tasks,
            lock: Mutex::new(Some(lock)),
        })
    }

    /// Hands a change to the writer and waits until it is durable.
    pub(crate) async fn commit(&self, change: Change, commit: Commit) -> Result<Applied> {
        let commit = Box::new(commit);
        self.ask(|answer| Request::Commit {
            change,
            commit,
            answer,
        })
        .await
    }

    /// Hands a request to the writer and waits for the answer.
    pub(crate) async fn ask<T>(
        &self,
        request: impl FnOnce(oneshot::Sender<Result<T>>) -> Request,
    ) -> Result<T> {
        let (answer, answered) = oneshot::channel();
        let sent = self.queue.send(request(answer)).await;
        sent.map_err(|_| closed())?;
        answered.await.map_err(|_| closed())?
    }

    /// Runs a query on a reader and returns its rows.
    pub(crate) async fn rows(&self, mut query: Query) -> Result<Vec<SqliteRow>> {
        let rows = query.build().fetch_all(&self.readers).await;
        rows.map_err(store_error)
    }

    /// Returns what a caller may mean by an id, of what a query of `t` can see; nothing can be seen when there is none.
    pub(crate) async fn candidates<T>(
        &self,
        query: Option<Query>,
        id: &IdRef,
        what: &'static str,
        read: impl Fn(&SqliteRow) -> Parsed<T>,
    ) -> Result<Vec<T>> {
        let Some(mut query) = query else {
            return self.check_open().map(|()| Vec::new());
        };
        query.push(" AND ");
        push_id(&mut query, id);
        query.push(format_args!(" ORDER BY t.id DESC LIMIT {CANDIDATES_MAX}"));
        let rows = self.rows(query).await?;
        rows.iter()
            .map(|row| row::direct(what, read(row)))
            .collect()
    }

    /// Counts the rows of a query that begins with [`crate::reach::counted`], as far as lists are counted.
    pub(crate) async fn count(&self, mut query: Query) -> Result<u64> {
        query.push(format_args!(" LIMIT {})", wh_store::COUNT_MAX));
        let rows = self.rows(query).await?;
        let number = rows.first().map(|row| row::count(row, "number"));
        row::direct("count", number.unwrap_or(Ok(0)))
    }

    /// Counts a whole list if the request for a page of it asks for that; `query` begins with [`crate::reach::counted`].
    pub(crate) async fn list_total<C>(
        &self,
        page: PageRequest<C>,
        query: impl FnOnce() -> Option<Query>,
    ) -> Result<Option<u64>> {
        match page.is_counted {
            false => Ok(None),
            true => match query() {
                Some(query) => self.count(query).await.map(Some),
                None => Ok(Some(0)),
            },
        }
    }

    /// Fails once the store is closing.
    pub(crate) fn check_open(&self) -> Result<()> {
        if self.shared.closing.is_cancelled() || self.readers.is_closed() {
            return Err(closed());
        }
        Ok(())
    }
}

#[async_trait]
impl Store for SqliteStore {
    async fn health(&self) -> Result<()> {
        self.check_open()?;
        self.ask(|answer| Request::Probe { answer }).await?;
        self.rows(Query::new("SELECT 1")).await.map(drop)
    }

    async fn backup(&self, to: &Path, commit: Commit) -> Result<EventSeq> {
        self.check_open()?;
        let last = backup::copy(&self.shared.path, to).await?;
        match self.commit(Change::Nothing, commit).await? {
            Applied::Done { .. } | Applied::Replayed { .. } => Ok(last),
        }
    }

    async fn replayed(&self, claim: &IdempotencyClaim, at: Timestamp) -> Result<Option<Subject>> {
        let mut conn = self.readers.acquire().await.map_err(store_error)?;
        idempotency::find_on_conn(&mut conn, claim, at).await
    }

    async fn record(&self, commit: Commit) -> Result<Applied> {
        self.commit(Change::Nothing, commit).await
    }

    async fn close(&self) {
        // The writer's connection is the last to close: SQLite then writes the log back and removes it.
        self.readers.close().await;
        self.shared.closing.cancel();
        self.tasks.wait().await;
        let lock = self
            .lock
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        drop(lock);
    }
}
