//! A copy of the database as it is at one moment, made while others read and write.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use sqlx::{ConnectOptions, Connection};
use wh_domain::EventSeq;
use wh_store::{Result, StoreError};

use crate::error::store_error;
use crate::event;
use crate::lock::beside;
use crate::open::{base_options, sync_directory};

/// Copies the database at `from` into the new file `to`, and returns the number of the last event in the copy.
///
/// The copy appears under its name only when it is whole and durable.
pub(crate) async fn copy(from: &Path, to: &Path) -> Result<EventSeq> {
    let to = std::path::absolute(to).map_err(|e| io_error(to, &e))?;
    if fs::symlink_metadata(&to).is_ok() {
        return Err(StoreError::Taken {
            what: "the name of the backup",
        });
    }
    let partial = Partial::create(&to)?;
    vacuum(from, &partial.path).await?;
    let last = last_event(&partial.path).await?;
    let sync = |path: &Path| File::open(path)?.sync_all();
    sync(&partial.path).map_err(|e| io_error(&partial.path, &e))?;
    partial.publish(&to)?;
    Ok(last)
}

/// Writes a compact copy. SQLite reads one snapshot for it; the writer goes on meanwhile.
async fn vacuum(from: &Path, to: &Path) -> Result<()> {
    let text = to.to_str().ok_or_else(|| StoreError::Unavailable {
        message: "the name of the backup is not valid UTF-8".to_owned(),
    })?;
    let mut conn = base_options(from).connect().await.map_err(store_error)?;
    let copied = sqlx::query("VACUUM INTO ?")
        .bind(text)
        .execute(&mut conn)
        .await;
    conn.close().await.map_err(store_error)?;
    copied.map(drop).map_err(store_error)
}

async fn last_event(path: &Path) -> Result<EventSeq> {
    let options = base_options(path).read_only(true).immutable(true);
    let mut conn = options.connect().await.map_err(store_error)?;
    let last = event::last_on_conn(&mut conn).await;
    conn.close().await.map_err(store_error)?;
    last.map_err(store_error)
}

/// A copy that is not whole yet; removed unless it is published.
struct Partial {
    path: PathBuf,
}

impl Partial {
    fn create(to: &Path) -> Result<Self> {
        let path = beside(to, &format!(".partial-{}", std::process::id()));
        let file = File::options()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(&path);
        drop(file.map_err(|e| io_error(&path, &e))?);
        Ok(Self { path })
    }

    /// Gives the copy its name, unless somebody took it meanwhile.
    fn publish(self, to: &Path) -> Result<()> {
        // Unlike a rename, a link never replaces what is there.
        match fs::hard_link(&self.path, to) {
            Ok(()) => {}
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {
                return Err(StoreError::Taken {
                    what: "the name of the backup",
                });
            }
            Err(e) => return Err(io_error(to, &e)),
        }
        sync_directory(to).map_err(|e| io_error(to, &e))
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_file(&self.path) {
            tracing::warn!(path = %self.path.display(), %error, "a partial backup was not removed");
        }
    }
}

fn io_error(path: &Path, error: &io::Error) -> StoreError {
    StoreError::Unavailable {
        message: format!("{}: {error}", path.display()),
    }
}
