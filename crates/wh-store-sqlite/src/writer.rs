//! The one task that writes: it drains its queue into a transaction, makes that durable, and answers.

use std::collections::VecDeque;
use std::path::PathBuf;
use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};
use sqlx::{Connection, SqliteConnection};
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;
use wh_domain::{Event, EventSeq, Session};
use wh_store::{Applied, Forgotten, RecentEvents, Result};

use crate::batch::{Batch, Failed, SCRIPT_MAX, Txn, script_size};
use crate::cache::BoardCache;
use crate::change::Request;
use crate::checkpoint::Checkpoint;
use crate::guests::Guests;
use crate::notes::{Notes, Waiting};
use crate::{event, idempotency, open};

/// The most changes in one transaction.
const BATCH_MAX: usize = 512;

/// How often old idempotency marks are removed, by the time of the changes.
const PRUNE_EVERY: SignedDuration = SignedDuration::from_mins(10);

/// What the writer shares with the store.
#[derive(Clone)]
pub(crate) struct Shared {
    pub(crate) path: PathBuf,
    pub(crate) pages_max: Option<u32>,
    pub(crate) boards: Arc<BoardCache>,
    pub(crate) recent: Arc<RecentEvents>,
    pub(crate) guests: Arc<Guests>,
    pub(crate) notes: Arc<Notes>,
    pub(crate) closing: CancellationToken,
}

/// The state of the writer's task.
pub(crate) struct Writer {
    shared: Shared,
    queue: mpsc::Receiver<Request>,
    events: watch::Sender<EventSeq>,
    /// Absent after a failure: the next batch connects again.
    conn: Option<SqliteConnection>,
    last_event: EventSeq,
    checkpoint: Checkpoint,
    pruned_at: Option<Timestamp>,
    failing: bool,
}

/// An answer that is held back until the transaction is durable.
enum Answer {
    Commit(oneshot::Sender<Result<Applied>>, Result<Applied>),
    Append(oneshot::Sender<Result<u64>>, Result<u64>),
    Step(oneshot::Sender<Result<Box<Session>>>, Result<Box<Session>>),
    Plain(oneshot::Sender<Result<()>>, Result<()>),
    Forget(oneshot::Sender<Result<Forgotten>>, Result<Forgotten>),
    Told(oneshot::Sender<Result<bool>>, Result<bool>),
}

impl Answer {
    /// Answers. Nobody minds if the caller has gone.
    fn send(self) {
        match self {
            Self::Commit(to, result) => drop(to.send(result)),
            Self::Append(to, result) => drop(to.send(result)),
            Self::Step(to, result) => drop(to.send(result)),
            Self::Plain(to, result) => drop(to.send(result)),
            Self::Forget(to, result) => drop(to.send(result)),
            Self::Told(to, result) => drop(to.send(result)),
        }
    }

    /// Answers that the transaction failed, whatever became of this part of it.
    fn fail(self, failed: &Failed) {
        match self {
            Self::Commit(to, _) => drop(to.send(Err(failed.answer()))),
            Self::Append(to, _) => drop(to.send(Err(failed.answer()))),
            Self::Step(to, _) => drop(to.send(Err(failed.answer()))),
            Self::Plain(to, _) => drop(to.send(Err(failed.answer()))),
            Self::Forget(to, _) => drop(to.send(Err(failed.answer()))),
            Self::Told(to, _) => drop(to.send(Err(failed.answer()))),
        }
    }
}

impl Writer {
    pub(crate) fn new(
        shared: Shared,
        conn: SqliteConnection,
        queue: mpsc::Receiver<Request>,
        events: watch::Sender<EventSeq>,
    ) -> Self {
        let last_event = *events.borrow();
        let checkpoint = Checkpoint::new(&shared.path);
        Self {
            shared,
            queue,
            events,
            conn: Some(conn),
            last_event,
            checkpoint,
            pruned_at: None,
            failing: false,
        }
    }

    /// Writes until the store is closed and everything in the queue is written.
    pub(crate) async fn run(mut self) {
        let mut requests = Vec::with_capacity(BATCH_MAX);
        while self.collect(&mut requests).await {
            self.write(&mut requests).await;
        }
        // Whoever notes something from now on is told that the store is closed.
        self.shared.notes.close();
        self.write(&mut requests).await;
        if let Some(conn) = self.conn.take()
            && let Err(error) = conn.close().await
        {
            tracing::warn!(%error, "the database was not closed cleanly");
        }
    }

    /// Waits for something to write; returns false when nothing will come any more.
    async fn collect(&mut self, requests: &mut Vec<Request>) -> bool {
        loop {
            tokio::select! {
                biased;
                () = self.shared.closing.cancelled(), if !self.queue.is_closed() => self.queue.close(),
                count = self.queue.recv_many(requests, BATCH_MAX) => return count > 0,
                () = self.shared.notes.due() => return true,
            }
        }
    }

    /// Writes a batch and answers.
    async fn write(&mut self, requests: &mut Vec<Request>) {
        let waiting = self.shared.notes.take();
        if requests.is_empty() && waiting.is_empty() {
            return;
        }
        let mut answers = Vec::with_capacity(requests.len());
        match self.try_write(requests, &mut answers, &waiting).await {
            Ok(events) => {
                self.recovered();
                self.announce(events);
                answers.into_iter().for_each(Answer::send);
                self.shared.notes.written(waiting.audits.len());
                if let Some(conn) = &mut self.conn {
                    self.checkpoint.run_if_due(conn).await;
                }
            }
            Err(failed) => {
                self.give_up(&failed).await;
                answers.into_iter().for_each(|answer| answer.fail(&failed));
                for request in requests.drain(..) {
                    refuse(request, &failed);
                }
                self.shared.notes.put_back(waiting);
            }
        }
    }

    async fn try_write(
        &mut self,
        requests: &mut Vec<Request>,
        answers: &mut Vec<Answer>,
        waiting: &Waiting,
    ) -> Txn<Vec<Event>> {
        if self.conn.is_none() {
            self.reconnect().await?;
        }
        let Some(conn) = &mut self.conn else {
            return Err(sqlx::Error::WorkerCrashed.into());
        };
        let mut batch = Batch::begin(conn, self.last_event).await?;
        let mut queue = VecDeque::from(std::mem::take(requests));
        let ran = run_all(&mut batch, &mut queue, answers).await;
        *requests = queue.into();
        ran?;
        batch.write_waiting(waiting).await?;
        if let Some(now) = batch.newest()
            && self
                .pruned_at
                .is_none_or(|at| now.duration_since(at) > PRUNE_EVERY)
        {
            idempotency::prune_in_txn(batch.conn, now).await?;
            self.pruned_at = Some(now);
        }
        let boards = std::mem::take(&mut batch.boards);
        self.shared.boards.commit_begin(&boards);
        let committed = batch.commit().await;
        self.shared.boards.commit_end(&boards);
        Ok(committed?)
    }

    /// Connects again after a failure. The file, not our memory, says what was written last.
    async fn reconnect(&mut self) -> sqlx::Result<()> {
        let mut conn = open::connect_writer(&self.shared.path, self.shared.pages_max).await?;
        self.last_event = last_event(&mut conn).await?;
        self.conn = Some(conn);
        Ok(())
    }

    /// Tells followers of new events, which are in memory by then.
    fn announce(&mut self, events: Vec<Event>) {
        let before = self.last_event;
        let last_event = events.last().map_or(before, |event| event.seq);
        self.shared.recent.push(before, events);
        self.last_event = last_event;
        let advance = |known: &mut EventSeq| last_event > std::mem::replace(known, last_event);
        self.events.send_if_modified(advance);
    }

    fn recovered(&mut self) {
        if self.failing {
            self.failing = false;
            tracing::info!("the database takes writes again");
        }
    }

    /// Undoes the transaction by giving up its connection: whatever state that was in, the next one has none of it.
    async fn give_up(&mut self, failed: &Failed) {
        if !self.failing {
            self.failing = true;
            tracing::error!(?failed, "a transaction failed; nothing of it was written");
        }
        if let Some(conn) = self.conn.take() {
            let closed = conn.close().await;
            tracing::debug!(?closed, "gave up the writer's connection");
        }
    }
}

/// Runs requests in their order and keeps their answers. When the transaction fails, those that were not tried are left in the queue.
async fn run_all(
    batch: &mut Batch<'_>,
    queue: &mut VecDeque<Request>,
    answers: &mut Vec<Answer>,
) -> Txn<()> {
    while !queue.is_empty() {
        let singles = queue.iter().map_while(Request::single_statement);
        let mut singles: Vec<_> = singles.take(SCRIPT_MAX).collect();
        singles.truncate(script_size(singles.len()));
        let count = singles.len();
        if count > 1 && batch.run_script(&singles).await? {
            for request in queue.drain(..count) {
                if let Request::Commit { commit, answer, .. } = request {
                    answers.push(Answer::Commit(answer, Ok(batch.record(*commit))));
                }
            }
            continue;
        }
        for _ in 0..count.max(1) {
            if let Some(request) = queue.pop_front() {
                run_one(batch, request, answers).await?;
            }
        }
    }
    Ok(())
}

/// Runs one request and keeps its answer. When the transaction fails, the answer is there to be failed.
async fn run_one(batch: &mut Batch<'_>, request: Request, answers: &mut Vec<Answer>) -> Txn<()> {
    match request {
        Request::Commit {
            change,
            commit,
            answer,
        } => {
            let result = batch.commit_one(&change, *commit).await;
            keep(answers, answer, result, Answer::Commit)
        }
        Request::Append { append, answer } => {
            let result = batch.append_one(append).await;
            keep(answers, answer, result, Answer::Append)
        }
        Request::RunBegin { begin, answer } => {
            let result = batch.begin_run(&begin.0, &begin.1).await;
            keep(answers, answer, result, Answer::Plain)
        }
        Request::RunApply { step, answer } => {
            let result = batch.apply_step(*step).await;
            keep(answers, answer, result, Answer::Step)
        }
        Request::RunLog {
            session,
            epoch,
            text,
            at,
            answer,
        } => {
            let result = batch.log_run(session, epoch, &text, at).await;
            keep(answers, answer, result, Answer::Plain)
        }
        Request::RunRenew { key, until, answer } => {
            let result = batch.renew_run(key, until).await;
            keep(answers, answer, result, Answer::Plain)
        }
        Request::Webhook { step, answer } => {
            let result = batch.webhook_step(&step).await;
            keep(answers, answer, result, Answer::Plain)
        }
        Request::Wait { step, answer } => {
            let result = batch.wait_step(&step).await;
            keep(answers, answer, result, Answer::Told)
        }
        Request::Counted { counted, answer } => {
            let result = batch.counted_one(&counted).await;
            keep(answers, answer, result, Answer::Told)
        }
        Request::NewsTell {
            session,
            turn,
            at,
            answer,
        } => {
            let result = batch.tell_news(session, turn, at).await;
            keep(answers, answer, result, Answer::Told)
        }
        Request::Announce { at, event, answer } => {
            let result = batch.announce_one(at, *event);
            keep(answers, answer, result, Answer::Append)
        }
        Request::Forget { expired, answer } => {
            let result = batch.forget_one(expired).await;
            keep(answers, answer, result, Answer::Forget)
        }
        Request::Probe { answer } => {
            let result = batch.probe_one().await;
            keep(answers, answer, result, Answer::Plain)
        }
    }
}

fn keep<T>(
    answers: &mut Vec<Answer>,
    to: oneshot::Sender<Result<T>>,
    result: Txn<Result<T>>,
    answer: impl Fn(oneshot::Sender<Result<T>>, Result<T>) -> Answer,
) -> Txn<()> {
    match result {
        Ok(result) => {
            answers.push(answer(to, result));
            Ok(())
        }
        Err(failed) => {
            answers.push(answer(to, Err(failed.answer())));
            Err(failed)
        }
    }
}

/// Answers a request that was not even tried.
fn refuse(request: Request, failed: &Failed) {
    let reason = failed.answer();
    match request {
        Request::Commit { answer, .. } => drop(answer.send(Err(reason))),
        Request::Append { answer, .. } => drop(answer.send(Err(reason))),
        Request::Announce { answer, .. } => drop(answer.send(Err(reason))),
        Request::Forget { answer, .. } => drop(answer.send(Err(reason))),
        Request::RunApply { answer, .. } => drop(answer.send(Err(reason))),
        Request::NewsTell { answer, .. }
        | Request::Counted { answer, .. }
        | Request::Wait { answer, .. } => {
            drop(answer.send(Err(reason)));
        }
        Request::RunBegin { answer, .. }
        | Request::RunLog { answer, .. }
        | Request::RunRenew { answer, .. }
        | Request::Webhook { answer, .. }
        | Request::Probe { answer } => drop(answer.send(Err(reason))),
    }
}

/// Returns the number of the last event that was ever written.
pub(crate) async fn last_event(conn: &mut SqliteConnection) -> sqlx::Result<EventSeq> {
    event::last_on_conn(conn).await
}
