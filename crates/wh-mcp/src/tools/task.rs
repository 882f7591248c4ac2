//! Tools about lists of tasks, their notes and iterations.

use std::sync::Arc;

use wh_api::{
    IterationSummaryRequest, IterationView, LoopCompleteRequest, LoopCompletedView, NoteAddRequest,
    NoteListRequest, NoteListView, TaskAddRequest, TaskAddedView, TaskListRequest, TaskListView,
    TaskNextRequest, TaskNextView, TaskUpdateRequest, TaskView,
};
use wh_app::{App, OpContext, Result};
use wh_domain::Operation;

use super::Tool;
use crate::toolset::Toolset;

pub(super) fn tools() -> Vec<Tool> {
    vec![
        Tool::new(
            Toolset::Task,
            Operation::TaskAdd,
            "Adds tasks to the list that all sessions of a tree share, to a board's list, or to one of your own. Returns their numbers.",
            task_add,
        )
        .for_workers(),
        Tool::new(
            Toolset::Task,
            Operation::TaskUpdate,
            "Changes a task: status, priority, content, what it depends on. Only what is given changes; a circle of dependencies is refused.",
            task_update,
        )
        .for_workers(),
        Tool::new(
            Toolset::Task,
            Operation::TaskList,
            "Lists tasks by status, the most urgent first.",
            task_list,
        )
        .for_workers(),
        Tool::new(
            Toolset::Task,
            Operation::TaskNext,
            "Returns the most urgent task whose dependencies are done. With claim it is yours alone until you update it or your process ends.",
            task_next,
        )
        .for_workers(),
        Tool::new(
            Toolset::Task,
            Operation::NoteAdd,
            "Notes what later iterations should know: a learning, a tip, a decision, or where you are stuck.",
            note_add,
        )
        .for_workers(),
        Tool::new(
            Toolset::Task,
            Operation::NoteList,
            "Lists notes, the latest first.",
            note_list,
        )
        .for_workers(),
        Tool::new(
            Toolset::Task,
            Operation::IterationSummary,
            "Records what this iteration came to. Calling it again replaces what you said before.",
            iteration_summary,
        )
        .for_workers(),
        Tool::new(
            Toolset::Task,
            Operation::LoopComplete,
            "Says that all work of the list is done. Refused while tasks are open, naming them.",
            loop_complete,
        )
        .for_workers(),
    ]
}

async fn task_add(app: Arc<App>, cx: OpContext, request: TaskAddRequest) -> Result<TaskAddedView> {
    let (list, tasks) = (request.list_ref()?, request.tasks()?);
    let (list, tasks) = app.task_add(&cx, &list, tasks).await?;
    Ok(TaskAddedView::new(&list, &tasks))
}

async fn task_update(app: Arc<App>, cx: OpContext, request: TaskUpdateRequest) -> Result<TaskView> {
    let (list, task) = (request.list_ref()?, request.task()?);
    let task = app.task_update(&cx, &list, &task, request.patch()?).await?;
    Ok(TaskView::from(&task))
}

async fn task_list(app: Arc<App>, cx: OpContext, request: TaskListRequest) -> Result<TaskListView> {
    let (list, status) = (request.list_ref()?, request.status()?);
    let overview = app.task_list(&cx, &list, status, request.page()?).await?;
    Ok(TaskListView::from(&overview))
}

async fn task_next(app: Arc<App>, cx: OpContext, request: TaskNextRequest) -> Result<TaskNextView> {
    let (list, lease) = (request.list_ref()?, request.lease()?);
    let claim = request.claim.unwrap_or(false);
    let next = app.task_next(&cx, &list, claim, lease).await?;
    Ok(TaskNextView::from(&next))
}

async fn note_add(app: Arc<App>, cx: OpContext, request: NoteAddRequest) -> Result<NoteListView> {
    let (list, notes) = (request.list_ref()?, request.notes()?);
    let notes = app.note_add(&cx, &list, notes).await?;
    Ok(NoteListView::from(notes))
}

async fn note_list(app: Arc<App>, cx: OpContext, request: NoteListRequest) -> Result<NoteListView> {
    let (list, kind) = (request.list_ref()?, request.kind()?);
    let notes = app.note_list(&cx, &list, kind, request.page()?).await?;
    Ok(NoteListView::from(notes))
}

async fn iteration_summary(
    app: Arc<App>,
    cx: OpContext,
    request: IterationSummaryRequest,
) -> Result<IterationView> {
    let (list, summary) = (request.list_ref()?, request.summary()?);
    let iteration = app.iteration_summary(&cx, &list, &summary).await?;
    Ok(IterationView::from(&iteration))
}

async fn loop_complete(
    app: Arc<App>,
    cx: OpContext,
    request: LoopCompleteRequest,
) -> Result<LoopCompletedView> {
    let list = app.loop_complete(&cx, &request.list_ref()?).await?;
    Ok(LoopCompletedView::from(&list))
}
