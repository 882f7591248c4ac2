//! One transaction of the writer: several changes, each in its own savepoint, and what is committed with them.

use std::mem::{discriminant, take};

use jiff::Timestamp;
use sqlx::SqliteConnection;
use uuid::Uuid;
use wh_domain::{Event, EventSeq, Key, KeyId, NewEvent, Run, Session, SessionId, TurnId};
use wh_store::{
    Applied, Commit, Counted, Expired, Forgotten, MessageAppend, Result, RunStep, StoreError,
};

use crate::audit::AuditRow;
use crate::change::{Change, SingleStatement};
use crate::error::{is_full, store_error};
use crate::idempotency::{self, Claimed};
use crate::notes::Waiting;
use crate::reach::Query;
use crate::row::uuid;
use crate::wait::{self, WaitStep};
use crate::webhook::{self, WebhookStep};
use crate::{audit, delivery, event, key, message, retention, run, run_apply, worktree_count};

/// A transaction that is open on the writer's connection.
///
/// Every statement costs a trip to the connection's thread, which takes longer than inserting a row. So events and audit entries are
/// collected and inserted together at the end, many rows with one statement, and changes of one statement each are made by one script.
pub(crate) struct Batch<'c> {
    pub(crate) conn: &'c mut SqliteConnection,
    /// Boards that the transaction touches.
    pub(crate) boards: Vec<Uuid>,
    events: Vec<(Timestamp, NewEvent)>,
    audits: Vec<AuditRow>,
    /// The number of the last event before this transaction.
    last_event: EventSeq,
    /// Whether the last statement of the change kept it already, see [`KEEP`].
    kept: bool,
}

/// Keeps a change and opens the savepoint of the next.
///
/// Every statement costs a trip to the connection's thread, so the last statement of a change carries this along; the
/// change then says so with [`Batch::kept`] and must not fail any more.
pub(crate) const KEEP: &str = "; RELEASE change; SAVEPOINT change";

impl<'c> Batch<'c> {
    /// Opens the transaction, and the savepoint of its first change.
    pub(crate) async fn begin(
        conn: &'c mut SqliteConnection,
        last_event: EventSeq,
    ) -> sqlx::Result<Self> {
        execute(conn, "BEGIN IMMEDIATE; SAVEPOINT change").await?;
        Ok(Self {
            conn,
            boards: Vec::new(),
            events: Vec::new(),
            audits: Vec::new(),
            last_event,
            kept: false,
        })
    }

    /// Makes a change together with its audit entry, events and claim, or leaves no trace of it.
    ///
    /// The outer result is about the transaction: when it fails, everything in it has failed.
    pub(crate) async fn commit_one(
        &mut self,
        change: &Change,
        commit: Commit,
    ) -> Txn<Result<Applied>> {
        let result = self.try_commit_one(change, commit).await;
        self.settle(result).await
    }

    /// Makes several changes of one statement each by one script and returns true. When one of them fails, undoes all and returns false:
    /// the script does not tell which one failed.
    pub(crate) async fn run_script(&mut self, changes: &[SingleStatement<'_>]) -> Txn<bool> {
        let mut script = Query::new("");
        for (number, change) in changes.iter().enumerate() {
            if number > 0 {
                script.push("; ");
            }
            change.push(&mut script);
        }
        script.push(KEEP);
        let script = script.build().persistent(are_alike(changes));
        if let Err(error) = script.execute(&mut *self.conn).await {
            return match execute(self.conn, "ROLLBACK TO change").await {
                Ok(()) => Ok(false),
                // SQLite had to undo the whole transaction.
                Err(_) => Err(error.into()),
            };
        }
        let boards = changes.iter().filter_map(|change| change.board());
        self.boards.extend(boards.map(uuid));
        Ok(true)
    }

    /// Adds messages, or leaves no trace of them.
    pub(crate) async fn append_one(&mut self, append: MessageAppend) -> Txn<Result<u64>> {
        let result = message::append_in_txn(self, append).await;
        self.settle(result).await
    }

    /// Makes a run the session's current one, or leaves no trace of it.
    pub(crate) async fn begin_run(&mut self, run: &Run, key: &Key) -> Txn<Result<()>> {
        let result = run::begin_in_txn(self, run, key).await;
        self.settle(result).await
    }

    /// Stores what happened in a run, or leaves no trace of it.
    pub(crate) async fn apply_step(&mut self, step: RunStep) -> Txn<Result<Box<Session>>> {
        let result = run_apply::apply_in_txn(self, step).await;
        self.settle(result).await
    }

    /// Tells a session about its children, or leaves no trace of it.
    pub(crate) async fn tell_news(
        &mut self,
        session: SessionId,
        turn: TurnId,
        at: Timestamp,
    ) -> Txn<Result<bool>> {
        let result = delivery::tell_in_txn(self, session, turn, at).await;
        self.settle(result).await
    }

    /// Stores the end of a live run's stderr.
    pub(crate) async fn log_run(
        &mut self,
        session: SessionId,
        epoch: u64,
        text: &str,
        at: Timestamp,
    ) -> Txn<Result<()>> {
        let result = run::log_in_txn(self, session, epoch, text, at).await;
        self.settle(result).await
    }

    /// Lets a run's token live longer.
    pub(crate) async fn renew_run(&mut self, key: KeyId, until: Timestamp) -> Txn<Result<()>> {
        let result = run::renew_in_txn(self.conn, key, until).await;
        self.settle(result).await
    }

    /// Adds an event that leaves no other trace.
    pub(crate) fn announce_one(&mut self, at: Timestamp, event: NewEvent) -> Txn<Result<u64>> {
        Ok(Ok(self.announce(at, event)))
    }

    /// Removes what has expired, or nothing.
    pub(crate) async fn forget_one(&mut self, expired: Expired) -> Txn<Result<Forgotten>> {
        let result = retention::forget_in_txn(self.conn, expired).await;
        self.settle(result).await
    }

    /// Records what the worker of webhooks did, or leaves no trace of it.
    pub(crate) async fn webhook_step(&mut self, step: &WebhookStep) -> Txn<Result<()>> {
        let result = webhook::step_in_txn(self, step).await;
        self.settle(result).await
    }

    /// Begins or ends a wait, or leaves no trace of it.
    pub(crate) async fn wait_step(&mut self, step: &WaitStep) -> Txn<Result<bool>> {
        let result = wait::step_in_txn(self, step).await;
        self.settle(result).await
    }

    /// Stores what counting a worktree came to, or leaves no trace of it.
    pub(crate) async fn counted_one(&mut self, counted: &Counted) -> Txn<Result<bool>> {
        let result = worktree_count::counted_in_txn(self, counted).await;
        self.settle(result).await
    }

    /// Writes something of no meaning.
    pub(crate) async fn probe_one(&mut self) -> Txn<Result<()>> {
        let sql = "UPDATE meta SET value = value + 1 WHERE name = 'health_probes'";
        let result = execute(self.conn, sql).await.map_err(store_error);
        self.settle(result).await
    }

    async fn try_commit_one(&mut self, change: &Change, commit: Commit) -> Result<Applied> {
        let at = commit.audit.at;
        if let Some(claim) = &commit.idempotency {
            match idempotency::claim_in_txn(self.conn, claim, at).await? {
                Claimed::First => {}
                Claimed::Repeat(subject) => {
                    self.audits.push(commit.audit.replay_of(subject).into());
                    return Ok(Applied::Replayed { subject });
                }
            }
        }
        change.apply(self).await?;
        // From here on nothing fails, so that no number is given out for a change that is undone.
        Ok(self.record(commit))
    }

    /// Adds the events and the audit entry of a change that has succeeded.
    pub(crate) fn record(&mut self, commit: Commit) -> Applied {
        let at = commit.audit.at;
        let mut seq = None;
        for event in commit.events {
            seq = Some(self.announce(at, event));
        }
        self.audits.push(commit.audit.into());
        Applied::Done { seq }
    }

    /// Says that the change was kept by its own last statement.
    pub(crate) fn kept(&mut self) {
        self.kept = true;
    }

    /// Adds an event and returns its number. Only for changes that have succeeded.
    pub(crate) fn announce(&mut self, at: Timestamp, event: NewEvent) -> EventSeq {
        self.events.push((at, event));
        self.last_event + self.events.len() as u64
    }

    /// Keeps a change that succeeded, undoes one that failed, and opens the savepoint of the next.
    async fn settle<T>(&mut self, result: Result<T>) -> Txn<Result<T>> {
        let kept = std::mem::take(&mut self.kept);
        let Err(error) = &result else {
            if !kept {
                execute(self.conn, "RELEASE change; SAVEPOINT change").await?;
            }
            return Ok(result);
        };
        match execute(self.conn, "ROLLBACK TO change").await {
            Ok(()) => Ok(result),
            // SQLite had to undo the whole transaction, and what made it do so is the reason for everyone in it.
            Err(_) => Err(Failed::because_of(error)),
        }
    }

    /// Writes what waited for a transaction.
    pub(crate) async fn write_waiting(&mut self, waiting: &Waiting) -> sqlx::Result<()> {
        for chunk in chunks(&waiting.audits) {
            self.insert(|script| audit::push_insert(script, chunk))
                .await?;
        }
        key::touch_in_txn(self.conn, &waiting.touched).await
    }

    /// Returns the time of the newest change, if there is one.
    pub(crate) fn newest(&self) -> Option<Timestamp> {
        self.audits.iter().map(|audit| audit.at).max()
    }

    /// Inserts the collected events and audit entries, makes the transaction durable and returns its events.
    ///
    /// The last few rows travel with the COMMIT, so that a lone change takes one statement here and not three.
    pub(crate) async fn commit(mut self) -> sqlx::Result<Vec<Event>> {
        let (events, audits) = (take(&mut self.events), take(&mut self.audits));
        let (first_events, last_events) = split_tail(&events);
        let mut last_event = self.last_event;
        for chunk in chunks(first_events) {
            self.insert(|script| event::push_insert(script, last_event, chunk))
                .await?;
            last_event += chunk.len() as u64;
        }
        let (first_audits, last_audits) = split_tail(&audits);
        for chunk in chunks(first_audits) {
            self.insert(|script| audit::push_insert(script, chunk))
                .await?;
        }
        let mut closing = Query::new("");
        if !last_events.is_empty() {
            event::push_insert(&mut closing, last_event, last_events);
            closing.push("; ");
        }
        if !last_audits.is_empty() {
            audit::push_insert(&mut closing, last_audits);
            closing.push("; ");
        }
        closing.push("COMMIT");
        closing.build().execute(&mut *self.conn).await?;
        Ok(event::numbered(self.last_event, events))
    }

    async fn insert(&mut self, push: impl FnOnce(&mut Query)) -> sqlx::Result<()> {
        let mut insert = Query::new("");
        push(&mut insert);
        insert.build().execute(&mut *self.conn).await.map(drop)
    }
}

/// Runs a statement without arguments.
pub(crate) async fn execute(conn: &mut SqliteConnection, sql: &'static str) -> sqlx::Result<()> {
    sqlx::query(sql).execute(conn).await.map(drop)
}

/// The most rows that one statement inserts.
pub(crate) const ROWS_MAX: usize = 128;

/// Tells whether a statement that inserts so many rows is worth keeping prepared: only small numbers come again.
pub(crate) fn is_common(rows: usize) -> bool {
    rows <= 4
}

/// Numbers of rows for which a statement is kept prepared, largest first. Preparing one costs as much as running it.
const CHUNKS: [usize; 8] = [ROWS_MAX, 64, 32, 16, 8, 4, 2, 1];

/// The most changes of one script. Every one of them is a prepared statement of its own.
pub(crate) const SCRIPT_MAX: usize = 32;

/// Returns how many of `available` changes the next script makes.
pub(crate) fn script_size(available: usize) -> usize {
    let fits = |size: &usize| *size <= available.min(SCRIPT_MAX);
    CHUNKS.into_iter().find(fits).unwrap_or(0)
}

/// Tells whether the script of these changes is worth keeping prepared: mixtures seldom come again.
fn are_alike(changes: &[SingleStatement<'_>]) -> bool {
    changes.windows(2).all(|pair| match pair {
        [one, other] => discriminant(one) == discriminant(other),
        _ => true,
    })
}

/// Splits rows into as few chunks as sizes of [`CHUNKS`] allow, in order.
pub(crate) fn chunks<T>(mut rows: &[T]) -> impl Iterator<Item = &[T]> {
    std::iter::from_fn(move || {
        let size = CHUNKS.into_iter().find(|size| *size <= rows.len())?;
        let (chunk, rest) = rows.split_at(size);
        rows = rest;
        Some(chunk)
    })
}

/// Splits off the last chunk, if it is a small one.
fn split_tail<T>(rows: &[T]) -> (&[T], &[T]) {
    let tail = chunks(rows).last().map_or(0, <[T]>::len);
    let tail = if is_common(tail) { tail } else { 0 };
    rows.split_at(rows.len() - tail)
}

/// Why a transaction failed, and everything in it.
#[derive(Debug)]
pub(crate) struct Failed {
    message: String,
    /// There was no room to write it.
    full: bool,
}

/// The result of something that fails only together with its transaction.
pub(crate) type Txn<T> = Result<T, Failed>;

impl Failed {
    fn because_of(error: &StoreError) -> Self {
        let message = match error {
            StoreError::Unavailable { message } => message.clone(),
            other => other.to_string(),
        };
        let full = matches!(error, StoreError::Full);
        Self { message, full }
    }

    /// Returns the answer for everything in the transaction.
    pub(crate) fn answer(&self) -> StoreError {
        if self.full {
            return StoreError::Full;
        }
        let message = self.message.clone();
        StoreError::Unavailable { message }
    }
}

impl From<sqlx::Error> for Failed {
    fn from(error: sqlx::Error) -> Self {
        let full = is_full(&error);
        let message = match error {
            sqlx::Error::Database(error) => error.message().to_owned(),
            other => other.to_string(),
        };
        Self { message, full }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_come_in_few_sizes_and_lose_nothing() {
        for count in [0, 1, 3, 7, 127, 128, 129, 1000] {
            let rows: Vec<usize> = (0..count).collect();
            let split: Vec<&[usize]> = chunks(&rows).collect();
            assert_eq!(split.concat(), rows);
            assert!(split.iter().all(|chunk| CHUNKS.contains(&chunk.len())));
        }
        assert_eq!(chunks(&[0; 300]).count(), 2 + 1 + 1 + 1);
    }

    #[test]
    fn only_a_small_last_chunk_is_split_off() {
        for (count, tail) in [(0, 0), (1, 1), (4, 4), (7, 1), (8, 0), (60, 4), (64, 0)] {
            let rows: Vec<usize> = (0..count).collect();
            let (first, last) = split_tail(&rows);
            assert_eq!((first.len(), last.len()), (count - tail, tail));
        }
    }

    #[test]
    fn scripts_take_what_there_is_up_to_their_limit() {
        for (available, size) in [(0, 0), (1, 1), (3, 2), (31, 16), (32, 32), (500, 32)] {
            assert_eq!(script_size(available), size);
        }
    }
}
