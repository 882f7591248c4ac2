//! Stops what users have running who are disabled.
//!
//! Nobody waits for it: disabling somebody is one row, after which nothing lets them in and nothing of theirs is begun.
//! The reconciler stops what had begun before. Worktrees, transcripts and queued prompts stay as they are.

use std::time::Duration;

use async_trait::async_trait;
use newtype_uuid::GenericUuid;
use wh_domain::{ErrorCode, IdRef, Reach, Reference, SessionAction};

use crate::{App, Result, reconcile::Reconciler};

/// How often to look though nobody was disabled just now: for what was being begun at that moment.
const PERIOD: Duration = Duration::from_secs(10);

/// Stops what users have running who are disabled.
pub(crate) struct Disabled;

#[async_trait]
impl Reconciler for Disabled {
    fn name(&self) -> &'static str {
        "disabled users"
    }

    fn period(&self) -> Duration {
        PERIOD
    }

    async fn woken(&self, app: &App) {
        app.user_disabled.notified().await;
    }

    async fn reconcile(&self, app: &App) -> Result<()> {
        let left = app.store.user_left_running().await?;
        // Loops first, so that none begins another iteration when its session ends.
        for id in left.loops {
            let Some(it) = app.loop_by_id(id).await? else {
                continue;
            };
            let cx = app.server_context(it.owner);
            app.loop_pause(&cx, &Reference::from(id)).await?;
        }
        for id in left.sessions {
            let whole = IdRef::Whole(id.into_untyped_uuid());
            for session in app.store.session_find(Reach::All, &whole).await? {
                let cx = app.server_context(session.owner);
                let stop = SessionAction::Stop;
                let stopped = app.session_manage(&cx, &Reference::from(id), stop).await;
                // It came to its end meanwhile.
                let is_over = |error: &crate::AppError| error.code() == ErrorCode::Conflict;
                if let Err(error) = stopped
                    && !is_over(&error)
                {
                    return Err(error);
                }
            }
        }
        Ok(())
    }
}
