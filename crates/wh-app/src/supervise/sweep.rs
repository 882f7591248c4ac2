//! What earlier lives of the server left: processes of runs that are over, and directories nobody needs.

use wh_domain::{IdRef, Reach};
use wh_runner::{link, process};

use crate::{App, AppError, Result};

/// Ends what belongs to no current run and removes what is stored.
pub(super) async fn sweep(app: &App) -> Result<()> {
    let root = app.runs.runs.clone();
    let listed = tokio::task::spawn_blocking(move || link::list_runs(&root)).await;
    let runs = listed
        .map_err(|error| AppError::new(wh_domain::ErrorCode::Internal, error.to_string()))?
        .map_err(|error| AppError::new(wh_domain::ErrorCode::Internal, error.to_string()))?;
    for run in runs {
        let id = newtype_uuid::GenericUuid::into_untyped_uuid(run.spec.session);
        let found = app
            .store
            .session_find(Reach::All, &IdRef::Whole(id))
            .await?;
        let is_current = found.iter().any(|it| it.epoch == run.spec.epoch);
        let is_open = match app.store.work_get(run.spec.session).await? {
            Some(work) => is_current && work.run.is_some_and(|run| run.ended_at.is_none()),
            None => false,
        };
        if is_open {
            continue;
        }
        if let Some(runner) = run.alive {
            tracing::warn!(session = %run.spec.session, epoch = run.spec.epoch, "a run that is over was still alive");
            runner.kill();
        }
        let tag = process::run_tag(&run.spec);
        let swept = tokio::task::spawn_blocking(move || process::sweep(&tag)).await;
        if let Ok(swept @ 1..) = swept {
            tracing::warn!(session = %run.spec.session, swept, "ended processes that a run left");
        }
        if let Err(error) = std::fs::remove_dir_all(run.dir.path()) {
            tracing::warn!(%error, "the directory of a run that is over could not be removed");
        }
    }
    Ok(())
}
