//! Tasks, which are turns here.

use schemars::JsonSchema;
use serde::Deserialize;
use wh_app::{AppError, Resource, Result};
use wh_domain::{Advice, ArgumentValue, Denied, Operation, Reference};

use super::{
    default_limit, naming, optional, skipping,
    views::{Listed, TaskSummary, TaskView},
};
use crate::dialect::tool::{Call, DialectTool, Reply, reference};

pub(super) fn tools() -> Vec<DialectTool> {
    use Operation as Op;
    vec![
        DialectTool::new(
            "agor_tasks_list",
            Op::TurnList,
            "List tasks (user prompts) in a session, latest first",
            tasks_list,
        ),
        DialectTool::new("agor_tasks_find", Op::TurnList, "List tasks", tasks_list).alias(),
        DialectTool::new(
            "agor_tasks_get",
            Op::TurnGet,
            "Get detailed information about a specific task",
            tasks_get,
        ),
    ]
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct TasksList {
    /// Session ID to get tasks from; the current session unless given
    #[serde(default)]
    session_id: Option<String>,
    /// Maximum number of results
    #[serde(default = "default_limit")]
    limit: u32,
    /// Number of results to skip
    #[serde(default)]
    skip: u32,
}

async fn tasks_list(call: Call, request: TasksList) -> Result<Reply<Listed<TaskSummary>>> {
    let named = request.session_id.as_deref();
    let own = call.cx.principal.credential.session().map(Reference::from);
    let session = optional("sessionId", named)?.or(own);
    let session = session.or(call.session_of_address()?);
    let session = session.ok_or_else(|| {
        let name = Advice::set("sessionId", ArgumentValue::ID, "name the session");
        AppError::from(Denied::NoSession).with_advice(vec![name])
    })?;
    let page = skipping(request.skip, request.limit);
    let turns = call.app.turn_list(&call.cx, &session, page.clone()).await;
    let turns = turns.map_err(naming([(Resource::Session, "Session", "sessionId", named)]))?;
    let data = turns.items.iter().map(TaskSummary::from).collect();
    Ok(Listed::new(&page, turns.total, data).into())
}

#[derive(Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct TasksGet {
    /// Task ID (UUIDv7 or short ID)
    task_id: String,
}

async fn tasks_get(call: Call, request: TasksGet) -> Result<Reply<TaskView>> {
    let task = reference("taskId", &request.task_id)?;
    let turn = call.app.turn_get(&call.cx, None, &task).await;
    let turn = turn.map_err(naming([(
        Resource::Turn,
        "Task",
        "taskId",
        Some(&*request.task_id),
    )]))?;
    Ok(TaskView::from(turn).into())
}
