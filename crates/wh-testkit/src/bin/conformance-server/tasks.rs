//! Tools that run as MCP tasks.

use std::time::Duration;

use rmcp::{
    ErrorData, RoleServer,
    model::{
        CallToolRequestParams, CallToolResponse, CallToolResult, ClientCapabilities, ContentBlock,
        CreateTaskResult, Tool,
    },
    service::RequestContext,
    task_manager::{TaskExit, TaskOptions},
};
use serde_json::{Value, json};

use crate::{
    handler::Fixtures,
    input_required::{ask_name, asking, content, elicit, response},
    tools::{string_argument, text, tool},
};

/// Tools that have no answer but a task, so that a client without tasks is refused.
const TASK_ONLY: &[&str] = &[
    "confirm_delete",
    "failing_job",
    "multi_input",
    "test_tool_with_task",
];

pub(crate) fn list() -> Vec<Tool> {
    let object = |properties: Value| json!({"type": "object", "properties": properties});
    let label = object(json!({"seconds": {"type": "number"}, "label": {"type": "string"}}));
    vec![
        tool(
            "greet",
            "Greets at once; never a task.",
            object(json!({"name": {"type": "string"}})),
        ),
        tool("slow_compute", "Takes some seconds.", label),
        tool("failing_job", "Fails as a tool does.", object(json!({}))),
        tool(
            "protocol_error_job",
            "Fails as a request does.",
            object(json!({})),
        ),
        tool(
            "confirm_delete",
            "Asks before it deletes.",
            object(json!({"filename": {"type": "string"}})),
        ),
        tool("multi_input", "Asks two things at once.", object(json!({}))),
        tool(
            "test_tool_with_task",
            "Asks for a name, then becomes a task.",
            object(json!({})),
        ),
    ]
}

/// Runs the tool if it is one of these: as a task for a client that declared tasks, at once for others.
pub(crate) async fn call(
    fixtures: &Fixtures,
    call: &CallToolRequestParams,
    context: &RequestContext<RoleServer>,
) -> Option<Result<CallToolResponse, ErrorData>> {
    let has_tasks = context
        .client_capabilities()
        .is_some_and(|declared| declared.supports_tasks());
    let name = call.name.as_ref();
    if TASK_ONLY.contains(&name) && !has_tasks {
        return Some(Err(ErrorData::missing_required_client_capability(
            ClientCapabilities::builder().enable_tasks().build(),
        )));
    }
    Some(Ok(match name {
        "greet" => {
            let name = string_argument(call, "name").unwrap_or_else(|| "friend".into());
            text(format!("Hello, {name}!")).into()
        }
        "slow_compute" if has_tasks => slow_task(fixtures, call),
        "slow_compute" => {
            tokio::time::sleep(duration(call)).await;
            text("Computed.").into()
        }
        "failing_job" => spawn(fixtures, async {
            tokio::time::sleep(Duration::from_secs(1)).await;
            Ok(CallToolResult::error(vec![ContentBlock::text(
                "This job always fails.",
            )]))
        }),
        "protocol_error_job" if has_tasks => spawn(fixtures, async {
            tokio::time::sleep(Duration::from_millis(200)).await;
            Err(TaskExit::Error(broken()))
        }),
        "protocol_error_job" => return Some(Err(broken())),
        "confirm_delete" => confirm_task(fixtures, call),
        "multi_input" => two_inputs_task(fixtures),
        "test_tool_with_task" => match response(call.input_responses.as_ref(), "user_name") {
            None => asking([("user_name", ask_name())]),
            Some(given) => {
                let name = content(given, "name");
                spawn(fixtures, async move {
                    tokio::time::sleep(Duration::from_millis(200)).await;
                    Ok(text(format!("Hello, {name}, from a task!")))
                })
            }
        },
        _ => return None,
    }))
}

fn broken() -> ErrorData {
    ErrorData::internal_error("this job always breaks", None)
}

fn duration(call: &CallToolRequestParams) -> Duration {
    let seconds = call
        .arguments
        .as_ref()
        .and_then(|arguments| arguments.get("seconds")?.as_f64());
    Duration::try_from_secs_f64(seconds.unwrap_or(1.0)).unwrap_or_default()
}

/// Runs work that needs nothing from its task.
fn spawn(
    fixtures: &Fixtures,
    work: impl Future<Output = Result<CallToolResult, TaskExit>> + Send + 'static,
) -> CallToolResponse {
    let task = fixtures
        .tasks
        .spawn(TaskOptions::default(), |_| Box::pin(work));
    CreateTaskResult::new(task).into()
}

fn slow_task(fixtures: &Fixtures, call: &CallToolRequestParams) -> CallToolResponse {
    let duration = duration(call);
    let task = fixtures.tasks.spawn(TaskOptions::default(), move |task| {
        Box::pin(async move {
            tokio::select! {
                () = task.cancelled() => Err(TaskExit::Cancelled),
                () = tokio::time::sleep(duration) => Ok(text("Computed.")),
            }
        })
    });
    CreateTaskResult::new(task).into()
}

fn confirm_task(fixtures: &Fixtures, call: &CallToolRequestParams) -> CallToolResponse {
    let file = string_argument(call, "filename").unwrap_or_else(|| "file".into());
    let task = fixtures.tasks.spawn(TaskOptions::default(), move |task| {
        Box::pin(async move {
            let question = elicit(&format!("Delete {file}?"), "confirm", "boolean");
            let given = task.request_input("confirm", question).await?;
            Ok(text(format!("Confirmed: {}", content(&given, "confirm"))))
        })
    });
    CreateTaskResult::new(task).into()
}

fn two_inputs_task(fixtures: &Fixtures) -> CallToolResponse {
    let task = fixtures.tasks.spawn(TaskOptions::default(), |task| {
        Box::pin(async move {
            let first = task.request_input("first", elicit("The first?", "value", "string"));
            let second = task.request_input("second", elicit("The second?", "value", "string"));
            let (first, second) = tokio::try_join!(first, second)?;
            let values = [content(&first, "value"), content(&second, "value")];
            Ok(text(values.join(" and ")))
        })
    });
    CreateTaskResult::new(task).into()
}
