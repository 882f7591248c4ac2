//! Where a session works.

use std::path::PathBuf;

use wh_domain::{ErrorCode, Session};

use crate::{App, AppError, Result};

impl App {
    /// Returns the directory a session works in, whether or not it is there.
    pub(crate) async fn session_place(&self, session: &Session) -> Result<PathBuf> {
        Ok(match &session.path {
            Some(path) => path.clone(),
            None => self.runs.scratch.join(session.id.to_string()),
        })
    }

    /// Returns the directory a session works in, and makes it if it is ours to make.
    pub(crate) async fn session_home(&self, session: &Session) -> Result<PathBuf> {
        let place = self.session_place(session).await?;
        if session.path.is_some() {
            if place.is_dir() {
                return Ok(place);
            }
            let message = format!("{} is not there any more", place.display());
            return Err(AppError::new(ErrorCode::Conflict, message)
                .hint("put it back, or begin another session elsewhere"));
        }
        std::fs::create_dir_all(&place).map_err(|error| {
            let message = format!("cannot make {}: {error}", place.display());
            AppError::new(ErrorCode::Unavailable, message)
        })?;
        Ok(place)
    }

    /// Returns the commit that a session's worktree is at, if it has one.
    pub(crate) async fn session_commit(&self, _session: &Session) -> Option<String> {
        None
    }
}
