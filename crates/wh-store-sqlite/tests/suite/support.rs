//! Helpers of the tests.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use wh_domain::{Event, Operation, PageLimit, Reach, UserId};
use wh_store::conformance::fixture;
use wh_store::{Result, Store};
use wh_store_sqlite::{OpenOptions, SqliteStore};

/// A directory for a database, removed in the end.
pub(crate) struct Place {
    directory: tempfile::TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        Self { directory }
    }

    pub(crate) fn directory(&self) -> &Path {
        self.directory.path()
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.directory.path().join("wheelhouse.db")
    }

    pub(crate) async fn open(&self) -> Arc<dyn Store> {
        open(&self.path()).await
    }
}

pub(crate) async fn open(path: &Path) -> Arc<dyn Store> {
    Arc::new(SqliteStore::open(OpenOptions::new(path)).await.unwrap())
}

/// Adds a board and returns the number of its event.
pub(crate) async fn board(store: &Arc<dyn Store>, user: UserId) -> Result<u64> {
    let board = fixture::board_value(fixture::owned_by(user)).unwrap();
    let commit = fixture::commit_with_event(user, Operation::BoardCreate, board.id);
    let applied = store.board_insert(&board, commit).await?;
    Ok(fixture::done(applied).unwrap())
}

/// Reads the whole feed and checks that it has no gaps.
pub(crate) async fn feed(store: &Arc<dyn Store>) -> Vec<Event> {
    let mut events: Vec<Event> = Vec::new();
    loop {
        let after = events.last().map_or(0, |e| e.seq);
        let page = store
            .event_list(Reach::All, after, PageLimit::MAX)
            .await
            .unwrap();
        events.extend(page.events);
        if !page.more {
            break;
        }
    }
    let gapless = events.iter().zip(1..).all(|(e, n)| e.seq == n);
    assert!(gapless, "the feed has gaps");
    events
}

/// Connects to the file as a stranger would, past the store.
pub(crate) async fn raw(path: &Path) -> sqlx::SqliteConnection {
    use sqlx::ConnectOptions;
    let options = sqlx::sqlite::SqliteConnectOptions::new().filename(path);
    options.connect().await.unwrap()
}

/// Runs statements as a stranger would.
pub(crate) async fn meddle(path: &Path, sql: &'static str) {
    use sqlx::Connection;
    let mut conn = raw(path).await;
    sqlx::raw_sql(sql).execute(&mut conn).await.unwrap();
    conn.close().await.unwrap();
}

/// Mounts a small file system in memory; nothing when that is not allowed here.
pub(crate) struct Mount {
    pub(crate) at: PathBuf,
}

impl Mount {
    #[expect(clippy::disallowed_methods, reason = "a test that needs mount(8)")]
    fn run(program: &str, arguments: &[&str]) -> bool {
        let mut command = std::process::Command::new(program);
        let ended = command.args(arguments).stderr(std::process::Stdio::null());
        ended.status().is_ok_and(|status| status.success())
    }

    pub(crate) fn new(at: &Path, options: &str) -> Option<Self> {
        let arguments = ["-t", "tmpfs", "-o", options, "tmpfs", at.to_str().unwrap()];
        Self::run("mount", &arguments).then(|| Self { at: at.to_owned() })
    }

    pub(crate) fn remount(&self, options: &str) {
        let options = format!("remount,{options}");
        let arguments = ["-o", options.as_str(), self.at.to_str().unwrap()];
        assert!(Self::run("mount", &arguments));
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        Self::run("umount", &["-l", self.at.to_str().unwrap()]);
    }
}
