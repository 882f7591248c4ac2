//! The store on SQLite: one file, one writer that batches its queue into transactions, several readers.
//!
//! ```text
//!  callers ──► queue ──► writer task ──► one connection:  BEGIN IMMEDIATE · SAVEPOINT per change · COMMIT (fsync)
//!     │                       │
//!     │                       └─ after COMMIT: board cache · event watch · answers
//!     └─────► reads ──► pool of read-only connections (and the board cache)
//! ```
//!
//! - **Invariant**: a change is answered only after the transaction that holds it is durable.
//! - **Invariant**: this process is the only writer; the lock file beside the database guarantees it. That is why
//!   numbers can be given out in memory and why boards can be cached.
//! - **Invariant**: a database that cannot be used is refused with one line and left as it is, byte for byte. Nothing
//!   here renames, deletes or repairs one.
//!
//! SQL lives in the file of its resource, next to the conversion of its rows. Deliberately absent: an ORM, a query
//! builder beyond optional conditions, and statements checked at compile time (they would build SQLite twice).

mod approval;
mod audit;
mod audit_list;
mod backup;
mod batch;
mod board;
mod board_sql;
mod cache;
mod change;
mod checkpoint;
mod deletion;
mod delivery;
mod error;
mod event;
mod fork;
mod guests;
mod header;
mod host_credential;
mod idempotency;
mod key;
mod lock;
mod loops;
mod loops_row;
mod message;
mod migrate;
mod notes;
mod offers;
mod open;
mod reach;
mod repo;
mod retention;
mod row;
mod run;
mod run_apply;
mod session;
mod session_row;
mod setting;
mod store;
mod task;
mod task_change;
mod turn;
mod usage;
mod usage_day;
mod user;
mod user_deletion;
mod wait;
mod webhook;
mod work;
mod worktree;
mod worktree_count;
mod writer;

pub use error::OpenError;
pub use open::OpenOptions;
pub use store::SqliteStore;
