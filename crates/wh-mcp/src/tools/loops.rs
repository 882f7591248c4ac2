//! Tools about loops.

use std::sync::Arc;

use wh_api::{
    LoopChangeRequest, LoopGetRequest, LoopListRequest, LoopListView, LoopLogRequest, LoopLogView,
    LoopResumeRequest, LoopStartRequest, LoopView, cursor_of,
};
use wh_app::{App, OpContext, Result};
use wh_domain::Operation;

use super::Tool;
use crate::toolset::Toolset;

pub(super) fn tools() -> Vec<Tool> {
    let set = Toolset::Task;
    vec![
        Tool::new(
            set,
            Operation::LoopStart,
            "Starts a loop: a fresh agent for each iteration works through one list of tasks on one branch until it calls \
             loop_complete, or the iterations or the budget are used up, or two iterations in a row change nothing. \
             Returns at once; loop_get tells how it stands.",
            loop_start,
        ),
        Tool::new(
            set,
            Operation::LoopGet,
            "Shows a loop: state, iteration, tasks, the session at work, what was used and what is left, why it ended.",
            loop_get,
        ),
        Tool::new(
            set,
            Operation::LoopList,
            "Lists loops, newest first.",
            loop_list,
        ),
        Tool::new(
            set,
            Operation::LoopLog,
            "Returns what happened in a loop: iterations, what hooks said, how it ended.",
            loop_log,
        ),
        Tool::new(
            set,
            Operation::LoopPause,
            "Lets a loop rest after the iteration that is under way.",
            loop_pause,
        ),
        Tool::new(
            set,
            Operation::LoopResume,
            "Resumes a loop that is paused, or has ended because its budget or iterations were used up and gets more.",
            loop_resume,
        ),
        Tool::new(
            set,
            Operation::LoopStop,
            "Ends a loop, and the iteration that is under way with it. Its branch and its list stay.",
            loop_stop,
        ),
    ]
}

async fn loop_start(app: Arc<App>, cx: OpContext, request: LoopStartRequest) -> Result<LoopView> {
    let started = app.loop_start(&cx, request.input()?).await?;
    Ok(LoopView::from(&started))
}

async fn loop_get(app: Arc<App>, cx: OpContext, request: LoopGetRequest) -> Result<LoopView> {
    let found = app.loop_get(&cx, &request.reference()?).await?;
    Ok(LoopView::from(&found))
}

async fn loop_list(app: Arc<App>, cx: OpContext, request: LoopListRequest) -> Result<LoopListView> {
    let page = request.page().by_id()?;
    let open_only = request.open.unwrap_or(false);
    let page = app.loop_list(&cx, open_only, page).await?;
    Ok(LoopListView {
        loops: page.items.iter().map(Into::into).collect(),
        next_cursor: cursor_of(page.next),
        total: page.total,
    })
}

async fn loop_log(app: Arc<App>, cx: OpContext, request: LoopLogRequest) -> Result<LoopLogView> {
    let (reference, page) = (request.reference()?, request.page()?);
    let page = app.loop_log(&cx, &reference, page).await?;
    Ok(LoopLogView::from(page))
}

async fn loop_pause(app: Arc<App>, cx: OpContext, request: LoopChangeRequest) -> Result<LoopView> {
    let paused = app.loop_pause(&cx, &request.reference()?).await?;
    Ok(LoopView::from(&paused))
}

async fn loop_resume(app: Arc<App>, cx: OpContext, request: LoopResumeRequest) -> Result<LoopView> {
    let (reference, terms) = (request.reference()?, request.terms()?);
    let resumed = app.loop_resume(&cx, &reference, terms).await?;
    Ok(LoopView::from(&resumed))
}

async fn loop_stop(app: Arc<App>, cx: OpContext, request: LoopChangeRequest) -> Result<LoopView> {
    let stopped = app.loop_stop(&cx, &request.reference()?).await?;
    Ok(LoopView::from(&stopped))
}
