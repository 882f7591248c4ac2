//! Opening a database: refuse what cannot be used, create what is not there, bring the schema up to date.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::sqlite::{
    SqliteConnectOptions, SqliteJournalMode, SqlitePool, SqlitePoolOptions, SqliteSynchronous,
};
use sqlx::{ConnectOptions, Connection, SqliteConnection};

use crate::lock::{LockFile, beside, open_error};
use crate::migrate::{self, MIGRATIONS};
use crate::{OpenError, header};

/// The oldest SQLite that does not lose a WAL reset (https://www.sqlite.org/releaselog/3_51_3.html).
const SQLITE_NEEDED: (&str, [u32; 3]) = ("3.51.3", [3, 51, 3]);

/// How long a connection waits for a lock that only a stranger can hold.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// How long a read waits for a free connection.
const ACQUIRE_TIMEOUT: Duration = Duration::from_secs(10);

/// How a database is opened.
#[derive(Clone, Debug)]
pub struct OpenOptions {
    /// The database file. It is created when it is not there; its directory is not.
    pub path: PathBuf,
    /// Connections for reading.
    pub readers: u32,
    /// The most changes that may wait to be written; a caller waits when there are more.
    pub queue_max: usize,
    /// The most pages the file may have; a way to try out a full disk.
    pub pages_max: Option<u32>,
}

impl OpenOptions {
    /// Returns the usual options for a database at `path`.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            readers: 4,
            queue_max: 2_048,
            pages_max: None,
        }
    }
}

/// The connections of an open database.
pub(crate) struct Opened {
    pub(crate) path: PathBuf,
    pub(crate) lock: LockFile,
    pub(crate) writer: SqliteConnection,
    pub(crate) readers: SqlitePool,
}

/// Opens the database, or says why not and leaves it as it is.
pub(crate) async fn open(options: &OpenOptions) -> Result<Opened, OpenError> {
    let path =
        std::path::absolute(&options.path).map_err(|source| open_error(&options.path, source))?;
    let lock = LockFile::acquire(&path)?;
    match fs::metadata(&path) {
        Ok(_) => verify(&path).await?,
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => create(&path).await?,
        Err(source) => return Err(open_error(&path, source)),
    }
    let fail = |e: sqlx::Error| migrate::open_error(&path, &e);
    let mut migrator = writer_options(&path, options.pages_max)
        .foreign_keys(false)
        .connect()
        .await
        .map_err(fail)?;
    let migrated = migrate::run(&mut migrator, &path, MIGRATIONS).await;
    let mode: String = sqlx::query_scalar("PRAGMA journal_mode")
        .fetch_one(&mut migrator)
        .await
        .map_err(fail)?;
    // The writer connects before the migrator leaves, so that the log is not written out in between.
    let writer = connect_writer(&path, options.pages_max)
        .await
        .map_err(fail)?;
    migrator.close().await.map_err(fail)?;
    migrated?;
    if mode != "wal" {
        let what = format!("its file system does not allow write-ahead logging (mode {mode})");
        return Err(OpenError::Other { path, what });
    }
    let readers = connect_readers(&path, options.readers)
        .await
        .map_err(fail)?;
    Ok(Opened {
        path,
        lock,
        writer,
        readers,
    })
}

/// Connects the writer.
pub(crate) async fn connect_writer(
    path: &Path,
    pages_max: Option<u32>,
) -> sqlx::Result<SqliteConnection> {
    writer_options(path, pages_max).connect().await
}

/// Returns how every connection to the file at `path` begins.
pub(crate) fn base_options(path: &Path) -> SqliteConnectOptions {
    SqliteConnectOptions::new()
        .filename(path)
        .create_if_missing(false)
        .busy_timeout(BUSY_TIMEOUT)
        .statement_cache_capacity(256)
        .pragma("temp_store", "memory")
        .disable_statement_logging()
}

fn writer_options(path: &Path, pages_max: Option<u32>) -> SqliteConnectOptions {
    let options = base_options(path)
        .journal_mode(SqliteJournalMode::Wal)
        .synchronous(SqliteSynchronous::Full)
        .foreign_keys(true)
        .pragma("cache_size", "-16000")
        // The log is written back by `checkpoint`, after answering, rather than inside a commit.
        .pragma("wal_autocheckpoint", "0")
        .thread_name(|_| "wh-sqlite-write".to_owned());
    match pages_max {
        Some(pages) => options.pragma("max_page_count", pages.to_string()),
        None => options,
    }
}

async fn connect_readers(path: &Path, readers: u32) -> sqlx::Result<SqlitePool> {
    let options = base_options(path)
        .pragma("query_only", "on")
        .pragma("cache_size", "-4000")
        .thread_name(|n| format!("wh-sqlite-read-{n}"));
    SqlitePoolOptions::new()
        .max_connections(readers.max(1))
        .min_connections(readers.max(1))
        .test_before_acquire(false)
        .idle_timeout(None)
        .max_lifetime(None)
        .acquire_timeout(ACQUIRE_TIMEOUT)
        .connect_with(options)
        .await
}

/// Looks at an existing database without changing it, and refuses it if it cannot be used.
///
/// The cost does not depend on the size: the header, the schema, the migrations, and one step into every table.
async fn verify(path: &Path) -> Result<(), OpenError> {
    header::check(path, migrate::VERSION)?;
    check_writable(path)?;
    let fail = |e: sqlx::Error| migrate::open_error(path, &e);
    // A read-only connection does not write the log back when it closes: a refused database stays as it is.
    let mut conn = base_options(path)
        .read_only(true)
        .connect()
        .await
        .map_err(fail)?;
    let checked = verify_on_conn(&mut conn, path).await;
    conn.close().await.map_err(fail)?;
    checked
}

async fn verify_on_conn(conn: &mut SqliteConnection, path: &Path) -> Result<(), OpenError> {
    check_sqlite_version(conn, path).await?;
    migrate::check(conn, path, MIGRATIONS).await?;
    let fail = |e: sqlx::Error| migrate::open_error(path, &e);
    let tables: Vec<String> = sqlx::query_scalar(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND rootpage > 0 AND name NOT LIKE 'sqlite_stat%'",
    )
    .fetch_all(&mut *conn)
    .await
    .map_err(fail)?;
    let peek = |name: &String| format!("SELECT EXISTS (SELECT 1 FROM \"{name}\")");
    let peeks: Vec<String> = tables.iter().map(peek).collect();
    sqlx::raw_sql(sqlx::AssertSqlSafe(peeks.join(" UNION ALL ")))
        .fetch_all(conn)
        .await
        .map_err(fail)?;
    Ok(())
}

/// Makes a new database under another name first, so that a crash never leaves a half-made one under this name.
async fn create(path: &Path) -> Result<(), OpenError> {
    if fs::metadata(beside(path, "-wal")).is_ok_and(|m| m.len() > 0) {
        return Err(OpenError::Damaged {
            path: path.to_owned(),
            what: "the file is missing, but its write-ahead log is there".to_owned(),
        });
    }
    let new = beside(path, ".init");
    // What an interrupted start left: never used as a database by anyone.
    for leftover in [&new, &beside(&new, "-journal")] {
        match fs::remove_file(leftover) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                return Err(open_error(leftover, e));
            }
            _ => {}
        }
    }
    let io_fail = |source| open_error(path, source);
    let file = File::options()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&new);
    drop(file.map_err(io_fail)?);
    let fail = |e: sqlx::Error| migrate::open_error(path, &e);
    let options = base_options(&new).foreign_keys(false);
    let mut conn = options.connect().await.map_err(fail)?;
    check_sqlite_version(&mut conn, path).await?;
    migrate::run(&mut conn, path, MIGRATIONS).await?;
    conn.close().await.map_err(fail)?;
    fs::rename(&new, path).map_err(io_fail)?;
    sync_directory(path).map_err(io_fail)
}

/// Makes a new name in the directory of `path` durable.
pub(crate) fn sync_directory(path: &Path) -> std::io::Result<()> {
    match path.parent() {
        Some(directory) => File::open(directory)?.sync_all(),
        None => Ok(()),
    }
}

/// Refuses a file that is write-protected, also for root, and keeps others from reading it.
fn check_writable(path: &Path) -> Result<(), OpenError> {
    let mode = fs::metadata(path)
        .map_err(|source| open_error(path, source))?
        .permissions()
        .mode();
    if mode & 0o200 == 0 {
        return Err(OpenError::ReadOnly {
            path: path.to_owned(),
            what: "the file is write-protected".to_owned(),
        });
    }
    let opened = File::options().write(true).open(path);
    drop(opened.map_err(|source| open_error(path, source))?);
    if mode & 0o077 != 0 {
        fs::set_permissions(path, Permissions::from_mode(0o600))
            .map_err(|source| open_error(path, source))?;
    }
    Ok(())
}

async fn check_sqlite_version(conn: &mut SqliteConnection, path: &Path) -> Result<(), OpenError> {
    let found: String = sqlx::query_scalar("SELECT sqlite_version()")
        .fetch_one(conn)
        .await
        .map_err(|e| migrate::open_error(path, &e))?;
    let parts: Vec<u32> = found.split('.').filter_map(|p| p.parse().ok()).collect();
    let (needed, minimum) = SQLITE_NEEDED;
    if parts.as_slice() < minimum.as_slice() {
        return Err(OpenError::OldSqlite { found, needed });
    }
    Ok(())
}
