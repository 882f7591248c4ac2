//! Keeps the write-ahead log short.
//!
//! SQLite begins the log anew only when no reader uses it, and under constant reading there is always one. So once the
//! log has grown by [`STEP_BYTES`], the writer writes it back and waits a moment for those readers that began before:
//! new ones do not need the log any more. A reader that takes longer (a backup) is not waited for; the next step tries
//! again. The log is then as long as what is written during that one read.

use std::path::{Path, PathBuf};

use sqlx::{Row, SqliteConnection};

use crate::lock::beside;

/// By how much the log grows between two attempts.
const STEP_BYTES: u64 = 4 << 20;

/// Decides when the log is written back.
pub(crate) struct Checkpoint {
    wal: PathBuf,
    /// The length of the log at which to try next.
    next_bytes: u64,
}

impl Checkpoint {
    pub(crate) fn new(path: &Path) -> Self {
        Self {
            wal: beside(path, "-wal"),
            next_bytes: STEP_BYTES,
        }
    }

    /// Writes the log back if it is time. A failure changes nothing: the log is still there, and so is the next time.
    pub(crate) async fn run_if_due(&mut self, conn: &mut SqliteConnection) {
        let bytes = std::fs::metadata(&self.wal).map_or(0, |m| m.len());
        if bytes < self.next_bytes {
            return;
        }
        self.next_bytes = match truncate(conn).await {
            Ok(true) => STEP_BYTES,
            Ok(false) => bytes + STEP_BYTES,
            Err(error) => {
                tracing::warn!(%error, "the write-ahead log cannot be written back now");
                bytes + STEP_BYTES
            }
        };
    }
}

/// Writes the log back and empties it; tells whether no reader was in the way.
async fn truncate(conn: &mut SqliteConnection) -> sqlx::Result<bool> {
    let row = sqlx::query(
        "PRAGMA busy_timeout = 20; PRAGMA wal_checkpoint(TRUNCATE); PRAGMA busy_timeout = 5000",
    )
    .fetch_all(conn)
    .await?;
    // Each of the three statements yields a row; that of the checkpoint says first whether it was blocked.
    let blocked = row.get(1).map_or(Ok(1), |row| row.try_get::<i64, _>(0))?;
    Ok(blocked == 0)
}
