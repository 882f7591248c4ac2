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
        return Err(taken());
    }
    let partial = Partial::create(&to)?;
    vacuum(from, &partial.path).await?;
    let last = last_event(&partial.path).await?;
    // Making a large file durable takes a while, in which the runtime has better things to do.
    let published = tokio::task::spawn_blocking(move || partial.publish(&to)).await;
    published.map_err(|e| StoreError::Backend(e.into()))??;
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

    /// Makes the copy durable and gives it its name, unless somebody took that meanwhile.
    fn publish(self, to: &Path) -> Result<()> {
        let synced = File::open(&self.path).and_then(|file| file.sync_all());
        synced.map_err(|e| io_error(&self.path, &e))?;
        // Unlike a rename, a link never replaces what is there.
        match fs::hard_link(&self.path, to) {
            Ok(()) => {}
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => return Err(taken()),
            // Some file systems have no links.
            Err(_) if fs::symlink_metadata(to).is_ok() => return Err(taken()),
            Err(_) => fs::rename(&self.path, to).map_err(|e| io_error(to, &e))?,
        }
        sync_directory(to).map_err(|e| io_error(to, &e))
    }
}

fn taken() -> StoreError {
    StoreError::Taken {
        what: "the name of the backup",
    }
}

impl Drop for Partial {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_file(&self.path)
            && error.kind() != io::ErrorKind::NotFound
        {
            tracing::warn!(path = %self.path.display(), %error, "a partial backup was not removed");
        }
    }
}

fn io_error(path: &Path, error: &io::Error) -> StoreError {
    StoreError::Unavailable {
        message: format!("{}: {error}", path.display()),
    }
}
