//! Lists of tasks, their notes and iterations.

use http::Method;
use wh_api::{
    IterationSummaryRequest, IterationView, LoopCompleteRequest, LoopCompletedView, NoteAddRequest,
    NoteListRequest, NoteListView, TaskAddRequest, TaskAddedView, TaskListRequest, TaskListView,
    TaskNextRequest, TaskNextView, TaskUpdateRequest, TaskView,
};
use wh_domain::Operation;

use crate::table::{Route, change, get};

pub(super) fn routes() -> Vec<Route> {
    let mut routes = task_routes();
    routes.extend(note_routes());
    routes
}

fn task_routes() -> Vec<Route> {
    vec![
        change(
            Method::POST,
            "/tasks",
            Operation::TaskAdd,
            "Adds tasks to a list",
            |server, cx, request: TaskAddRequest| async move {
                let (list, tasks) = (request.list_ref()?, request.tasks()?);
                let (list, tasks) = server.app.task_add(&cx, &list, tasks).await?;
                Ok(TaskAddedView::new(&list, &tasks))
            },
        ),
        get(
            "/tasks",
            Operation::TaskList,
            "Lists tasks by status, the most urgent first",
            |server, cx, request: TaskListRequest| async move {
                let (list, status) = (request.list_ref()?, request.status()?);
                let page = request.page()?;
                let overview = server.app.task_list(&cx, &list, status, page).await?;
                Ok(TaskListView::from(&overview))
            },
        ),
        change(
            Method::POST,
            "/tasks/next",
            Operation::TaskNext,
            "Returns the next task, and hands it to the caller alone if asked to",
            |server, cx, request: TaskNextRequest| async move {
                let (list, lease) = (request.list_ref()?, request.lease()?);
                let claim = request.claim.unwrap_or(false);
                let next = server.app.task_next(&cx, &list, claim, lease).await?;
                Ok(TaskNextView::from(&next))
            },
        ),
        change(
            Method::PATCH,
            "/tasks/{task}",
            Operation::TaskUpdate,
            "Changes a task",
            |server, cx, request: TaskUpdateRequest| async move {
                let (list, task, patch) = (request.list_ref()?, request.task()?, request.patch()?);
                let task = server.app.task_update(&cx, &list, &task, patch).await?;
                Ok(TaskView::from(&task))
            },
        ),
        change(
            Method::POST,
            "/loops/complete",
            Operation::LoopComplete,
            "Says that the work of a list is done",
            |server, cx, request: LoopCompleteRequest| async move {
                let list = server.app.loop_complete(&cx, &request.list_ref()?).await?;
                Ok(LoopCompletedView::from(&list))
            },
        ),
    ]
}

fn note_routes() -> Vec<Route> {
    vec![
        change(
            Method::POST,
            "/notes",
            Operation::NoteAdd,
            "Adds notes to a list",
            |server, cx, request: NoteAddRequest| async move {
                let (list, notes) = (request.list_ref()?, request.notes()?);
                let notes = server.app.note_add(&cx, &list, notes).await?;
                Ok(NoteListView::from(notes))
            },
        ),
        get(
            "/notes",
            Operation::NoteList,
            "Lists notes, the latest first",
            |server, cx, request: NoteListRequest| async move {
                let (list, kind, page) = (request.list_ref()?, request.kind()?, request.page()?);
                let notes = server.app.note_list(&cx, &list, kind, page).await?;
                Ok(NoteListView::from(notes))
            },
        ),
        change(
            Method::POST,
            "/iterations",
            Operation::IterationSummary,
            "Records what an iteration came to",
            |server, cx, request: IterationSummaryRequest| async move {
                let (list, summary) = (request.list_ref()?, request.summary()?);
                let iteration = server.app.iteration_summary(&cx, &list, &summary).await?;
                Ok(IterationView::from(&iteration))
            },
        ),
    ]
}
