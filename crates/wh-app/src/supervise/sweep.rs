//! What earlier lives of the server left: processes of runs that are over, and directories and cgroups nobody needs.

use std::path::PathBuf;

use wh_domain::{IdRef, Reach, SessionId};
use wh_runner::{link, process};

use crate::{App, AppError, Result, ServerReason};

/// Ends what belongs to no current run and removes what is stored.
pub(super) async fn sweep(app: &App) -> Result<()> {
    let root = app.runs.runs.clone();
    let listed = tokio::task::spawn_blocking(move || link::list_runs(&root)).await;
    let runs = listed
        .map_err(|error| AppError::from(ServerReason::Defect).caused_by(error))?
        .map_err(|error| AppError::from(ServerReason::Defect).caused_by(error))?;
    for run in runs {
        if is_open(app, run.spec.session, run.spec.epoch).await? {
            continue;
        }
        if let Some(runner) = run.alive {
            tracing::warn!(session = %run.spec.session, epoch = run.spec.epoch, "a run that is over was still alive");
            runner.kill();
        }
        let tag = process::run_tag(&run.spec);
        sweep_run(run.spec.session, tag, run.spec.resources.cgroup).await;
        if let Err(error) = std::fs::remove_dir_all(run.dir.path()) {
            tracing::warn!(%error, "the directory of a run that is over could not be removed");
        }
    }
    sweep_cgroups(app).await
}

/// Ends what is left in cgroups whose runs have no directory any more. Cgroups of another server's sessions are left alone.
async fn sweep_cgroups(app: &App) -> Result<()> {
    let Some(cgroups) = &app.runs.cgroups else {
        return Ok(());
    };
    for tag in cgroups.run_tags() {
        let Some((session, epoch)) = process::parse_tag(&tag) else {
            continue;
        };
        if is_known(app, session).await? && !is_open(app, session, epoch).await? {
            let dir = cgroups.run_dir(&tag);
            sweep_run(session, tag, Some(dir)).await;
        }
    }
    Ok(())
}

/// Tells whether a run is its session's current one and not recorded as over.
async fn is_open(app: &App, session: SessionId, epoch: u64) -> Result<bool> {
    let work = app.store.work_get(session).await?;
    let current = work.filter(|work| work.session.epoch == epoch);
    let run = current.and_then(|work| work.run);
    Ok(run.is_some_and(|run| run.ended_at.is_none()))
}

async fn is_known(app: &App, session: SessionId) -> Result<bool> {
    let id = IdRef::Whole(newtype_uuid::GenericUuid::into_untyped_uuid(session));
    let found = app.store.session_find(Reach::All, &id).await?;
    Ok(!found.is_empty())
}

async fn sweep_run(session: SessionId, tag: String, cgroup: Option<PathBuf>) {
    let swept = tokio::task::spawn_blocking(move || process::sweep(&tag, cgroup.as_deref())).await;
    if let Ok(swept @ 1..) = swept {
        tracing::warn!(%session, swept, "ended processes that a run left");
    }
}
