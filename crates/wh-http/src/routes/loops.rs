//! Loops.

use http::Method;
use wh_api::{
    LoopChangeRequest, LoopGetRequest, LoopListRequest, LoopListView, LoopLogRequest, LoopLogView,
    LoopResumeRequest, LoopStartRequest, LoopView, cursor_of,
};
use wh_domain::Operation;

use crate::table::{Route, change, create, get};

pub(super) fn routes() -> Vec<Route> {
    let mut routes = reads();
    routes.extend(changes());
    routes
}

fn reads() -> Vec<Route> {
    vec![
        get(
            "/loops",
            Operation::LoopList,
            "Lists loops, newest first",
            |server, cx, request: LoopListRequest| async move {
                let page = request.page().by_id()?;
                let open_only = request.open.unwrap_or(false);
                let page = server.app.loop_list(&cx, open_only, page).await?;
                Ok(LoopListView {
                    loops: page.items.iter().map(Into::into).collect(),
                    next_cursor: cursor_of(page.next),
                    total: page.total,
                })
            },
        ),
        get(
            "/loops/{loop}",
            Operation::LoopGet,
            "Shows a loop and how its work stands",
            |server, cx, request: LoopGetRequest| async move {
                let found = server.app.loop_get(&cx, &request.reference()?).await?;
                Ok(LoopView::from(&found))
            },
        ),
        get(
            "/loops/{loop}/log",
            Operation::LoopLog,
            "Returns what happened in a loop, in order",
            |server, cx, request: LoopLogRequest| async move {
                let (reference, page) = (request.reference()?, request.page()?);
                let page = server.app.loop_log(&cx, &reference, page).await?;
                Ok(LoopLogView::from(page))
            },
        ),
    ]
}

fn changes() -> Vec<Route> {
    vec![
        create(
            "/loops",
            Operation::LoopStart,
            "Starts a loop",
            |started: &LoopView| Some(format!("/loops/{}", started.id)),
            |server, cx, request: LoopStartRequest| async move {
                let started = server.app.loop_start(&cx, request.input()?).await?;
                Ok(LoopView::from(&started))
            },
        ),
        change(
            Method::POST,
            "/loops/{loop}/pause",
            Operation::LoopPause,
            "Lets a loop rest after the iteration that is under way",
            |server, cx, request: LoopChangeRequest| async move {
                let paused = server.app.loop_pause(&cx, &request.reference()?).await?;
                Ok(LoopView::from(&paused))
            },
        ),
        change(
            Method::POST,
            "/loops/{loop}/resume",
            Operation::LoopResume,
            "Resumes a loop that is paused or has reached one of its limits, with new limits if they are given",
            |server, cx, request: LoopResumeRequest| async move {
                let (reference, terms) = (request.reference()?, request.terms()?);
                let resumed = server.app.loop_resume(&cx, &reference, terms).await?;
                Ok(LoopView::from(&resumed))
            },
        ),
        change(
            Method::POST,
            "/loops/{loop}/stop",
            Operation::LoopStop,
            "Ends a loop, and the iteration that is under way with it",
            |server, cx, request: LoopChangeRequest| async move {
                let stopped = server.app.loop_stop(&cx, &request.reference()?).await?;
                Ok(LoopView::from(&stopped))
            },
        ),
    ]
}
