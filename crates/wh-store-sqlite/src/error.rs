//! How opening can fail, and what SQLite's errors mean to a caller.

use std::path::PathBuf;

use sqlx::error::ErrorKind;
use wh_store::StoreError;

/// Why a database was not opened. It was left as it is.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    #[error("the database {} is in use by another server (process {pid})", path.display())]
    Locked { path: PathBuf, pid: String },
    #[error("{} is not a database of Wheelhouse; it was left as it is", path.display())]
    Foreign { path: PathBuf },
    #[error(
        "the database {} was written by a newer version (schema {found}, this version knows {known}); it was left as it is",
        path.display()
    )]
    Newer {
        path: PathBuf,
        found: u32,
        known: u32,
    },
    #[error(
        "the database {} has another history: its migration {number} is not the one this version has; it was left as it is",
        path.display()
    )]
    ChangedMigration { path: PathBuf, number: u32 },
    #[error("the database {} is damaged ({what}); it was left as it is, restore a backup", path.display())]
    Damaged { path: PathBuf, what: String },
    #[error("{} cannot be written to ({what})", path.display())]
    ReadOnly { path: PathBuf, what: String },
    #[error("the database {} cannot be opened: the disk is full", path.display())]
    Full { path: PathBuf },
    #[error("SQLite is {found}, but at least {needed} is needed")]
    OldSqlite { found: String, needed: &'static str },
    #[error("the database {} cannot be opened", path.display())]
    Io {
        path: PathBuf,
        #[source]
        source: std::io::Error,
    },
    #[error("the database {} cannot be opened: {what}", path.display())]
    Other { path: PathBuf, what: String },
}

/// SQLite's primary result codes that callers are told apart by.
mod code {
    pub(super) const BUSY: i32 = 5;
    pub(super) const LOCKED: i32 = 6;
    pub(super) const NOMEM: i32 = 7;
    pub(super) const READONLY: i32 = 8;
    pub(super) const INTERRUPT: i32 = 9;
    pub(super) const IOERR: i32 = 10;
    pub(super) const CORRUPT: i32 = 11;
    pub(super) const FULL: i32 = 13;
    pub(super) const CANTOPEN: i32 = 14;
    pub(super) const NOTADB: i32 = 26;
}

/// Returns SQLite's primary result code, if it was SQLite that failed.
fn primary_code(error: &sqlx::Error) -> Option<i32> {
    let extended = error.as_database_error()?.code()?;
    extended.parse::<i32>().ok().map(|code| code & 0xff)
}

/// Tells whether the database file itself is damaged.
pub(crate) fn is_damage(error: &sqlx::Error) -> bool {
    matches!(primary_code(error), Some(code::CORRUPT | code::NOTADB))
}

/// Tells whether SQLite was not allowed to write.
pub(crate) fn is_read_only(error: &sqlx::Error) -> bool {
    matches!(primary_code(error), Some(code::READONLY | code::CANTOPEN))
}

/// Tells whether there was no room to write.
pub(crate) fn is_full(error: &sqlx::Error) -> bool {
    primary_code(error) == Some(code::FULL)
}

/// Turns a database error into what callers act on.
pub(crate) fn store_error(error: sqlx::Error) -> StoreError {
    if is_full(&error) {
        return StoreError::Full;
    }
    let passing = match &error {
        sqlx::Error::PoolTimedOut
        | sqlx::Error::PoolClosed
        | sqlx::Error::WorkerCrashed
        | sqlx::Error::Io(_) => true,
        other => matches!(
            primary_code(other),
            Some(
                code::BUSY
                    | code::LOCKED
                    | code::NOMEM
                    | code::READONLY
                    | code::INTERRUPT
                    | code::IOERR
                    | code::CANTOPEN
            )
        ),
    };
    if passing {
        let message = error.to_string();
        StoreError::Unavailable { message }
    } else {
        StoreError::Backend(error.into())
    }
}

/// Turns the error of an insert into what callers act on: a value that is taken, a reference to nothing, or a failure.
///
/// `unique` pairs a part of SQLite's message, such as `users.name`, with the words for a caller.
pub(crate) fn insert_error(error: sqlx::Error, unique: &[(&str, &'static str)]) -> StoreError {
    let Some(database) = error.as_database_error() else {
        return store_error(error);
    };
    match database.kind() {
        ErrorKind::UniqueViolation => {
            let message = database.message();
            let named = unique.iter().find(|(part, _)| message.contains(part));
            let what = named.map_or("the id", |(_, what)| what);
            StoreError::Taken { what }
        }
        ErrorKind::ForeignKeyViolation => StoreError::NotFound {
            what: "something it refers to",
        },
        _ => store_error(error),
    }
}

/// The answer to calls after the store was closed.
pub(crate) fn closed() -> StoreError {
    StoreError::Unavailable {
        message: "the store is closed".to_owned(),
    }
}
